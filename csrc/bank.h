/* bank.h: how a window passes from the sampler to the reader, exact and without a lock.
 *
 * Two banks take turns. The sampler books into bank[windows & 1], where windows says how many have
 * ended; the other one is the reader's. The reader zeroes that and wishes for one window more. The
 * sampler sees the wish at its next mark, closes its bank at that very read, says that one more window
 * has ended, and goes on in the other bank from the same read. So windows touch, no gap straddles a cut,
 * and the closed bank is the reader's until its next wish, however long that takes.
 */
#ifndef TM_BANK_H
#define TM_BANK_H

#include <errno.h>
#include <string.h>

#include "bins.h"
#include "clock.h"
#include "ring.h"

/* What the sampler keeps to itself. */
struct tm_booker {
	struct tm_region *region;
	struct tm_window *window; /* the one in the making */
	uint64_t ended;           /* windows */
	struct tm_ring_writer ring;
	uint64_t beats;
	uint64_t beat_at_cycles; /* when the reader was last known to live, moved on by what stopped us */
};

/* What the loops keep in registers until a window ends. */
struct tm_tally {
	uint64_t reads;
	uint64_t min_cycles;
	uint64_t max_cycles;
};

#define TM_NO_READS ((struct tm_tally){ .min_cycles = UINT64_MAX })

/* Says that it runs, the first window beginning with the read at now. */
static inline struct tm_booker tm_open(struct tm_region *region, uint64_t now)
{
	struct tm_booker booker = {
		.region = region,
		.window = &region->bank[0].window,
		.ring = tm_ring_writer_of(&region->ring),
		.beat_at_cycles = now,
	};

	booker.window->start_cycles = now;
	region->news.start_cycles = now;
	/* No order: the state, stored next, brings it along. */
	atomic_store_explicit(&region->marks.cycles, now, memory_order_relaxed);
	/* What was found out at the start must be whole before the reader looks at it. */
	atomic_store_explicit(&region->news.state, TM_RUNNING, memory_order_release);
	return booker;
}

/* Books an interruption, or a sample of the loop method. */
static inline void tm_book(struct tm_booker *booker, uint64_t start_cycles, uint64_t gap_cycles)
{
	struct tm_window *window = booker->window;

	window->interruptions++;
	window->gap_sum_cycles += gap_cycles;
	window->counts[tm_bin_of(gap_cycles)]++;
	if (gap_cycles > window->max_cycles)
		window->max_cycles = gap_cycles;
	if (!tm_ring_push(&booker->ring, start_cycles, gap_cycles))
		window->lost++;
}

/* Books something that must not be taken for an interruption. */
static inline void tm_exclude(struct tm_booker *booker, enum tm_exclusion_code code, uint64_t start_cycles,
			      uint64_t cycles, int cpu)
{
	struct tm_window *window = booker->window;
	uint64_t place = window->exclusions;

	/* A move ends the sampler, and why it ended must not be hidden by what came before. */
	if (place >= TM_EXCLUSIONS && code == TM_MOVED)
		place = TM_EXCLUSIONS - 1;
	if (place < TM_EXCLUSIONS)
		window->exclusion[place] = (struct tm_exclusion){
			.start_cycles = start_cycles,
			.cycles = cycles,
			.code = (int32_t)code,
			.cpu = cpu,
		};
	window->exclusions++;
}

/* The sampler was not running for so long (or the counter went back, for a negative number): that is no
 * time in which the reader could have been missed. */
static inline void tm_forgive(struct tm_booker *booker, uint64_t cycles)
{
	if (cycles > booker->region->orders.settings.lease_cycles / 100)
		booker->beat_at_cycles += cycles;
}

/* Writes into the window what was kept in registers. */
static inline void tm_close(struct tm_window *window, uint64_t now, const struct tm_tally *tally)
{
	window->end_cycles = now;
	window->reads = tally->reads;
	window->min_cycles = tally->min_cycles;
	if (tally->max_cycles > window->max_cycles)
		window->max_cycles = tally->max_cycles;
}

/* Ends the window at the read at now and goes on with the next, unless this is another CPU: a threshold
 * above the time that a move takes would hide it otherwise. */
static inline enum tm_end tm_turn(struct tm_booker *booker, uint64_t now, struct tm_tally *tally)
{
	struct tm_region *region = booker->region;
	int cpu = tm_cpu();

	if (cpu != region->orders.settings.cpu) {
		tm_exclude(booker, TM_MOVED, now, 0, cpu);
		return TM_END_MOVED;
	}
	tm_close(booker->window, now, tally);
	booker->ended++;
	booker->window = &region->bank[booker->ended & 1].window;
	booker->window->start_cycles = now;
	*tally = TM_NO_READS;
	/* The window must be whole, and its interruptions in the ring, before the reader takes it. */
	atomic_store_explicit(&region->marks.windows, booker->ended, memory_order_release);
	return TM_END_NONE;
}

/* Publishes the read at now and does what the reader wishes; says whether that is the end. */
static inline enum tm_end tm_mark(struct tm_booker *booker, uint64_t now, struct tm_tally *tally)
{
	struct tm_region *region = booker->region;
	uint64_t beats;

	/* What was pushed before must be visible to whoever sees the mark. */
	atomic_store_explicit(&region->marks.cycles, now, memory_order_release);

	/* No order: that it changed is the whole message. */
	beats = atomic_load_explicit(&region->wishes.beats, memory_order_relaxed);
	if (beats != booker->beats) {
		booker->beats = beats;
		booker->beat_at_cycles = now;
	} else if (now - booker->beat_at_cycles > region->orders.settings.lease_cycles) {
		return TM_END_LEASE;
	}

	/* No order: the word is the whole message. */
	if (atomic_load_explicit(&region->wishes.stop, memory_order_relaxed))
		return TM_END_TOLD;

	/* The other bank must be zero before anything is booked into it. */
	if (atomic_load_explicit(&region->wishes.windows, memory_order_acquire) != booker->ended)
		return tm_turn(booker, now, tally);
	return TM_END_NONE;
}

/* The last thing that a sampler says. */
static inline void tm_finish(struct tm_region *region, enum tm_end end)
{
	region->news.end = (int32_t)end;
	/* The reason, and the last window if there is one, must be whole before the reader looks. */
	atomic_store_explicit(&region->news.state, TM_ENDED, memory_order_release);
}

/* The same when a step of the start failed. */
static inline void tm_fail(struct tm_region *region, enum tm_stage stage, int error)
{
	region->news.stage = (int32_t)stage;
	region->news.error = error;
	tm_finish(region, TM_END_FAILED);
}

/* What the reader keeps to itself. */
struct tm_taker {
	struct tm_region *region;
	uint64_t wished; /* windows */
	uint64_t taken;
	bool last_taken; /* the one that the sampler left behind when it ended */
};

/* Wishes for the end of the window. -EAGAIN: it does not run yet; -EALREADY: one is still to be taken. */
static inline int tm_wish(struct tm_taker *taker)
{
	struct tm_region *region = taker->region;

	/* Until the sampler runs, its pages are not to be touched: it wants them near its own CPU. */
	int32_t state = atomic_load_explicit(&region->news.state, memory_order_acquire);

	if (state == TM_STARTING)
		return -EAGAIN;
	if (taker->wished != taker->taken)
		return -EALREADY;
	taker->wished++;
	memset(&region->bank[taker->wished & 1].window, 0, sizeof(struct tm_window));
	/* The bank must be zero before the sampler goes on in it. */
	atomic_store_explicit(&region->wishes.windows, taker->wished, memory_order_release);
	return 0;
}

/* Copies the oldest window that has ended. -EAGAIN: none has; -ENODATA: none ever will. */
static inline int tm_take_window(struct tm_taker *taker, struct tm_window *result)
{
	struct tm_region *region = taker->region;

	/* What the sampler wrote before it ended must be visible here. Looked at before the number of
	 * windows: once it has ended, that number is the last one. */
	int32_t state = atomic_load_explicit(&region->news.state, memory_order_acquire);
	/* What the sampler wrote before it passed the bank on must be visible here. */
	uint64_t ended = atomic_load_explicit(&region->marks.windows, memory_order_acquire);

	if (ended == taker->taken) {
		if (state != TM_ENDED)
			return -EAGAIN;
		if (taker->last_taken || region->news.end == TM_END_FAILED || region->news.end == TM_END_ORPHAN)
			return -ENODATA;
		taker->last_taken = true;
	}
	*result = region->bank[taker->taken & 1].window;
	if (!taker->last_taken)
		taker->taken++;
	return 0;
}

#endif
