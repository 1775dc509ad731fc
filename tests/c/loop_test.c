/* loop_test.c: the method of 2004 against a scripted clock: each sample is two reads. */
#include "script.h"

static struct tm_window window;
static struct tm_interruption detail[1000];

static struct tm_settings settings_of(uint64_t samples)
{
	return (struct tm_settings){
		.cpu = CPU, .method = TM_LOOP, .loop_size = 1, .samples = samples, .lease_cycles = UINT64_MAX,
	};
}

static void take_last(void)
{
	CHECK(tm_take_window(&taker, &window) == 0);
	CHECK(tm_take_window(&taker, &window) == -ENODATA);
}

/* Read 0 ends the warm-up; then the odd reads begin a sample, 7 cycles after the one before. The i-th
 * sample, from 0, takes 6,000 + i cycles. */
static uint64_t rising(uint64_t read)
{
	return read % 2 ? 7 : 6000 + read / 2 - 1;
}

static void a_pass_has_as_many_samples_as_were_asked_for_and_the_first_is_dropped(void)
{
	const struct tm_settings settings = settings_of(100);

	begin(rising, &settings);
	CHECK(tm_loop(region) == TM_END_COMPLETE);
	take_last();
	CHECK(region->news.end == TM_END_COMPLETE);
	CHECK(window.reads == 100 && window.interruptions == 100 && sum_of(window.counts) == 100);
	CHECK(window.min_cycles == 6000 && window.max_cycles == 6099);
	CHECK(window.gap_sum_cycles == 100 * 6000 + 99 * 100 / 2);
	CHECK(window.end_cycles - window.start_cycles == window.gap_sum_cycles + 100 * 7);
	CHECK(tm_ring_pop(&reader, detail, 1000) == 100);
	CHECK(detail[0].start_cycles == window.start_cycles + 7);
	for (uint64_t i = 0; i < 100; i++)
		CHECK(detail[i].gap_cycles == 6000 + i);
}

static uint64_t stops_at_300(uint64_t read)
{
	if (read == 300)
		stop();
	return rising(read);
}

static void without_a_number_of_samples_it_goes_on_until_told(void)
{
	const struct tm_settings settings = settings_of(0);

	begin(stops_at_300, &settings);
	CHECK(tm_loop(region) == TM_END_TOLD);
	take_last();
	CHECK(window.interruptions == 150);
}

/* Back within the 50th sample, and between the 80th and the next. */
/* The first read opens the window, the next two are the first sample. */
static uint64_t goes_back_in_the_50th_sample(uint64_t read)
{
	return read == 100 ? (uint64_t)-300 : rising(read);
}

static uint64_t goes_back_after_the_50th_sample(uint64_t read)
{
	return read == 101 ? (uint64_t)-2000000 : rising(read);
}

static void check_end_at_the_step(uint64_t back, uint64_t last_good)
{
	take_last();
	CHECK(window.exclusions == 1 && window.exclusion[0].code == TM_BACKWARDS);
	CHECK(window.exclusion[0].cycles == back && window.exclusion[0].start_cycles >= window.end_cycles);
	CHECK(window.interruptions == last_good && window.reads == last_good);
	CHECK(tm_ring_pop(&reader, detail, 1000) == last_good);
	CHECK(detail[last_good - 1].start_cycles + detail[last_good - 1].gap_cycles == window.end_cycles);
}

static void a_counter_that_goes_backwards_ends_the_pass_before_the_step(void)
{
	struct tm_settings settings = settings_of(100);

	begin(goes_back_in_the_50th_sample, &settings);
	CHECK(tm_loop(region) == TM_END_JUMPED);
	check_end_at_the_step(300, 49);
	begin(goes_back_after_the_50th_sample, &settings);
	CHECK(tm_loop(region) == TM_END_JUMPED);
	check_end_at_the_step(2000000, 50);
}

static uint64_t moved_in_the_tenth_sample(uint64_t read)
{
	if (read == 20)
		script.cpu = CPU + 1;
	CHECK(read <= 20);
	return rising(read);
}

static void a_sampler_that_was_moved_leaves_at_once(void)
{
	const struct tm_settings settings = settings_of(0);

	begin(moved_in_the_tenth_sample, &settings);
	CHECK(tm_loop(region) == TM_END_MOVED);
	take_last();
	CHECK(window.interruptions == 9 && window.exclusions == 1);
	CHECK(window.exclusion[0].code == TM_MOVED && window.exclusion[0].cycles == 6009);
}

static struct {
	uint64_t windows, samples, end_cycles;
} seen;

static void check_window(void)
{
	CHECK(seen.windows == 0 || window.start_cycles == seen.end_cycles);
	seen.end_cycles = window.end_cycles;
	seen.windows++;
	seen.samples += window.interruptions;
}

static uint64_t cut_often(uint64_t read)
{
	if (tm_take_window(&taker, &window) == 0)
		check_window();
	if (read % 51 == 50)
		CHECK(tm_wish(&taker) == 0);
	return rising(read);
}

static void windows_touch_and_hold_every_sample(void)
{
	const struct tm_settings settings = settings_of(400);

	begin(cut_often, &settings);
	memset(&seen, 0, sizeof(seen));
	CHECK(tm_loop(region) == TM_END_COMPLETE);
	while (tm_take_window(&taker, &window) == 0)
		check_window();
	CHECK(seen.windows == 16 && seen.samples == 400 && seen.end_cycles == script.now);
}

/* One sample in a hundred is interrupted for ten leases; from read 1,000 on the reader is dead. */
static uint64_t reader_dies(uint64_t read)
{
	if (read <= 1000)
		atomic_fetch_add_explicit(&region->wishes.beats, 1, memory_order_relaxed);
	CHECK(read < 10000);
	return read % 2 ? 0 : read % 200 == 0 ? 10000000 : 6000;
}

static void a_lease_counts_only_undisturbed_loops(void)
{
	struct tm_settings settings = settings_of(0);

	settings.lease_cycles = 1000000;
	begin(reader_dies, &settings);
	CHECK(tm_loop(region) == TM_END_LEASE);
	CHECK((script.reads - 1000) / 2 * 6000 > settings.lease_cycles);
	CHECK((script.reads - 1000) / 2 * 6000 < settings.lease_cycles + 5 * 6000);
}

int main(void)
{
	RUN(a_pass_has_as_many_samples_as_were_asked_for_and_the_first_is_dropped);
	RUN(without_a_number_of_samples_it_goes_on_until_told);
	RUN(a_counter_that_goes_backwards_ends_the_pass_before_the_step);
	RUN(a_sampler_that_was_moved_leaves_at_once);
	RUN(windows_touch_and_hold_every_sample);
	RUN(a_lease_counts_only_undisturbed_loops);
	free(region);
	return 0;
}
