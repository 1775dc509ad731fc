/* trace_test.c: the kernel's records of its trace points, written by hand. */
#include "trace.c"

#include "check.h"

#define LOG ((uint64_t)4096)

static unsigned char log_pages[2 * LOG];
static struct perf_event_mmap_page *const page = (void *)log_pages;
static struct tm_trace trace;
static struct tm_traced traced[128];
static size_t taken;

enum { TIMER = 11, HANDLER = 12, SWITCH = 13, ABSENT = 99 };

static const struct tm_trace_point points[] = {
	{ .id = TM_TRACE_FAULTS },
	{ .id = TIMER, .value_at = 8, .value_bytes = 8 },
	{ .id = HANDLER, .value_at = 8, .value_bytes = 4, .text_at = 12, .text_bytes = 4, .text_far = 1 },
	{ .id = SWITCH, .value_at = 24, .value_bytes = 4, .text_at = 8, .text_bytes = 16 },
};

/* An empty log whose next record begins at this byte. */
static void begin(uint64_t at)
{
	memset(log_pages, 0, sizeof(log_pages));
	page->data_offset = LOG;
	page->data_head = at;
	page->data_tail = at;
	trace = (struct tm_trace){ .pages = log_pages, .log_bytes = LOG, .points = points, .count = 4 };
}

static void put(const void *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		log_pages[LOG + page->data_head++ % LOG] = ((const unsigned char *)bytes)[i];
}

static void write_sample(uint64_t time_ns, int32_t tid, const void *raw, uint32_t bytes)
{
	/* The kernel makes the whole record a multiple of eight bytes. */
	uint32_t padded = (bytes + 4 + 7) / 8 * 8 - 4;
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE, .size = (uint16_t)(8 + 8 + 8 + 4 + padded) };
	int32_t ids[2] = { tid, tid };
	unsigned char payload[1024] = { 0 };

	memcpy(payload, raw, bytes);
	put(&header, sizeof(header));
	put(ids, sizeof(ids));
	put(&time_ns, sizeof(time_ns));
	put(&padded, sizeof(padded));
	put(payload, padded);
}

struct payload {
	uint16_t id;
	uint16_t flags;
	int32_t task;
	unsigned char rest[56];
};

static void timer_expires(uint64_t time_ns, uint64_t function)
{
	struct payload payload = { .id = TIMER, .task = 70 };

	memcpy(payload.rest, &function, sizeof(function));
	write_sample(time_ns, 7, &payload, 16);
}

static void switches_to(const char *name, int32_t task)
{
	struct payload payload = { .id = SWITCH, .task = 70 };

	memcpy(payload.rest, name, strnlen(name, 16));
	memcpy(payload.rest + 16, &task, sizeof(task));
	write_sample(30, 7, &payload, 28);
}

static void handles(int32_t irq, uint32_t text_at, uint32_t text_bytes, const char *name)
{
	struct payload payload = { .id = HANDLER };
	uint32_t place = text_bytes << 16 | text_at;

	memcpy(payload.rest, &irq, sizeof(irq));
	memcpy(payload.rest + 4, &place, sizeof(place));
	memcpy(payload.rest + 8, name, strlen(name) + 1);
	write_sample(20, 7, &payload, (uint32_t)(16 + strlen(name) + 1));
}

static void drops(uint64_t time_ns, uint64_t records)
{
	struct perf_event_header header = { .type = PERF_RECORD_LOST, .size = 8 + 4 * 8 };

	put(&header, sizeof(header));
	put((const uint64_t[]){ 1, records, 0, time_ns }, 32);
}

static void take(size_t capacity)
{
	CHECK(tm_trace_read(&trace, traced, capacity, &taken) == 0);
}

static void a_record_tells_time_thread_and_number(void)
{
	begin(0);
	timer_expires(1000, 0xffffffff81432211);
	take(64);
	CHECK(taken == 1 && traced[0].raw_ns == 1000 && traced[0].value == 0xffffffff81432211);
	CHECK(traced[0].tid == 7 && traced[0].task == 70 && traced[0].point == 1);
	CHECK(page->data_tail == page->data_head);
	take(64);
	CHECK(taken == 0);
}

static void texts_are_found_in_the_record_and_behind_it(void)
{
	begin(0);
	switches_to("kworker/1:1", 55);
	switches_to("sixteen-letters-", 56);
	handles(36, 16, 14, "virtio1-req.0");
	take(64);
	CHECK(taken == 3 && traced[0].value == 55 && strcmp(traced[0].text, "kworker/1:1") == 0);
	CHECK(strcmp(traced[1].text, "sixteen-letters-") == 0);
	CHECK(traced[2].value == 36 && strcmp(traced[2].text, "virtio1-req.0") == 0);
}

static void a_text_is_cut_and_never_read_from_beyond_its_record(void)
{
	begin(0);
	handles(1, 16, 47, "a-name-that-is-longer-than-there-is-room-for-it");
	handles(2, 60000, 20, "far away");
	handles(3, 16, 60000, "too long");
	take(64);
	CHECK(taken == 3);
	CHECK(strcmp(traced[0].text, "a-name-that-is-longer-than-ther") == 0);
	CHECK(strcmp(traced[1].text, "") == 0);
	CHECK(strcmp(traced[2].text, "too long") == 0);
}

static void a_payload_that_is_too_short_or_too_long_does_no_harm(void)
{
	unsigned char much[900] = { TIMER };

	begin(0);
	write_sample(1, 7, much, 4);
	write_sample(2, 7, much, sizeof(much));
	take(64);
	CHECK(taken == 2 && traced[0].point == 1 && traced[0].value == 0 && traced[1].raw_ns == 2);
}

static void a_page_fault_is_a_record_without_payload(void)
{
	begin(0);
	write_sample(5, 9, &(uint32_t){ 0 }, 4);
	take(64);
	CHECK(taken == 1 && traced[0].point == 0 && traced[0].tid == 9);
}

static void what_nobody_asked_for_is_marked(void)
{
	begin(0);
	write_sample(5, 9, &(struct payload){ .id = ABSENT }, 16);
	take(64);
	CHECK(taken == 1 && traced[0].point == TM_TRACE_UNKNOWN);
}

static void a_record_may_end_at_the_beginning_of_the_log(void)
{
	for (uint64_t at = LOG - 48; at <= LOG; at += 8) {
		begin(at);
		timer_expires(0x1122334455667788, 0x99aabbccddeeff00);
		take(64);
		CHECK(taken == 1 && traced[0].raw_ns == 0x1122334455667788);
		CHECK(traced[0].value == 0x99aabbccddeeff00);
	}
}

static void no_more_are_taken_than_there_is_room_for(void)
{
	begin(0);
	for (uint64_t i = 0; i < 5; i++)
		timer_expires(i, i);
	take(4);
	CHECK(taken == 3 && traced[2].raw_ns == 2);
	take(4);
	CHECK(taken == 2 && traced[0].raw_ns == 3);
	CHECK(tm_trace_read(&trace, traced, 1, &taken) == -EINVAL);
}

static void records_that_the_kernel_dropped_are_told_where_they_were(void)
{
	begin(0);
	timer_expires(10, 1);
	drops(20, 500);
	timer_expires(20, 2);
	take(64);
	CHECK(taken == 3 && traced[1].point == TM_TRACE_LOST && traced[1].value == 500);
	CHECK(traced[1].raw_ns == 20);
}

static void a_full_log_has_lost_something_though_the_kernel_did_not_say_so_yet(void)
{
	begin(0);
	while (page->data_head < LOG - 48)
		timer_expires(page->data_head, 1);
	take(64);
	CHECK(taken == 63 && traced[62].point == 1);
	take(64);
	CHECK(traced[taken - 1].point == TM_TRACE_LOST && traced[taken - 1].value == 1);
	CHECK(traced[taken - 1].raw_ns == traced[taken - 2].raw_ns);
	timer_expires(5000, 1);
	take(64);
	CHECK(taken == 1);
}

static void a_broken_log_is_an_error_and_no_endless_loop(void)
{
	begin(0);
	page->data_head = 8;
	CHECK(tm_trace_read(&trace, traced, 64, &taken) == -EBADMSG);
}

int main(void)
{
	RUN(a_record_tells_time_thread_and_number);
	RUN(texts_are_found_in_the_record_and_behind_it);
	RUN(a_text_is_cut_and_never_read_from_beyond_its_record);
	RUN(a_payload_that_is_too_short_or_too_long_does_no_harm);
	RUN(a_page_fault_is_a_record_without_payload);
	RUN(what_nobody_asked_for_is_marked);
	RUN(a_record_may_end_at_the_beginning_of_the_log);
	RUN(no_more_are_taken_than_there_is_room_for);
	RUN(records_that_the_kernel_dropped_are_told_where_they_were);
	RUN(a_full_log_has_lost_something_though_the_kernel_did_not_say_so_yet);
	RUN(a_broken_log_is_an_error_and_no_endless_loop);
	return 0;
}
