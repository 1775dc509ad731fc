/* report_path.c: where the sanitized sampler writes its report: its standard error is /dev/null, and it has
 * no environment. (gcc's undefined behaviour sanitizer does not look here: there the exit code must do.)
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "log_path=" REPORT_PATH;
}
