/* threads_test.c: sampler and reader as two threads, so that ThreadSanitizer sees every access. */
#include "script.h"

#include <pthread.h>
#include <sched.h>

#define WINDOWS 300

static const struct tm_settings plain = {
	.cpu = CPU,
	.method = TM_GAP,
	.threshold_cycles = 500,
	.lease_cycles = UINT64_MAX,
};

/* Every other read an interruption: its length follows from when it is, so that each detail can be judged. */
static uint64_t dense(uint64_t read)
{
	return read % 2 ? 1000 + read % 64 : 20;
}

static void *sampler_thread(void *unused)
{
	script = (struct script){ .now = HZ, .gap = dense, .cpu = CPU };
	/* The process touches its pages first. */
	memset(region->bank, 0, sizeof(region->bank));
	memset(region->ring.slot, 0, sizeof(region->ring.slot));
	tm_spin(region);
	return unused;
}

#define CHUNK 64

static struct tm_interruption detail[CHUNK];

static struct {
	uint64_t interruptions, lost, gap_sum_cycles, end_cycles, details;
} seen;

/* In small pieces: the sampler writes again into what was just read, while ThreadSanitizer remembers it. */
static void drain(void)
{
	size_t taken = CHUNK;

	for (size_t sum = 0; taken == CHUNK && sum < TM_RING_SLOTS; sum += taken) {
		taken = tm_ring_pop(&reader, detail, CHUNK);
		for (size_t i = 0; i < taken; i++)
			CHECK(detail[i].gap_cycles >= 1000 && detail[i].gap_cycles < 1064);
		seen.details += taken;
	}
}

static void add_up(const struct tm_window *window)
{
	CHECK(window->start_cycles == seen.end_cycles);
	CHECK(window->reads % 512 == 0 && window->interruptions == window->reads / 2);
	CHECK(sum_of(window->counts) == window->interruptions);
	seen.end_cycles = window->end_cycles;
	seen.interruptions += window->interruptions;
	seen.lost += window->lost;
	seen.gap_sum_cycles += window->gap_sum_cycles;
}

static void a_reader_beside_the_sampler_misses_nothing(void)
{
	static struct tm_window window;
	pthread_t thread;
	int windows = 0, fillings = 0, taken;

	begin(dense, &plain);
	CHECK(pthread_create(&thread, NULL, sampler_thread, NULL) == 0);
	while (tm_wish(&taker) == -EAGAIN)
		sched_yield();
	seen.end_cycles = region->news.start_cycles;
	while (fillings < 3) {
		if (tm_take_window(&taker, &window) != 0)
			continue;
		add_up(&window);
		CHECK(tm_wish(&taker) == 0);
		windows++;
		/* At first while much is being pushed; later only when the ring has run full. */
		if (windows < WINDOWS || window.lost != 0)
			drain();
		fillings += windows > WINDOWS && window.lost != 0;
	}
	stop();
	while ((taken = tm_take_window(&taker, &window)) != -ENODATA)
		if (taken == 0)
			add_up(&window);
	CHECK(region->news.end == TM_END_TOLD);
	drain();
	CHECK(tm_ring_pop(&reader, detail, 1) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(seen.details + seen.lost == seen.interruptions);
}

int main(void)
{
	RUN(a_reader_beside_the_sampler_misses_nothing);
	free(region);
	return 0;
}
