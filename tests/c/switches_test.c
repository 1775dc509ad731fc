/* switches_test.c: the kernel's records of context switches, written by hand. */
#include "switches.c"

#include "check.h"

static struct {
	struct perf_event_mmap_page page;
	unsigned char data[LOG_BYTES];
} pages;

static struct tm_sampler sampler;
static struct tm_switch switched[8];
static uint64_t lost;
static size_t taken;

/* An empty log whose next record begins at this byte. */
static void begin(uint64_t at)
{
	memset(&pages, 0, sizeof(pages));
	pages.page.data_offset = sizeof(pages.page);
	pages.page.data_head = at;
	pages.page.data_tail = at;
	sampler = (struct tm_sampler){ .switches = { .fd = 0, .pages = &pages } };
}

static void write_record(uint32_t type, uint16_t misc, const uint64_t *words, size_t count)
{
	struct perf_event_header header = {
		.type = type,
		.misc = misc,
		.size = (uint16_t)(sizeof(header) + count * sizeof(*words)),
	};
	const unsigned char *parts[] = { (const unsigned char *)&header, (const unsigned char *)words };
	const size_t bytes[] = { sizeof(header), count * sizeof(*words) };

	for (int part = 0; part < 2; part++)
		for (size_t i = 0; i < bytes[part]; i++)
			pages.data[pages.page.data_head++ % LOG_BYTES] = parts[part][i];
}

static void goes_out(uint64_t time_ns)
{
	write_record(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, &time_ns, 1);
}

static void comes_in(uint64_t time_ns)
{
	write_record(PERF_RECORD_SWITCH, 0, &time_ns, 1);
}

static void drops(uint64_t records)
{
	write_record(PERF_RECORD_LOST, 0, (const uint64_t[]){ 7, records, 1000 }, 3);
}

static void take(size_t capacity)
{
	CHECK(tm_switches(&sampler, switched, capacity, &lost, &taken) == 0);
}

static void a_switch_is_out_and_in_again(void)
{
	begin(0);
	comes_in(5); /* It was out when the log was opened. */
	goes_out(10);
	comes_in(20);
	goes_out(30);
	take(8);
	CHECK(taken == 1 && lost == 0 && switched[0].out_raw_ns == 10 && switched[0].in_raw_ns == 20);
	CHECK(pages.page.data_tail == pages.page.data_head);
	comes_in(40);
	take(8);
	CHECK(taken == 1 && switched[0].out_raw_ns == 30 && switched[0].in_raw_ns == 40);
	take(8);
	CHECK(taken == 0);
}

static void no_more_are_taken_than_there_is_room_for(void)
{
	begin(0);
	for (uint64_t i = 1; i <= 3; i++) {
		goes_out(10 * i);
		comes_in(10 * i + 1);
	}
	take(2);
	CHECK(taken == 2 && switched[1].out_raw_ns == 20);
	take(2);
	CHECK(taken == 1 && switched[0].out_raw_ns == 30 && switched[0].in_raw_ns == 31);
}

static void a_record_may_end_at_the_beginning_of_the_log(void)
{
	for (uint64_t at = LOG_BYTES - 32; at <= LOG_BYTES; at += 8) {
		begin(at);
		goes_out(0x1122334455667788);
		comes_in(0x1222334455667788);
		take(8);
		CHECK(taken == 1);
		CHECK(switched[0].out_raw_ns == 0x1122334455667788 && switched[0].in_raw_ns == 0x1222334455667788);
	}
}

static void records_that_the_kernel_dropped_are_counted_and_break_a_pair(void)
{
	begin(0);
	goes_out(10);
	drops(5);
	comes_in(20);
	goes_out(30);
	comes_in(40);
	take(8);
	CHECK(lost == 5 && taken == 1 && switched[0].out_raw_ns == 30);
}

static void other_records_are_skipped(void)
{
	begin(0);
	goes_out(10);
	write_record(PERF_RECORD_THROTTLE, 0, (const uint64_t[]){ 1, 2, 3, 4, 5, 6, 7, 8 }, 8);
	comes_in(20);
	take(8);
	CHECK(taken == 1 && switched[0].out_raw_ns == 10 && switched[0].in_raw_ns == 20);
}

static void a_log_that_is_not_open_says_so(void)
{
	sampler = (struct tm_sampler){ .switches = { .fd = -1 } };
	CHECK(tm_switches(&sampler, switched, 8, &lost, &taken) == -EBADF);
	CHECK(taken == 0 && lost == 0);
}

int main(void)
{
	RUN(a_switch_is_out_and_in_again);
	RUN(no_more_are_taken_than_there_is_room_for);
	RUN(a_record_may_end_at_the_beginning_of_the_log);
	RUN(records_that_the_kernel_dropped_are_counted_and_break_a_pair);
	RUN(other_records_are_skipped);
	RUN(a_log_that_is_not_open_says_so);
	return 0;
}
