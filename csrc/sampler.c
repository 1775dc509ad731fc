/* sampler.c: starts the sampler's process, reads what it publishes, and ends it. */
#define _GNU_SOURCE

#include "sampler.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u /* of Linux 6.3; some kernels insist on it, older ones refuse it */
#endif

#define WAIT_STEP_NS 200000
#define WAIT_STEPS_TOLD 500    /* 0.1 s to end by itself */
#define WAIT_STEPS_KILLED 10000 /* 2 s for the kernel to end it: its CPU may be held by others */

/* A file in memory that can't change its size under the sampler's feet, or -errno. */
static int make_file(void)
{
	int fd = memfd_create("tickmon", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
	int error;

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("tickmon", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, sizeof(struct tm_region)) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		return fd;
	error = errno;
	close(fd);
	return -error;
}

/* Starts the process: in a session of its own, no signal blocked or ignored, no environment, nothing open but
 * /dev/null and the region. */
static int spawn(const char *path, int cpu, int region_fd, pid_t *result)
{
	char on[32], whose[32];
	char *const arguments[] = { (char[]){ "tickmon-sampler" }, on, whose, NULL };
	char *const environment[] = { NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int error;

	/* For whoever looks with ps. */
	snprintf(on, sizeof(on), "cpu %d", cpu);
	snprintf(whose, sizeof(whose), "for pid %d", (int)getpid());
	sigemptyset(&none);
	sigfillset(&all);

	error = posix_spawnattr_init(&attributes);
	if (error != 0)
		return -error;
	error = posix_spawn_file_actions_init(&files);
	if (error != 0) {
		posix_spawnattr_destroy(&attributes);
		return -error;
	}
	error = posix_spawnattr_setflags(&attributes,
					 POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	if (error == 0)
		error = posix_spawnattr_setsigmask(&attributes, &none);
	if (error == 0)
		error = posix_spawnattr_setsigdefault(&attributes, &all);
	/* The region first: in a process without standard streams it may have one of their numbers. */
	if (error == 0)
		error = posix_spawn_file_actions_adddup2(&files, region_fd, TM_REGION_FD);
	for (int fd = 0; fd < TM_REGION_FD && error == 0; fd++)
		error = posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	if (error == 0)
		error = posix_spawn(result, path, &files, &attributes, arguments, environment);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return -error;
}

static bool is_sane(const struct tm_settings *settings)
{
	if (settings->cpu < 0 || settings->priority < 0 || settings->lease_cycles == 0)
		return false;
	return settings->method == TM_GAP || (settings->method == TM_LOOP && settings->loop_size != 0);
}

int tm_start(const char *path, const struct tm_settings *settings, struct tm_sampler **result)
{
	struct tm_sampler *sampler;
	struct tm_region *region;
	int fd, error;

	if (!is_sane(settings))
		return -EINVAL;
	fd = make_file();
	if (fd < 0)
		return fd;
	region = mmap(NULL, sizeof(struct tm_region), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (region == MAP_FAILED) {
		error = -errno;
		close(fd);
		return error;
	}
	region->orders = (struct tm_orders){ .magic = TM_MAGIC, .parent = getpid(), .settings = *settings };

	sampler = malloc(sizeof(*sampler));
	error = sampler == NULL ? -ENOMEM : 0;
	if (error == 0) {
		*sampler = (struct tm_sampler){
			.region = region,
			.ring = tm_ring_reader_of(&region->ring),
			.taker = { .region = region },
			.switches = { .fd = -1 },
		};
		error = spawn(path, settings->cpu, fd, &sampler->pid);
	}
	close(fd);
	if (error != 0) {
		free(sampler);
		munmap(region, sizeof(*region));
		return error;
	}
	*result = sampler;
	return 0;
}

/* Whether the process has ended; learns how. */
static bool is_gone(struct tm_sampler *sampler)
{
	int status;
	pid_t pid;

	if (sampler->gone)
		return true;
	pid = waitpid(sampler->pid, &status, WNOHANG);
	if (pid == 0)
		return false;
	/* An error means that it was waited for by somebody else, or by nobody where SIGCHLD is ignored. */
	sampler->gone = true;
	if (pid == sampler->pid && WIFSIGNALED(status))
		sampler->signal = WTERMSIG(status);
	else if (pid == sampler->pid && WIFEXITED(status))
		sampler->exit_code = WEXITSTATUS(status);
	return true;
}

int tm_status(struct tm_sampler *sampler, struct tm_status *result)
{
	struct tm_region *region = sampler->region;
	const struct tm_news *news = &region->news;
	/* Looked at first: what the process said last can't be missed then. */
	bool gone = is_gone(sampler);
	/* What it said before it changed its state must be visible here. */
	int32_t state = atomic_load_explicit(&news->state, memory_order_acquire);

	/* No order: that it changed is the whole message. */
	atomic_fetch_add_explicit(&region->wishes.beats, 1, memory_order_relaxed);

	*result = (struct tm_status){ .state = state, .pid = sampler->pid };
	if (state != TM_STARTING) {
		result->locked = news->locked;
		result->start_cycles = news->start_cycles;
		result->threshold_cycles = news->threshold_cycles;
		result->typical_cycles = news->typical_cycles;
		result->step_cycles = news->step_cycles;
		/* What was pushed before the mark must be visible to whoever saw it. */
		result->mark_cycles = atomic_load_explicit(&region->marks.cycles, memory_order_acquire);
	}
	if (state == TM_ENDED) {
		result->end = news->end;
		result->stage = news->stage;
		result->error = news->error;
	} else if (gone && sampler->signal != 0) {
		result->state = TM_ENDED;
		result->end = TM_END_KILLED;
		result->error = sampler->signal;
	} else if (gone) {
		/* It ended without a word: it had no memory to leave it in. */
		result->state = TM_ENDED;
		result->end = TM_END_FAILED;
		result->stage = TM_STAGE_REGION;
		result->error = sampler->exit_code;
	}
	return 0;
}

int tm_drain(struct tm_sampler *sampler, struct tm_interruption *into, size_t capacity, size_t *result)
{
	*result = tm_ring_pop(&sampler->ring, into, capacity);
	return 0;
}

int tm_cut(struct tm_sampler *sampler)
{
	return tm_wish(&sampler->taker);
}

int tm_take(struct tm_sampler *sampler, struct tm_window *result)
{
	/* Looked at first: a window that the process left behind can't be missed then. */
	bool gone = is_gone(sampler);
	int error = tm_take_window(&sampler->taker, result);

	return error == -EAGAIN && gone ? -ENODATA : error;
}

/* Waits for the process; says whether it is gone. */
static bool await_end(struct tm_sampler *sampler, int steps)
{
	const struct timespec step = { .tv_nsec = WAIT_STEP_NS };

	while (!is_gone(sampler)) {
		if (steps-- == 0)
			return false;
		nanosleep(&step, NULL);
	}
	return true;
}

int tm_stop(struct tm_sampler *sampler)
{
	int error = 0;

	/* No order: the word is the whole message. */
	atomic_store_explicit(&sampler->region->wishes.stop, 1, memory_order_relaxed);
	if (!await_end(sampler, WAIT_STEPS_TOLD)) {
		kill(sampler->pid, SIGKILL);
		if (!await_end(sampler, WAIT_STEPS_KILLED))
			error = -ETIMEDOUT;
	}
	tm_switches_close(&sampler->switches);
	munmap(sampler->region, sizeof(struct tm_region));
	free(sampler);
	return error;
}
