/* inject.c: tickmon-injector, which disturbs one CPU in a known way, so that a sampler there can be tested.
 *
 * It says on standard output whether it could begin (an int32_t: 0 or an errno), reads on standard input, to
 * its end, when to wake and for how long to spin, does that, and then writes when it ran. In between it
 * writes nothing: what it does besides spinning would be a disturbance that nobody knows of.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

#define MAX_CPU (1 << 20)
#define MAX_PLANNED (1 << 16)
#define GRACE_S 5 /* so long after its time it is ended by the kernel, wherever it is */

/* What it is told, as it lies on standard input. */
struct planned {
	uint64_t sleep_ns;    /* before it */
	uint64_t spin_cycles; /* of its own running time */
};

/* What it did, as it lies on standard output. */
struct injected {
	uint64_t spin_cycles;
	uint64_t first_cycles; /* the first counter read */
	uint64_t last_cycles;  /* the last one */
	uint64_t lost_cycles;  /* between them, in which it did not run itself */
	uint64_t switches;     /* how often the kernel gave its CPU to another task meanwhile */
};

static int pin(int cpu)
{
	size_t size = CPU_ALLOC_SIZE((size_t)cpu + 1);
	cpu_set_t *set = CPU_ALLOC((size_t)cpu + 1);
	int error;

	if (set == NULL)
		return ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S((size_t)cpu, size, set);
	error = sched_setaffinity(0, size, set) == 0 ? 0 : errno;
	CPU_FREE(set);
	return error;
}

/* Whatever becomes of its parent, or of its plan: it ends. */
static int bind_life(pid_t parent, unsigned limit_s)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		return errno;
	if (getppid() != parent)
		return ESRCH;
	alarm(limit_s + GRACE_S);
	return 0;
}

static int make_ready(int cpu, int priority)
{
	const struct sched_param param = { .sched_priority = priority };
	int error = pin(cpu);

	if (error == 0 && priority != 0 && sched_setscheduler(0, SCHED_FIFO, &param) != 0)
		error = errno;
	return error;
}

static int write_all(const void *from, size_t size)
{
	const char *at = from;

	while (size != 0) {
		ssize_t written = write(STDOUT_FILENO, at, size);

		if (written < 0 && errno != EINTR)
			return errno;
		if (written > 0) {
			at += written;
			size -= (size_t)written;
		}
	}
	return 0;
}

/* Returns how many bytes came before the end. */
static size_t read_all(void *into, size_t room)
{
	size_t got = 0;

	while (got < room) {
		ssize_t more = read(STDIN_FILENO, (char *)into + got, room - got);

		if (more == 0 || (more < 0 && errno != EINTR))
			break;
		got += more > 0 ? (size_t)more : 0;
	}
	return got;
}

static uint64_t count_switches(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nivcsw : 0;
}

static void inject(uint64_t spin_cycles, uint64_t threshold_cycles, struct injected *result)
{
	uint64_t switches = count_switches(), lost = 0;
	uint64_t first = tm_clock(), last = first;

	while (last - first - lost < spin_cycles) {
		uint64_t now = tm_clock();

		if (now - last > threshold_cycles)
			lost += now - last;
		last = now;
	}
	*result = (struct injected){
		.spin_cycles = spin_cycles,
		.first_cycles = first,
		.last_cycles = last,
		.lost_cycles = lost,
		.switches = count_switches() - switches,
	};
}

/* Returns how many of the plan were done when its time was over. */
static size_t run(const struct planned *plan, size_t count, uint64_t threshold_cycles, unsigned limit_s,
		  struct injected *results)
{
	struct timespec start, now;
	size_t done = 0;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (now = start; done < count && now.tv_sec - start.tv_sec < (time_t)limit_s; done++) {
		const struct timespec sleep = {
			.tv_sec = (time_t)(plan[done].sleep_ns / 1000000000),
			.tv_nsec = (long)(plan[done].sleep_ns % 1000000000),
		};

		nanosleep(&sleep, NULL);
		inject(plan[done].spin_cycles, threshold_cycles, &results[done]);
		clock_gettime(CLOCK_MONOTONIC, &now);
	}
	return done;
}

int main(int count, char **arguments)
{
	const size_t plan_size = MAX_PLANNED * sizeof(struct planned);
	const size_t results_size = MAX_PLANNED * sizeof(struct injected);
	struct planned *plan;
	struct injected *results;
	uint64_t threshold_cycles;
	unsigned limit_s;
	int32_t error;
	size_t done;
	int cpu;

	if (count != 6)
		return EXIT_FAILURE;
	cpu = atoi(arguments[1]);
	threshold_cycles = strtoull(arguments[3], NULL, 10);
	limit_s = (unsigned)strtoul(arguments[4], NULL, 10);
	if (cpu < 0 || cpu > MAX_CPU || threshold_cycles == 0 || limit_s == 0)
		return EXIT_FAILURE;

	error = bind_life((pid_t)atoi(arguments[5]), limit_s);
	if (error == 0)
		error = make_ready(cpu, atoi(arguments[2]));
	if (write_all(&error, sizeof(error)) != 0 || error != 0)
		return EXIT_FAILURE;

	plan = malloc(plan_size);
	results = malloc(results_size);
	if (plan == NULL || results == NULL)
		return EXIT_FAILURE;
	done = read_all(plan, plan_size) / sizeof(struct planned);
	/* No page is touched for the first time while it is timed. A refusal only makes it less quiet. */
	memset(results, 0, done * sizeof(struct injected));
	(void)mlockall(MCL_CURRENT);
	done = run(plan, done, threshold_cycles, limit_s, results);
	error = write_all(results, done * sizeof(struct injected));
	free(plan);
	free(results);
	return error == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
