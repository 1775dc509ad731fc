/* bins.h: the logarithmic histogram, as tickmon/analysis/histogram.py has it. */
#ifndef TM_BINS_H
#define TM_BINS_H

#include <stdint.h>

/* Below 8 every value has a bin of its own; above, the three bits after the leading one choose among
 * the eight bins of its octave. The last value of all, UINT64_MAX, falls into the last bin of 496. */
static inline unsigned tm_bin_of(uint64_t cycles)
{
	unsigned octave;

	if (cycles < 8)
		return (unsigned)cycles;
	octave = 60u - (unsigned)__builtin_clzll(cycles);
	return 8 * octave + (unsigned)(cycles >> octave);
}

#endif
