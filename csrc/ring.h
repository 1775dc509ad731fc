/* ring.h: a ring in shared memory with one writer that never waits, and one reader.
 *
 * Between tail and head lie the interruptions that were pushed and not yet taken; the writer owns the
 * other slots. Each side keeps a copy of the other's index and looks again only when the copy says full
 * or empty, so that the index's cache line travels rarely.
 */
#ifndef TM_RING_H
#define TM_RING_H

#include <stdbool.h>
#include <stddef.h>

#include "region.h"

_Static_assert((TM_RING_SLOTS & (TM_RING_SLOTS - 1)) == 0, "an index is cut to a slot by a mask");

struct tm_ring_writer {
	struct tm_ring *ring;
	uint64_t head;
	uint64_t tail_seen;
};

struct tm_ring_reader {
	struct tm_ring *ring;
	uint64_t tail;
	uint64_t head_seen;
};

static inline struct tm_ring_writer tm_ring_writer_of(struct tm_ring *ring)
{
	/* No order: nothing has been pushed or taken yet that these could go with. */
	return (struct tm_ring_writer){
		.ring = ring,
		.head = atomic_load_explicit(&ring->head, memory_order_relaxed),
		.tail_seen = atomic_load_explicit(&ring->tail, memory_order_relaxed),
	};
}

static inline struct tm_ring_reader tm_ring_reader_of(struct tm_ring *ring)
{
	/* No order: head_seen only has to be no further than the head, and tail is the reader's own. */
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	return (struct tm_ring_reader){ .ring = ring, .tail = tail, .head_seen = tail };
}

/* Whether there was room; if not, the interruption is lost. */
static inline bool tm_ring_push(struct tm_ring_writer *writer, uint64_t start_cycles, uint64_t gap_cycles)
{
	struct tm_ring *ring = writer->ring;

	if (writer->head - writer->tail_seen == TM_RING_SLOTS) {
		/* The reader must be done with the slots before they are written again. */
		writer->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
		if (writer->head - writer->tail_seen == TM_RING_SLOTS)
			return false;
	}
	ring->slot[writer->head & (TM_RING_SLOTS - 1)] = (struct tm_interruption){ start_cycles, gap_cycles };
	writer->head++;
	/* The slot must be whole before the reader can see it. */
	atomic_store_explicit(&ring->head, writer->head, memory_order_release);
	return true;
}

/* Takes up to capacity interruptions, oldest first; says how many. */
static inline size_t tm_ring_pop(struct tm_ring_reader *reader, struct tm_interruption *into, size_t capacity)
{
	struct tm_ring *ring = reader->ring;
	size_t taken;

	if (reader->head_seen - reader->tail < capacity)
		/* What was written into the slots before the head moved on must be visible here. */
		reader->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
	taken = (size_t)(reader->head_seen - reader->tail);
	if (taken > capacity)
		taken = capacity;
	for (size_t i = 0; i < taken; i++)
		into[i] = ring->slot[(reader->tail + i) & (TM_RING_SLOTS - 1)];
	reader->tail += taken;
	/* The slots must be copied before the writer can have them back. */
	atomic_store_explicit(&ring->tail, reader->tail, memory_order_release);
	return taken;
}

#endif
