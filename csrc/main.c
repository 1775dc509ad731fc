/* main.c: tickmon-sampler, the small process that does nothing but watch one CPU.
 *
 * The library starts it with the shared memory on descriptor 3. It has an address space of its own: whoever
 * shares one with the sampler interrupts it at every munmap.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bank.h"
#include "spin.h"

#define MAX_CPU (1 << 20) /* far above what any kernel has: no mask needs more memory than for that */
#define PAGE 4096         /* the smallest that there is */

/* NULL when descriptor 3 is not the memory that the library of this version hands over. */
static struct tm_region *map_region(void)
{
	const int sealed = F_SEAL_SHRINK | F_SEAL_GROW;
	struct tm_region *region;
	struct stat file;
	int seals;

	if (fstat(TM_REGION_FD, &file) != 0 || file.st_size != (off_t)sizeof(struct tm_region))
		return NULL;
	seals = fcntl(TM_REGION_FD, F_GET_SEALS);
	if (seals < 0 || (seals & sealed) != sealed)
		return NULL;
	region = mmap(NULL, sizeof(struct tm_region), PROT_READ | PROT_WRITE, MAP_SHARED, TM_REGION_FD, 0);
	if (region == MAP_FAILED || region->orders.magic != TM_MAGIC)
		return NULL;
	return region;
}

/* Whoever waits for the end of a pipe must not wait for the sampler. */
static void close_the_rest(void)
{
#ifdef SYS_close_range
	if (syscall(SYS_close_range, (unsigned)TM_REGION_FD, ~0u, 0u) == 0)
		return;
#endif
	for (int fd = TM_REGION_FD; fd < sysconf(_SC_OPEN_MAX); fd++)
		close(fd);
}

static int pin(int cpu)
{
	cpu_set_t *set;
	size_t size;
	int error = 0;

	if (cpu > MAX_CPU)
		return EINVAL;
	set = CPU_ALLOC((size_t)cpu + 1);
	if (set == NULL)
		return ENOMEM;
	size = CPU_ALLOC_SIZE((size_t)cpu + 1);
	CPU_ZERO_S(size, set);
	CPU_SET_S((size_t)cpu, size, set);
	if (sched_setaffinity(0, size, set) != 0)
		error = errno;
	CPU_FREE(set);
	return error;
}

/* Touches every page that the loops use, from the CPU that is sampled: no fault comes later, and the
 * memory is near. */
static void touch_pages(struct tm_region *region)
{
	extern const char __executable_start[], etext[]; /* the linker's */
	volatile char stack[32768];

	memset(region->bank, 0, sizeof(region->bank));
	memset(&region->ring, 0, sizeof(region->ring));
	for (size_t i = 0; i < sizeof(stack); i += PAGE)
		stack[i] = 0;
	for (const volatile char *text = __executable_start; text < etext; text += PAGE)
		(void)*text;
	(void)tm_cpu();
}

static void run(struct tm_region *region)
{
	const struct tm_settings *settings = &region->orders.settings;
	const struct sched_param priority = { .sched_priority = settings->priority };
	int error;

	/* The parent may be gone already, or have gone before the death signal was set. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != region->orders.parent) {
		tm_finish(region, TM_END_ORPHAN);
		return;
	}

	error = pin(settings->cpu);
	if (error != 0) {
		tm_fail(region, TM_STAGE_PIN, error);
		return;
	}
	if (settings->priority != 0 && sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
		tm_fail(region, TM_STAGE_PRIORITY, errno);
		return;
	}

	/* What the kernel does to large or distant memory comes as page faults and interrupts. A kernel
	 * that refuses any of this only makes the sampler less quiet. */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	syscall(SYS_set_mempolicy, MPOL_LOCAL, NULL, 0ul);
	touch_pages(region);
	region->news.locked = mlockall(MCL_CURRENT) == 0;

	error = -tm_calibrate(region);
	if (error != 0) {
		tm_fail(region, TM_STAGE_COUNTER, error);
		return;
	}
	if (settings->method == TM_LOOP)
		tm_loop(region);
	else
		tm_spin(region);
}

int main(void)
{
	struct tm_region *region = map_region();

	if (region == NULL)
		return EXIT_FAILURE;
	close_the_rest();
	run(region);
	return EXIT_SUCCESS;
}
