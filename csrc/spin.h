/* spin.h: the two ways to watch a CPU, as functions of a region and the clock of clock.h. */
#ifndef TM_SPIN_H
#define TM_SPIN_H

#include "region.h"

/* Looks at the counter for about a millisecond and writes into the news what it found. -EIO: it does not
 * move. */
int tm_calibrate(struct tm_region *region);

/* Reads the counter without pause until something ends it; says what. */
enum tm_end tm_spin(struct tm_region *region);

/* Times the same empty loop again and again until something ends it; says what. */
enum tm_end tm_loop(struct tm_region *region);

#endif
