/* clock.h: the counter, and the CPU that it was read on.
 *
 * spin.c and loop.c know nothing else of the machine; a test puts a script in the place of this file.
 */
#ifndef TM_CLOCK_H
#define TM_CLOCK_H

#include <sched.h>
#include <stdint.h>

#if defined(__x86_64__)

#include <x86intrin.h>

/* The bare instruction: a fence, or rdtscp, would cost half as much again at every read, and a read that
 * slips by some instructions only moves time from one gap to the next. */
static inline uint64_t tm_clock(void)
{
	return __rdtsc();
}

#elif defined(__aarch64__)

/* Two reads of the virtual counter may be done in either order unless something lies between. Without
 * the barrier the counter would seem to go backwards; the kernel's own clocks pay for it too. */
static inline uint64_t tm_clock(void)
{
	uint64_t cycles;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(cycles) : : "memory");
	return cycles;
}

#else
#error "tickmon reads the TSC of x86-64 or the virtual counter of arm64; it knows no counter of this machine."
#endif

/* The CPU that this thread runs on: from 2.35 on glibc finds it in the thread's own memory. */
static inline int tm_cpu(void)
{
	return sched_getcpu();
}

#endif
