/* loop.c: the method of 2004: time the same empty loop again and again. The smallest sample is the loop
 * that nothing disturbed.
 */
#define _GNU_SOURCE

#include "bank.h"
#include "spin.h"

/* The empty loop, in a register. */
static inline void count_down(uint64_t iterations)
{
#if defined(__x86_64__)
	__asm__ volatile(".p2align 5\n"
			 "1:\tdec %0\n\t"
			 "jnz 1b"
			 : "+r"(iterations)
			 :
			 : "cc");
#elif defined(__aarch64__)
	__asm__ volatile(".p2align 5\n"
			 "1:\tsubs %0, %0, #1\n\t"
			 "b.ne 1b"
			 : "+r"(iterations)
			 :
			 : "cc");
#endif
}

enum tm_end tm_loop(struct tm_region *region)
{
	const struct tm_settings *settings = &region->orders.settings;
	uint64_t left = settings->samples;
	struct tm_tally tally = TM_NO_READS;
	enum tm_end end = TM_END_NONE;
	struct tm_booker booker;
	uint64_t before;

	/* The first sample finds the loop cold: it counts for nothing. */
	count_down(settings->loop_size);
	before = tm_clock();
	booker = tm_open(region, before);

	while (end == TM_END_NONE) {
		uint64_t start = tm_clock();
		uint64_t now;
		int cpu;

		count_down(settings->loop_size);
		now = tm_clock();
		cpu = tm_cpu();

		if (cpu != settings->cpu) {
			tm_exclude(&booker, TM_MOVED, start, now < start ? 0 : now - start, cpu);
			end = TM_END_MOVED;
		} else if (start < before || now < start) {
			uint64_t last = start < before ? before : start;
			uint64_t back = last - (start < before ? start : now);

			/* As in 2004 the pass is to begin anew, in another process. */
			tm_exclude(&booker, TM_BACKWARDS, last, back, cpu);
			end = TM_END_JUMPED;
		} else {
			uint64_t sample = now - start;

			tally.reads++;
			if (sample < tally.min_cycles)
				tally.min_cycles = sample;
			tm_book(&booker, start, sample);
			tm_forgive(&booker, sample - tally.min_cycles);
			if (left != 0 && --left == 0)
				end = TM_END_COMPLETE;
		}
		/* What was sampled before a step stays good: the window ends there. */
		if (end != TM_END_JUMPED)
			before = now;
		if (end == TM_END_NONE)
			end = tm_mark(&booker, now, &tally);
	}
	tm_close(booker.window, before, &tally);
	tm_finish(region, end);
	return end;
}
