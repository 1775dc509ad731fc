/* spin_test.c: the gap loop against a scripted clock; the script is also the reader, so nothing is left to
 * chance.
 */
#include "script.h"

#define THRESHOLD 500
#define QUIET 20
#define MINUTE (60 * HZ)
#define MILLION 1000000

static const struct tm_settings plain = {
	.cpu = CPU,
	.method = TM_GAP,
	.threshold_cycles = THRESHOLD,
	.lease_cycles = UINT64_MAX,
};

static struct tm_window window;
static struct tm_interruption detail[TM_RING_SLOTS];

/* The only window of a run that has ended. */
static void take_last(void)
{
	CHECK(tm_take_window(&taker, &window) == 0);
	CHECK(tm_take_window(&taker, &window) == -ENODATA);
}

static uint64_t quiet(uint64_t read)
{
	if (read == 1000)
		stop();
	return QUIET;
}

static void a_quiet_cpu_has_no_interruptions(void)
{
	begin(quiet, &plain);
	CHECK(tm_spin(region) == TM_END_TOLD);
	take_last();
	CHECK(window.reads >= 1000);
	CHECK(window.interruptions == 0 && window.gap_sum_cycles == 0 && sum_of(window.counts) == 0);
	CHECK(window.min_cycles == QUIET && window.max_cycles == QUIET);
	CHECK(window.end_cycles - window.start_cycles == window.reads * QUIET);
}

static uint64_t a_minute_long(uint64_t read)
{
	if (read == 5000)
		stop();
	return read == 1000 ? MINUTE : QUIET;
}

static void a_gap_of_60_s_stays_60_s(void)
{
	begin(a_minute_long, &plain);
	CHECK(tm_spin(region) == TM_END_TOLD);
	take_last();
	CHECK(window.interruptions == 1 && window.lost == 0 && window.exclusions == 0);
	CHECK(window.gap_sum_cycles == MINUTE && window.max_cycles == MINUTE && window.min_cycles == QUIET);
	CHECK(window.counts[tm_bin_of(MINUTE)] == 1 && sum_of(window.counts) == 1);
	CHECK(window.end_cycles - window.start_cycles == MINUTE + (window.reads - 1) * QUIET);
	CHECK(tm_ring_pop(&reader, detail, 2) == 1);
	CHECK(detail[0].start_cycles == window.start_cycles + 999 * QUIET && detail[0].gap_cycles == MINUTE);
}

static uint64_t just_above(uint64_t read)
{
	if (read == 1000)
		stop();
	return read == 10 ? THRESHOLD : read == 20 ? THRESHOLD + 1 : QUIET;
}

static void a_gap_of_the_threshold_is_no_interruption_and_one_above_is(void)
{
	begin(just_above, &plain);
	tm_spin(region);
	take_last();
	CHECK(window.interruptions == 1 && window.gap_sum_cycles == THRESHOLD + 1);
}

/* A million interruptions in a second: every fifth read. */
static uint64_t interruption_length(uint64_t i)
{
	return 550 + i % 101;
}

static uint64_t a_million_a_second(uint64_t read)
{
	if (read == 5 * MILLION)
		stop();
	return read % 5 == 0 && read != 0 && read <= 5 * MILLION ? interruption_length(read / 5) : 475;
}

static void a_million_interruptions_a_second_are_counted_exactly_though_the_ring_overflows(void)
{
	uint64_t sum = 0, counts[TM_BINS] = { 0 };

	begin(a_million_a_second, &plain);
	CHECK(tm_spin(region) == TM_END_TOLD);
	for (uint64_t i = 1; i <= MILLION; i++) {
		sum += interruption_length(i);
		counts[tm_bin_of(interruption_length(i))]++;
	}
	take_last();
	CHECK(window.interruptions == MILLION && window.lost == MILLION - TM_RING_SLOTS);
	CHECK(window.gap_sum_cycles == sum && window.max_cycles == 650 && window.min_cycles == 475);
	CHECK(memcmp(window.counts, counts, sizeof(counts)) == 0);
	CHECK(tm_ring_pop(&reader, detail, TM_RING_SLOTS) == TM_RING_SLOTS);
	/* The oldest were kept. */
	for (uint64_t i = 0; i < TM_RING_SLOTS; i++)
		CHECK(detail[i].gap_cycles == interruption_length(i + 1));
}

static uint64_t back_by_a_second(uint64_t read)
{
	CHECK(read <= 1000);
	return read == 1000 ? -HZ : read == 500 ? 700 : QUIET;
}

static void a_counter_that_goes_far_back_ends_the_window_before_the_step(void)
{
	begin(back_by_a_second, &plain);
	CHECK(tm_spin(region) == TM_END_JUMPED);
	take_last();
	CHECK(window.interruptions == 1 && window.gap_sum_cycles == 700 && window.max_cycles == 700);
	CHECK(window.min_cycles == QUIET && sum_of(window.counts) == 1);
	CHECK(window.exclusions == 1 && window.exclusion[0].code == TM_BACKWARDS);
	CHECK(window.exclusion[0].cycles == HZ);
	CHECK(window.reads == 999 && window.end_cycles == window.start_cycles + 998 * QUIET + 700);
	CHECK(window.exclusion[0].start_cycles == window.end_cycles);
}

static uint64_t back_by_the_threshold(uint64_t read)
{
	if (read == 2000)
		stop();
	return read == 1000 ? (uint64_t)-THRESHOLD : read == 1500 ? 700 : QUIET;
}

static void a_counter_that_goes_a_little_back_is_no_interruption(void)
{
	begin(back_by_the_threshold, &plain);
	CHECK(tm_spin(region) == TM_END_TOLD);
	take_last();
	CHECK(window.interruptions == 1 && window.gap_sum_cycles == 700 && window.max_cycles == 700);
	CHECK(window.min_cycles == QUIET && sum_of(window.counts) == 1);
	CHECK(window.exclusions == 1 && window.exclusion[0].code == TM_BACKWARDS);
	CHECK(window.exclusion[0].cycles == THRESHOLD);
	CHECK(window.exclusion[0].start_cycles == window.start_cycles + 999 * QUIET);
}

static uint64_t back_and_forth(uint64_t read)
{
	if (read == 1000)
		stop();
	return read % 10 == 5 ? (uint64_t)-100 : QUIET;
}

static void exclusions_beyond_those_in_detail_are_still_counted(void)
{
	begin(back_and_forth, &plain);
	tm_spin(region);
	take_last();
	CHECK(window.exclusions > TM_EXCLUSIONS && window.exclusions == window.reads / 10);
	CHECK(window.exclusion[TM_EXCLUSIONS - 1].start_cycles != 0);
}

/* A counter of 25 MHz read every 10 ns: one step of 1 in every fourth read. */
static uint64_t coarse(uint64_t read)
{
	if (read == 100000)
		stop();
	return read == 50000 ? 77 : read % 4 == 0;
}

static void a_coarse_counter_has_a_baseline_of_zero(void)
{
	const struct tm_settings found = { .cpu = CPU, .threshold_floor_cycles = 5, .lease_cycles = UINT64_MAX };

	begin(coarse, &found);
	CHECK(tm_calibrate(region) == 0);
	CHECK(region->news.typical_cycles == 0 && region->news.step_cycles == 1);
	CHECK(region->news.threshold_cycles == 5);
	CHECK(tm_spin(region) == TM_END_TOLD);
	take_last();
	CHECK(window.min_cycles == 0 && window.interruptions == 1 && window.gap_sum_cycles == 77);
}

static uint64_t as_in_life(uint64_t read)
{
	return read % 1000 == 999 ? 5000 : read % 3 == 0 ? 24 : 100;
}

static void the_threshold_is_found_from_reads_step_and_floor(void)
{
	struct tm_settings found = { .cpu = CPU, .lease_cycles = UINT64_MAX };

	begin(as_in_life, &found);
	CHECK(tm_calibrate(region) == 0);
	CHECK(region->news.typical_cycles == 100 && region->news.step_cycles == 24);
	CHECK(region->news.threshold_cycles == 400);

	found.threshold_floor_cycles = 401;
	begin(as_in_life, &found);
	CHECK(tm_calibrate(region) == 0);
	CHECK(region->news.threshold_cycles == 401);

	found.threshold_cycles = 33;
	begin(as_in_life, &found);
	CHECK(tm_calibrate(region) == 0);
	CHECK(region->news.threshold_cycles == 33);

	found = (struct tm_settings){ .cpu = CPU, .lease_cycles = UINT64_MAX };
	begin(coarse, &found);
	CHECK(tm_calibrate(region) == 0);
	CHECK(region->news.threshold_cycles == 3);
}

static uint64_t stands_still(uint64_t read)
{
	(void)read;
	return 0;
}

static void a_counter_that_stands_still_is_refused(void)
{
	begin(stands_still, &plain);
	CHECK(tm_calibrate(region) == -EIO);
}

/* Booking an interruption takes 120 cycles here, more than the threshold. */
static uint64_t slow_to_book(uint64_t read)
{
	if (read == 2000)
		stop();
	return read == 100 ? 300 : read == 101 ? 120 : read == 102 ? 60 : QUIET;
}

static void booking_an_interruption_is_not_an_interruption(void)
{
	const struct tm_settings low = {
		.cpu = CPU, .threshold_cycles = 50, .threshold_floor_cycles = 200, .lease_cycles = UINT64_MAX,
	};

	begin(slow_to_book, &low);
	tm_spin(region);
	take_last();
	/* The one of 300 and, since only the next read is let off, the one of 60. */
	CHECK(window.interruptions == 2 && window.gap_sum_cycles == 360);
}

/* Bursts and quiet in turns, while the reader cuts again and again at odd moments. */
static struct {
	uint64_t windows, interruptions, gap_sum_cycles, details, details_taken, reads, start_cycles, end_cycles;
} seen;

static void check_window(void)
{
	CHECK(window.start_cycles == seen.end_cycles || seen.windows == 0);
	CHECK(window.end_cycles > window.start_cycles);
	CHECK(sum_of(window.counts) == window.interruptions && window.lost == 0);
	if (seen.windows == 0)
		seen.start_cycles = window.start_cycles;
	seen.end_cycles = window.end_cycles;
	seen.windows++;
	seen.interruptions += window.interruptions;
	seen.gap_sum_cycles += window.gap_sum_cycles;
	seen.reads += window.reads;

	/* Its details are the next ones in the ring, and all of them lie in it. */
	seen.details = tm_ring_pop(&reader, detail, (size_t)window.interruptions);
	CHECK(seen.details == window.interruptions);
	for (uint64_t i = 0; i < seen.details; i++) {
		CHECK(detail[i].start_cycles >= window.start_cycles);
		CHECK(detail[i].start_cycles + detail[i].gap_cycles <= window.end_cycles);
		window.gap_sum_cycles -= detail[i].gap_cycles;
	}
	CHECK(window.gap_sum_cycles == 0);
	seen.details_taken += seen.details;
}

static uint64_t bursts(uint64_t read)
{
	if (read % 777 == 0 && tm_take_window(&taker, &window) == 0)
		check_window();
	if (read % 1999 == 0)
		tm_wish(&taker);
	if (read == 500000)
		stop();
	return read / 100 % 2 ? 600 + read % 100 : QUIET;
}

static void windows_touch_and_miss_nothing_when_cut_in_a_burst(void)
{
	uint64_t reads;

	begin(bursts, &plain);
	memset(&seen, 0, sizeof(seen));
	CHECK(tm_spin(region) == TM_END_TOLD);
	reads = script.reads - 1;
	while (tm_take_window(&taker, &window) == 0)
		check_window();
	CHECK(seen.windows > 100);
	CHECK(seen.reads == reads);
	CHECK(seen.start_cycles == region->news.start_cycles && seen.end_cycles == script.now);
	CHECK(seen.details_taken == seen.interruptions);
	CHECK(seen.end_cycles - seen.start_cycles ==
	      seen.gap_sum_cycles + (seen.reads - seen.interruptions) * QUIET);
}

static uint64_t never_stops(uint64_t read)
{
	if (read == 1)
		CHECK(tm_wish(&taker) == 0);
	if (read == 600) {
		CHECK(tm_wish(&taker) == -EALREADY);
		CHECK(tm_take_window(&taker, &window) == 0 && window.end_cycles - window.start_cycles == 512 * QUIET);
		CHECK(tm_take_window(&taker, &window) == -EAGAIN);
		stop();
	}
	return QUIET;
}

static void a_window_is_taken_once_and_wished_for_once(void)
{
	begin(never_stops, &plain);
	CHECK(tm_wish(&taker) == -EAGAIN);
	CHECK(tm_take_window(&taker, &window) == -EAGAIN);
	tm_spin(region);
	take_last();
}

/* The reader lives until read 10,000, with long gaps after that. */
static uint64_t reader_dies(uint64_t read)
{
	if (read <= 10000)
		atomic_fetch_add_explicit(&region->wishes.beats, 1, memory_order_relaxed);
	CHECK(read < 10 * MILLION);
	return read % 5000 == 0 ? MINUTE : QUIET;
}

static void a_lease_counts_only_running_time(void)
{
	const struct tm_settings lease = {
		.cpu = CPU, .threshold_cycles = THRESHOLD, .lease_cycles = 1000000,
	};
	uint64_t run, renewed = 10000;

	begin(reader_dies, &lease);
	CHECK(tm_spin(region) == TM_END_LEASE);
	take_last();
	CHECK(region->news.end == TM_END_LEASE);
	run = (script.reads - renewed) * QUIET;
	CHECK(run >= lease.lease_cycles && run < lease.lease_cycles + 3 * READS_A_MARK * QUIET);
}

static uint64_t moved_away(uint64_t read)
{
	if (read == 700)
		script.cpu = CPU + 1;
	CHECK(read <= 700);
	return read == 700 ? 30000 : read == 100 ? 1000 : QUIET;
}

static void a_sampler_that_was_moved_leaves_at_once(void)
{
	begin(moved_away, &plain);
	CHECK(tm_spin(region) == TM_END_MOVED);
	take_last();
	CHECK(window.interruptions == 1 && window.gap_sum_cycles == 1000 && window.reads == 700);
	CHECK(window.exclusions == 1 && window.exclusion[0].code == TM_MOVED);
	CHECK(window.exclusion[0].cycles == 30000 && window.exclusion[0].cpu == CPU + 1);
	CHECK(window.end_cycles == window.exclusion[0].start_cycles + 30000);
}

static uint64_t moved_back_in_time(uint64_t read)
{
	if (read == 700)
		script.cpu = CPU + 1;
	return read == 700 ? (uint64_t)-30000 : QUIET;
}

static void a_move_to_a_counter_that_lags_is_seen_as_both(void)
{
	begin(moved_back_in_time, &plain);
	CHECK(tm_spin(region) == TM_END_MOVED);
	take_last();
	CHECK(window.exclusions == 2);
	CHECK(window.exclusion[0].code == TM_BACKWARDS && window.exclusion[0].cycles == 30000);
	CHECK(window.exclusion[1].code == TM_MOVED && window.exclusion[1].cycles == 0);
}

static uint64_t moved_after_many(uint64_t read)
{
	if (read == 700) {
		script.cpu = CPU + 1;
		return 30000;
	}
	return read % 10 == 9 ? (uint64_t)-5 : QUIET;
}

static void a_move_after_many_steps_back_is_kept(void)
{
	begin(moved_after_many, &plain);
	CHECK(tm_spin(region) == TM_END_MOVED);
	take_last();
	CHECK(window.exclusions > TM_EXCLUSIONS);
	CHECK(window.exclusion[TM_EXCLUSIONS - 1].code == TM_MOVED);
	CHECK(window.exclusion[TM_EXCLUSIONS - 1].cycles == 30000);
}

static uint64_t moved_unseen(uint64_t read)
{
	if (read == 100)
		script.cpu = CPU + 1;
	if (read == 5000)
		CHECK(tm_wish(&taker) == 0);
	CHECK(read < 6000);
	return QUIET;
}

static void a_move_below_the_threshold_is_found_at_the_cut(void)
{
	begin(moved_unseen, &plain);
	CHECK(tm_spin(region) == TM_END_MOVED);
	take_last();
	CHECK(window.exclusions == 1 && window.exclusion[0].code == TM_MOVED);
}

int main(void)
{
	RUN(a_quiet_cpu_has_no_interruptions);
	RUN(a_gap_of_60_s_stays_60_s);
	RUN(a_gap_of_the_threshold_is_no_interruption_and_one_above_is);
	RUN(a_million_interruptions_a_second_are_counted_exactly_though_the_ring_overflows);
	RUN(a_counter_that_goes_far_back_ends_the_window_before_the_step);
	RUN(a_counter_that_goes_a_little_back_is_no_interruption);
	RUN(exclusions_beyond_those_in_detail_are_still_counted);
	RUN(a_coarse_counter_has_a_baseline_of_zero);
	RUN(the_threshold_is_found_from_reads_step_and_floor);
	RUN(a_counter_that_stands_still_is_refused);
	RUN(booking_an_interruption_is_not_an_interruption);
	RUN(windows_touch_and_miss_nothing_when_cut_in_a_burst);
	RUN(a_window_is_taken_once_and_wished_for_once);
	RUN(a_lease_counts_only_running_time);
	RUN(a_sampler_that_was_moved_leaves_at_once);
	RUN(a_move_to_a_counter_that_lags_is_seen_as_both);
	RUN(a_move_after_many_steps_back_is_kept);
	RUN(a_move_below_the_threshold_is_found_at_the_cut);
	free(region);
	return 0;
}
