/* script.h: the loops of csrc, with a clock that goes as a test says. Include it first. */
#ifndef SCRIPT_H
#define SCRIPT_H
#define TM_CLOCK_H /* what follows stands in the place of clock.h */
#define _GNU_SOURCE

#include <stdint.h>

#include "check.h"

/* What the sampler's thread sees of the machine. */
struct script {
	uint64_t now;                     /* what the last read gave */
	uint64_t reads;                   /* so many there were */
	uint64_t (*gap)(uint64_t read);   /* the distance of each from the one before; may act as the reader */
	int cpu;
};

static _Thread_local struct script script;

static inline uint64_t tm_clock(void)
{
	script.now += script.gap(script.reads++);
	return script.now;
}

static inline int tm_cpu(void)
{
	return script.cpu;
}

#include "loop.c"
#include "spin.c"

#define CPU 3
#define HZ 2500000000ull /* of the scripted counter */

static struct tm_region *region;
static struct tm_taker taker;
static struct tm_ring_reader reader;

/* A fresh region, and a clock that begins to follow gap. */
static void begin(uint64_t (*gap)(uint64_t read), const struct tm_settings *settings)
{
	free(region);
	region = aligned_alloc(_Alignof(struct tm_region), sizeof(struct tm_region));
	CHECK(region != NULL);
	memset(region, 0, sizeof(*region));
	region->orders.settings = *settings;
	region->news.threshold_cycles = settings->threshold_cycles;
	taker = (struct tm_taker){ .region = region };
	reader = tm_ring_reader_of(&region->ring);
	script = (struct script){ .now = HZ, .gap = gap, .cpu = CPU };
}

/* As the reader does it. */
static inline void stop(void)
{
	atomic_store_explicit(&region->wishes.stop, 1, memory_order_relaxed);
}

static inline uint64_t sum_of(const uint64_t counts[TM_BINS])
{
	uint64_t sum = 0;

	for (int i = 0; i < TM_BINS; i++)
		sum += counts[i];
	return sum;
}

#endif
