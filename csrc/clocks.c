/* clocks.c: the kernel's clocks and the counter at one moment, its stated frequency, and the bins. */
#define _GNU_SOURCE

#include <errno.h>
#include <time.h>

#include "api.h"
#include "bins.h"
#include "clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define TRIES 16
#define READS 6

/* There and back again: each clock is read once before and once after the middle. */
static const clockid_t order[READS] = {
	CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME,
	CLOCK_REALTIME,  CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC,
};

struct try {
	uint64_t cycles[READS + 1]; /* before, between and after the clocks */
	int64_t ns[READS];
};

static int read_once(struct try *result)
{
	for (int i = 0; i < READS; i++) {
		struct timespec time;

		result->cycles[i] = tm_clock();
		if (clock_gettime(order[i], &time) != 0)
			return -errno;
		result->ns[i] = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
	}
	result->cycles[READS] = tm_clock();
	return 0;
}

static uint64_t length(const struct try *try)
{
	return try->cycles[READS] - try->cycles[0];
}

/* When the i-th clock was read, by the counter. */
static uint64_t when(const struct try *try, int i)
{
	return try->cycles[i] + (try->cycles[i + 1] - try->cycles[i]) / 2;
}

/* The i-th clock at the middle of the try, on the straight line between its two readings. */
static int64_t at_middle(const struct try *try, int i)
{
	uint64_t first = when(try, i), second = when(try, READS - 1 - i);
	int64_t passed_ns = try->ns[READS - 1 - i] - try->ns[i];
	double share = 0.5;

	if (second != first)
		share = (double)(try->cycles[0] + length(try) / 2 - first) / (double)(second - first);
	return try->ns[i] + (int64_t)((double)passed_ns * share);
}

int tm_read_clocks(struct tm_clocks *result)
{
	struct try try, best = { 0 };
	uint64_t widest = 0;

	for (int i = 0; i < TRIES; i++) {
		int error = read_once(&try);

		if (error != 0)
			return error;
		if (i == 0 || length(&try) < length(&best))
			best = try;
	}
	for (int i = 0; i < READS; i++)
		if (best.cycles[i + 1] - best.cycles[i] > widest)
			widest = best.cycles[i + 1] - best.cycles[i];

	*result = (struct tm_clocks){
		.cycles = best.cycles[0] + length(&best) / 2,
		.uncertain_cycles = widest / 2 + 1,
		.monotonic_ns = at_middle(&best, 0),
		.monotonic_raw_ns = at_middle(&best, 1),
		.realtime_ns = at_middle(&best, 2),
	};
	return 0;
}

int tm_counter_hz(double *result)
{
#if defined(__x86_64__)
	unsigned denominator, numerator, crystal_hz, unused;

	/* Intel's manual, volume 2A, CPUID leaf 15h: a zero means that it is not stated. */
	if (__get_cpuid(0x15, &denominator, &numerator, &crystal_hz, &unused) == 0 || denominator == 0 ||
	    numerator == 0 || crystal_hz == 0)
		return -ENOTSUP;
	*result = (double)crystal_hz * numerator / denominator;
#elif defined(__aarch64__)
	uint64_t hz;

	/* What the firmware wrote there; 0 when it forgot. */
	__asm__("mrs %0, cntfrq_el0" : "=r"(hz));
	if (hz == 0)
		return -ENOTSUP;
	*result = (double)hz;
#endif
	return 0;
}

int tm_bin(uint64_t cycles)
{
	return (int)tm_bin_of(cycles);
}
