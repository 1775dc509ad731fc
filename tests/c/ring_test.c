/* ring_test.c: the ring at its edges. */
#include <string.h>

#include "check.h"
#include "ring.h"

static struct tm_ring ring;
static struct tm_interruption taken[TM_RING_SLOTS + 1];

/* An empty ring whose indices stand at this number. */
static void set_ring(uint64_t index)
{
	memset(&ring, 0, sizeof(ring));
	ring.head = index;
	ring.tail = index;
}

static void an_empty_ring_gives_nothing(void)
{
	struct tm_ring_reader reader;

	set_ring(0);
	reader = tm_ring_reader_of(&ring);
	CHECK(tm_ring_pop(&reader, taken, 10) == 0);
	CHECK(tm_ring_pop(&reader, taken, 0) == 0);
}

static void what_was_pushed_comes_out_in_order(void)
{
	struct tm_ring_writer writer;
	struct tm_ring_reader reader;

	set_ring(0);
	writer = tm_ring_writer_of(&ring);
	reader = tm_ring_reader_of(&ring);
	for (uint64_t i = 0; i < 10; i++)
		CHECK(tm_ring_push(&writer, i, 100 + i));
	CHECK(tm_ring_pop(&reader, taken, 4) == 4);
	CHECK(tm_ring_pop(&reader, taken + 4, 100) == 6);
	for (uint64_t i = 0; i < 10; i++)
		CHECK(taken[i].start_cycles == i && taken[i].gap_cycles == 100 + i);
}

static void a_full_ring_refuses_until_one_is_taken(void)
{
	struct tm_ring_writer writer;
	struct tm_ring_reader reader;

	set_ring(0);
	writer = tm_ring_writer_of(&ring);
	reader = tm_ring_reader_of(&ring);
	for (uint64_t i = 0; i < TM_RING_SLOTS; i++)
		CHECK(tm_ring_push(&writer, i, i));
	CHECK(!tm_ring_push(&writer, 7, 7));
	CHECK(tm_ring_pop(&reader, taken, 1) == 1);
	CHECK(taken[0].start_cycles == 0);
	CHECK(tm_ring_push(&writer, TM_RING_SLOTS, 1));
	CHECK(!tm_ring_push(&writer, 7, 7));
	CHECK(tm_ring_pop(&reader, taken, TM_RING_SLOTS + 1) == TM_RING_SLOTS);
	for (uint64_t i = 0; i < TM_RING_SLOTS; i++)
		CHECK(taken[i].start_cycles == i + 1);
}

/* Begins some steps before an edge of the indices and goes across it. */
static void cross(uint64_t edge)
{
	struct tm_ring_writer writer;
	struct tm_ring_reader reader;

	set_ring(edge - 3);
	writer = tm_ring_writer_of(&ring);
	reader = tm_ring_reader_of(&ring);
	for (uint64_t i = 0; i < 8; i++)
		CHECK(tm_ring_push(&writer, i, 1000 + i));
	CHECK(tm_ring_pop(&reader, taken, 5) == 5);
	CHECK(tm_ring_pop(&reader, taken + 5, 5) == 3);
	for (uint64_t i = 0; i < 8; i++)
		CHECK(taken[i].start_cycles == i && taken[i].gap_cycles == 1000 + i);

	/* Full, right across the edge. */
	for (uint64_t i = 0; i < TM_RING_SLOTS; i++)
		CHECK(tm_ring_push(&writer, i, i));
	CHECK(!tm_ring_push(&writer, 7, 7));
	CHECK(tm_ring_pop(&reader, taken, TM_RING_SLOTS) == TM_RING_SLOTS);
	CHECK(taken[TM_RING_SLOTS - 1].start_cycles == TM_RING_SLOTS - 1);
	CHECK(tm_ring_pop(&reader, taken, 1) == 0);
}

static void nothing_is_lost_where_the_slots_begin_again(void)
{
	cross(TM_RING_SLOTS);
}

static void nothing_is_lost_where_the_indices_wrap(void)
{
	cross(0);
}

int main(void)
{
	RUN(an_empty_ring_gives_nothing);
	RUN(what_was_pushed_comes_out_in_order);
	RUN(a_full_ring_refuses_until_one_is_taken);
	RUN(nothing_is_lost_where_the_slots_begin_again);
	RUN(nothing_is_lost_where_the_indices_wrap);
	return 0;
}
