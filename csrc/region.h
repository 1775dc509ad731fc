/* region.h: the memory that the sampler's process and the library share.
 *
 * Each part has one writer at a time, and parts with different writers share no cache line, nor the
 * pair of lines that some CPUs fetch together.
 */
#ifndef TM_REGION_H
#define TM_REGION_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#include "api.h"

#define TM_REGION_FD 3 /* where the sampler finds it */
#define TM_MAGIC 0x316e6f6d6b636974ull /* "tickmon1": another layout gets another number */
#define TM_APART alignas(128)

/* Written by the library before the start, by nobody afterwards. */
struct tm_orders {
	uint64_t magic;
	int32_t parent; /* the pid of the library's process */
	struct tm_settings settings;
};

/* Written by the reader; the sampler looks at it when it marks. */
struct tm_wishes {
	_Atomic uint64_t windows; /* how many windows shall have ended */
	_Atomic uint64_t beats;   /* counts on while the reader lives: the lease */
	_Atomic uint32_t stop;
};

/* Written by the sampler when its state changes. */
struct tm_news {
	_Atomic int32_t state; /* enum tm_state: what follows is whole once it says so */
	int32_t locked;        /* from here on whole when running … */
	uint64_t start_cycles;
	uint64_t threshold_cycles;
	uint64_t typical_cycles;
	uint64_t step_cycles;
	int32_t end; /* … from here on whole when ended */
	int32_t stage;
	int32_t error;
};

/* Written by the sampler every some hundred reads. */
struct tm_marks {
	_Atomic uint64_t cycles;  /* everything that began before this read is visible */
	_Atomic uint64_t windows; /* how many windows have ended */
};

/* Interruptions on their way to the reader: see ring.h. The indices count on for ever. */
struct tm_ring {
	TM_APART _Atomic uint64_t head; /* written by the sampler: so many were pushed */
	TM_APART _Atomic uint64_t tail; /* written by the reader: so many were taken */
	TM_APART struct tm_interruption slot[TM_RING_SLOTS];
};

/* A window in the making, or one that has ended: see bank.h for whose it is. */
struct tm_bank {
	TM_APART struct tm_window window;
};

struct tm_region {
	TM_APART struct tm_orders orders;
	TM_APART struct tm_wishes wishes;
	TM_APART struct tm_news news;
	TM_APART struct tm_marks marks;
	TM_APART struct tm_bank bank[2];
	struct tm_ring ring;
};

#endif
