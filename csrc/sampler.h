/* sampler.h: what sampler.c and switches.c know of a sampler. */
#ifndef TM_SAMPLER_H
#define TM_SAMPLER_H

#include <sys/types.h>

#include "bank.h"

/* Where the kernel writes the context switches of the sampler's process. */
struct tm_switch_log {
	int fd; /* -1: not open */
	void *pages;
	int64_t out_raw_ns; /* of a switch whose end has not come yet; 0 when there is none */
	int64_t stopped;    /* of the same one */
};

struct tm_sampler {
	struct tm_region *region;
	struct tm_ring_reader ring;
	struct tm_taker taker;
	struct tm_switch_log switches;
	pid_t pid;
	bool gone;     /* the process has ended and was waited for */
	int signal;    /* that ended it; 0 when none did */
	int exit_code;
};

void tm_switches_close(struct tm_switch_log *log);

#endif
