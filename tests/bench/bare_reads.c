/* bare_reads.c: what a read of the counter costs on this CPU when nothing is done with it.
 *
 * bare_reads CPU SECONDS THRESHOLD_CYCLES. Prints the cycles of a read, taken from blocks that nothing
 * disturbed by more than the threshold, and those of a read in the whole run.
 */
#define _GNU_SOURCE

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"

#define READS 512 /* as many as the sampler does between two marks */
#define MOST_BLOCKS 4000000

static uint64_t block[MOST_BLOCKS];
static uint64_t sorted[MOST_BLOCKS];

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int count, char **arguments)
{
	double all = 0, quiet = 0, end;
	size_t blocks = 0, quiet_blocks = 0;
	uint64_t before, limit;
	cpu_set_t set;

	if (count != 4)
		return 2;
	CPU_ZERO(&set);
	CPU_SET((size_t)atoi(arguments[1]), &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		return 1;
	end = seconds() + atof(arguments[2]);
	while (blocks < MOST_BLOCKS && (blocks % 256 != 0 || seconds() < end)) {
		before = tm_clock();
		for (int i = 1; i < READS; i++) {
			uint64_t now = tm_clock();

			/* Keeps the read, and does nothing with it. */
			__asm__ volatile("" : : "r"(now));
		}
		block[blocks++] = tm_clock() - before;
	}
	for (size_t i = 0; i < blocks; i++)
		sorted[i] = block[i];
	qsort(sorted, blocks, sizeof(sorted[0]), compare);
	limit = sorted[blocks / 2] + strtoull(arguments[3], NULL, 10);
	for (size_t i = 0; i < blocks; i++) {
		all += (double)block[i];
		if (block[i] <= limit) {
			quiet += (double)block[i];
			quiet_blocks++;
		}
	}
	printf("%.3f %.3f\n", quiet / (double)quiet_blocks / READS, all / (double)blocks / READS);
	return 0;
}
