/* spin.c: reads the counter without pause; whatever keeps the next read away for longer than the
 * threshold is an interruption.
 */
#define _GNU_SOURCE

#include "spin.h"

#include "bank.h"

/* Reads between two marks. The mark's few loads and stores then cost less than can be measured, and a
 * wish of the reader waits some microseconds. */
#define READS_A_MARK 512

/* About a millisecond, where a read takes 30 ns. */
#define CALIBRATION_READS 32768

/* The smallest gap that at least half of the n do not exceed. */
static uint64_t median_gap(const struct tm_interruption *gap, size_t n)
{
	uint64_t low = 0, high = UINT64_MAX;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		size_t within = 0;

		for (size_t i = 0; i < n; i++)
			within += gap[i].gap_cycles <= middle;
		if (within >= n - n / 2)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static uint64_t largest_of(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t larger = a > b ? a : b;

	return larger > c ? larger : c;
}

int tm_calibrate(struct tm_region *region)
{
	const struct tm_settings *settings = &region->orders.settings;
	/* Nobody looks at a slot before something was pushed into it, so the ring serves as scratch. */
	struct tm_interruption *gap = region->ring.slot;
	uint64_t step = UINT64_MAX, typical;
	uint64_t before = tm_clock();

	for (size_t i = 0; i < CALIBRATION_READS; i++) {
		uint64_t now = tm_clock();

		gap[i] = (struct tm_interruption){ before, now - before };
		before = now;
	}
	for (size_t i = 0; i < CALIBRATION_READS; i++)
		if (gap[i].gap_cycles != 0 && gap[i].gap_cycles < step)
			step = gap[i].gap_cycles;
	if (step == UINT64_MAX)
		return -EIO;

	typical = median_gap(gap, CALIBRATION_READS);
	region->news.typical_cycles = typical;
	region->news.step_cycles = step;
	if (settings->method == TM_GAP)
		region->news.threshold_cycles =
			settings->threshold_cycles != 0 ?
				settings->threshold_cycles :
				largest_of(settings->threshold_floor_cycles, 4 * typical, 3 * step);
	return 0;
}

/* A gap above the limit: what was it? Kept out of line, so that its registers stay out of the loop. */
static __attribute__((noinline)) enum tm_end disturbed(struct tm_booker *booker, uint64_t start, uint64_t gap)
{
	bool backwards = (int64_t)gap < 0;
	int cpu = tm_cpu();

	if (backwards)
		tm_exclude(booker, TM_BACKWARDS, start, -gap, cpu);
	if (cpu != booker->region->orders.settings.cpu) {
		/* Two CPUs' counters say nothing of the time between them when one is behind. */
		tm_exclude(booker, TM_MOVED, start, backwards ? 0 : gap, cpu);
		return TM_END_MOVED;
	}
	if (backwards && -gap > booker->region->news.threshold_cycles)
		return TM_END_JUMPED;
	if (!backwards)
		tm_book(booker, start, gap);
	tm_forgive(booker, gap);
	return TM_END_NONE;
}

enum tm_end tm_spin(struct tm_region *region)
{
	const uint64_t threshold = region->news.threshold_cycles;
	/* The read after an interruption also holds the time of booking it, which is below the floor. A
	 * threshold below that would make each booking an interruption, and so on without end. */
	const uint64_t limit_after = largest_of(threshold, region->orders.settings.threshold_floor_cycles, 0);
	uint64_t limit = threshold;
	uint64_t before = tm_clock();
	struct tm_booker booker = tm_open(region, before);
	struct tm_tally tally = TM_NO_READS;
	enum tm_end end = TM_END_NONE;

	while (end == TM_END_NONE) {
		uint64_t min = tally.min_cycles, max = tally.max_cycles;
		uint32_t done = 0;

		do {
			uint64_t start = before;
			uint64_t gap;

			before = tm_clock();
			gap = before - start;
			done++;
			if (gap < min)
				min = gap;
			/* A counter that went back shows as a gap beyond all limits. */
			if (__builtin_expect(gap > limit, 0)) {
				end = disturbed(&booker, start, gap);
				if (end == TM_END_JUMPED) {
					/* This read belongs to no window. */
					before = start;
					done--;
				}
				if (end != TM_END_NONE)
					break;
				limit = limit_after;
			} else {
				if (gap > max)
					max = gap;
				limit = threshold;
			}
		} while (done != READS_A_MARK);

		tally.reads += done;
		tally.min_cycles = min;
		tally.max_cycles = max;
		if (end == TM_END_NONE)
			end = tm_mark(&booker, before, &tally);
	}
	tm_close(booker.window, before, &tally);
	tm_finish(region, end);
	return end;
}
