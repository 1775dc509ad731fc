/* live_test.c: the real executable, started by the library, until it exits: for sanitizers, which report by
 * the exit code.
 */
#include "sampler.c"

#include "check.h"

static struct tm_window window;
static struct tm_interruption detail[TM_RING_SLOTS];
static struct tm_switch switched[1000];

static int last_usable_cpu(void)
{
	cpu_set_t set;
	int cpu = CPU_SETSIZE - 1;

	CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
	while (!CPU_ISSET((size_t)cpu, &set))
		cpu--;
	return cpu;
}

static void await_state(struct tm_sampler *sampler, int32_t state)
{
	const struct timespec step = { .tv_nsec = 1000000 };
	struct tm_status status;

	CHECK(tm_status(sampler, &status) == 0);
	for (int tries = 0; status.state != state; tries++) {
		CHECK(status.state != TM_ENDED && tries < 20000);
		nanosleep(&step, NULL);
		CHECK(tm_status(sampler, &status) == 0);
	}
}

/* What is in the ring now. */
static uint64_t drain(struct tm_sampler *sampler)
{
	size_t taken;

	CHECK(tm_drain(sampler, detail, TM_RING_SLOTS, &taken) == 0);
	return taken;
}

static void run(const char *path, const struct tm_settings *settings)
{
	struct tm_sampler *sampler;
	uint64_t details = 0, interruptions = 0, lost, end_cycles = 0;
	size_t switches;
	int windows = 0;

	CHECK(tm_start(path, settings, &sampler) == 0);
	await_state(sampler, TM_RUNNING);
	if (tm_switches_open(sampler) == 0)
		CHECK(tm_switches(sampler, switched, 1000, &lost, &switches) == 0);
	CHECK(tm_cut(sampler) == 0);
	while (windows < 20) {
		int error = tm_take(sampler, &window);

		CHECK(error == 0 || error == -EAGAIN);
		if (error != 0)
			continue;
		CHECK(windows == 0 || window.start_cycles == end_cycles);
		end_cycles = window.end_cycles;
		interruptions += window.interruptions - window.lost;
		details += drain(sampler);
		windows++;
		CHECK(tm_cut(sampler) == 0);
	}
	atomic_store_explicit(&sampler->region->wishes.stop, 1, memory_order_relaxed);
	CHECK(await_end(sampler, 100000));
	CHECK(sampler->signal == 0 && sampler->exit_code == 0);
	while (tm_take(sampler, &window) == 0)
		interruptions += window.interruptions - window.lost;
	details += drain(sampler);
	CHECK(details == interruptions);
	CHECK(tm_stop(sampler) == 0);
}

/* Starts the executable on this file by hand; says what it exited with, and what it left in the region. */
static int exit_code_of(const char *path, int fd, const struct tm_orders *orders, struct tm_news *news)
{
	struct tm_region *region;
	int status;
	pid_t pid;

	region = mmap(NULL, sizeof(*region), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(region != MAP_FAILED);
	region->orders = *orders;
	CHECK(spawn(path, 0, fd, &pid) == 0);
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	*news = region->news;
	CHECK(munmap(region, sizeof(*region)) == 0 && close(fd) == 0);
	return WEXITSTATUS(status);
}

static void a_sampler_whose_parent_is_gone_does_not_begin(const char *path)
{
	/* Whoever adopts an orphan, it is not the process that started it. */
	const struct tm_orders orders = { .magic = TM_MAGIC, .parent = getppid() };
	struct tm_news news;

	CHECK(exit_code_of(path, make_file(), &orders, &news) == 0);
	CHECK(news.state == TM_ENDED && news.end == TM_END_ORPHAN);
}

static void a_region_of_another_version_is_left_alone(const char *path)
{
	const struct tm_orders orders = { .magic = TM_MAGIC + 1, .parent = getpid() };
	struct tm_news news;

	CHECK(exit_code_of(path, make_file(), &orders, &news) != 0);
	CHECK(news.state == TM_STARTING);
}

static void a_region_that_can_shrink_is_left_alone(const char *path)
{
	const struct tm_orders orders = { .magic = TM_MAGIC, .parent = getpid() };
	struct tm_news news;
	int fd = memfd_create("unsealed", MFD_CLOEXEC);

	CHECK(fd >= 0 && ftruncate(fd, sizeof(struct tm_region)) == 0);
	CHECK(exit_code_of(path, fd, &orders, &news) != 0);
	CHECK(news.state == TM_STARTING);
}

static void a_region_of_another_size_is_left_alone(const char *path)
{
	const struct tm_orders orders = { .magic = TM_MAGIC, .parent = getpid() };
	struct tm_news news;
	int fd = memfd_create("larger", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK(fd >= 0 && ftruncate(fd, sizeof(struct tm_region) + 1) == 0);
	CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
	CHECK(exit_code_of(path, fd, &orders, &news) != 0);
	CHECK(news.state == TM_STARTING);
}

int main(int count, char **arguments)
{
	struct tm_settings settings = {
		.cpu = last_usable_cpu(),
		.method = TM_GAP,
		.threshold_floor_cycles = 500,
		.lease_cycles = UINT64_MAX,
		.loop_size = 1000,
	};

	CHECK(count == 2);
	run(arguments[1], &settings);
	settings.method = TM_LOOP;
	run(arguments[1], &settings);

	a_sampler_whose_parent_is_gone_does_not_begin(arguments[1]);
	a_region_of_another_version_is_left_alone(arguments[1]);
	a_region_that_can_shrink_is_left_alone(arguments[1]);
	a_region_of_another_size_is_left_alone(arguments[1]);
	return 0;
}
