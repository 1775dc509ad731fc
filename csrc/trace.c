/* trace.c: what the kernel does on one CPU, by perf events of its trace points.
 *
 * All of them write into one log in memory. Nobody is woken by it, and nothing is read from the CPU that is
 * sampled. See perf_event_open(2) for the records, and Documentation/trace/events.rst for their payload.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "api.h"

#define LOG_BYTES_MOST ((uint64_t)16 << 20) /* 140,000 records: 0.7 s of 200,000 a second */
#define LOG_BYTES_LEAST ((uint64_t)512 << 10)

/* A log with less room than this may have dropped a record, which is told only by the next one. */
#define ROOM_BYTES 512

/* fsopen(2) and its kin are younger than the headers of some build machines. */
#define FS_CLOEXEC 1u
#define FS_CREATE 6u
#define MOUNT_READ_ONLY 1u

struct tm_trace {
	void *pages;
	uint64_t log_bytes;
	int64_t last_raw_ns;
	bool full; /* it was when last looked at, and that has not been told */
	const struct tm_trace_point *points;
	size_t count;
	int fds[];
};

/* The records that are read here, with the sample_type and sample_id that the attributes below ask for. */
struct sample_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t raw_bytes;
	unsigned char raw[TM_TRACE_RAW];
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id;
	uint64_t lost;
	uint32_t pid, tid;
	uint64_t time_ns;
};

union record {
	struct perf_event_header header;
	struct sample_record sample;
	struct lost_record lost;
};

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static int open_event(int cpu, uint32_t id)
{
	struct perf_event_attr attributes = {
		.type = id == TM_TRACE_FAULTS ? PERF_TYPE_SOFTWARE : PERF_TYPE_TRACEPOINT,
		.size = sizeof(attributes),
		.config = id == TM_TRACE_FAULTS ? PERF_COUNT_SW_PAGE_FAULTS : id,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		.sample_period = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC_RAW,
		/* Nobody is to be woken: the kernel makes it once for each log that was filled. */
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* The log of the event fd: as large as the kernel permits. */
static int map_log(int fd, struct tm_trace *trace)
{
	for (uint64_t bytes = LOG_BYTES_MOST; bytes >= LOG_BYTES_LEAST; bytes /= 2) {
		void *pages = mmap(NULL, page_bytes() + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (pages != MAP_FAILED) {
			trace->pages = pages;
			trace->log_bytes = bytes;
			return 0;
		}
		/* EPERM: more than this user may lock in memory. */
		if (errno != EPERM && errno != ENOMEM)
			break;
	}
	return -errno;
}

int tm_trace_open(int cpu, struct tm_trace_point *points, size_t count, struct tm_trace **result)
{
	struct tm_trace *trace = calloc(1, sizeof(*trace) + count * sizeof(trace->fds[0]));
	struct tm_trace_point *copies = calloc(count, sizeof(*copies));
	int error = trace == NULL || copies == NULL ? -ENOMEM : -ENOENT;

	if (error == -ENOMEM) {
		free(trace);
		free(copies);
		return error;
	}
	memcpy(copies, points, count * sizeof(*copies));
	trace->points = copies;
	for (size_t i = 0; i < count; i++) {
		int fd = open_event(cpu, points[i].id), first = -1;

		if (fd >= 0) {
			for (size_t j = 0; j < trace->count && first < 0; j++)
				first = trace->fds[j];
			points[i].error = 0;
			if (first < 0)
				points[i].error = map_log(fd, trace);
			else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, first) != 0)
				points[i].error = -errno;
			if (points[i].error != 0) {
				close(fd);
				fd = -1;
			}
		} else {
			points[i].error = fd;
			fd = -1;
		}
		trace->fds[trace->count++] = fd;
		/* One that works is enough; else the first reason. */
		if (points[i].error == 0)
			error = 0;
		else if (error == -ENOENT)
			error = points[i].error;
	}
	if (error != 0) {
		tm_trace_close(trace);
		return error;
	}
	*result = trace;
	return 0;
}

int tm_trace_close(struct tm_trace *trace)
{
	if (trace->pages != NULL)
		munmap(trace->pages, page_bytes() + trace->log_bytes);
	for (size_t i = 0; i < trace->count; i++)
		if (trace->fds[i] >= 0)
			close(trace->fds[i]);
	free((void *)trace->points);
	free(trace);
	return 0;
}

/* Copies a record out of the log, which may end in the middle of it and go on at its beginning. */
static void copy_record(const struct tm_trace *trace, uint64_t at, union record *into)
{
	const unsigned char *log =
		(const unsigned char *)trace->pages + ((struct perf_event_mmap_page *)trace->pages)->data_offset;
	/* Records are multiples of eight bytes, so a header never lies across the end. */
	const struct perf_event_header *header = (const void *)(log + at % trace->log_bytes);
	uint64_t bytes = header->size < sizeof(*into) ? header->size : sizeof(*into);
	uint64_t before_end = trace->log_bytes - at % trace->log_bytes;

	if (before_end > bytes)
		before_end = bytes;
	memcpy(into, header, before_end);
	memcpy((unsigned char *)into + before_end, log, bytes - before_end);
}

/* The unsigned number of so many bytes in a payload; 0 when it does not lie within. */
static uint64_t number_at(const unsigned char *raw, uint32_t raw_bytes, uint32_t at, uint32_t bytes)
{
	uint64_t number = 0;

	if (bytes > sizeof(number) || at > raw_bytes || bytes > raw_bytes - at)
		return 0;
	/* Both architectures that are known here are little-endian. */
	memcpy(&number, raw + at, bytes);
	return number;
}

static void read_sample(const struct tm_trace *trace, const struct sample_record *sample, struct tm_traced *into)
{
	uint32_t fit = (uint32_t)(sample->header.size < sizeof(*sample) ? sample->header.size : sizeof(*sample)) -
		       (uint32_t)offsetof(struct sample_record, raw);
	uint32_t raw_bytes = sample->raw_bytes < fit ? sample->raw_bytes : fit;
	/* Every trace point's payload begins with its number; a page fault's is empty. */
	uint32_t id = (uint32_t)number_at(sample->raw, raw_bytes, 0, 2);

	*into = (struct tm_traced){
		.raw_ns = (int64_t)sample->time_ns,
		.tid = (int32_t)sample->tid,
		.task = (int32_t)number_at(sample->raw, raw_bytes, 4, 4),
		.point = TM_TRACE_UNKNOWN,
	};
	for (size_t i = 0; i < trace->count; i++) {
		const struct tm_trace_point *point = &trace->points[i];
		uint32_t at = point->text_at, bytes = point->text_bytes;

		if (point->id != id)
			continue;
		into->point = (int32_t)i;
		into->value = number_at(sample->raw, raw_bytes, point->value_at, point->value_bytes);
		if (point->text_far) {
			/* __data_loc: where the text lies, and how long it is. */
			uint32_t place = (uint32_t)number_at(sample->raw, raw_bytes, at, 4);

			at = place & 0xffff;
			bytes = place >> 16;
		}
		if (bytes > TM_TRACE_TEXT - 1)
			bytes = TM_TRACE_TEXT - 1;
		if (at < raw_bytes)
			memcpy(into->text, sample->raw + at, bytes < raw_bytes - at ? bytes : raw_bytes - at);
		return;
	}
}

int tm_trace_read(struct tm_trace *trace, struct tm_traced *into, size_t capacity, size_t *result)
{
	struct perf_event_mmap_page *page = trace->pages;
	/* The records must be whole here once the kernel's head says that they are there. */
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail;

	*result = 0;
	if (capacity < 2)
		return -EINVAL;
	trace->full = trace->full || head - tail > trace->log_bytes - ROOM_BYTES;
	while (tail != head && *result < capacity - 1) {
		union record record = { 0 };

		copy_record(trace, tail, &record);
		if (record.header.size < sizeof(record.header))
			return -EBADMSG;
		tail += record.header.size;
		if (record.header.type == PERF_RECORD_LOST)
			into[*result] = (struct tm_traced){
				.raw_ns = (int64_t)record.lost.time_ns,
				.value = record.lost.lost,
				.point = TM_TRACE_LOST,
			};
		else if (record.header.type == PERF_RECORD_SAMPLE &&
			 record.header.size >= offsetof(struct sample_record, raw))
			read_sample(trace, &record.sample, &into[*result]);
		else
			continue;
		trace->last_raw_ns = into[*result].raw_ns;
		++*result;
	}
	/* What was dropped at the end is told by the next record, which may belong to another window. */
	if (trace->full && tail == head) {
		trace->full = false;
		into[(*result)++] = (struct tm_traced){
			.raw_ns = trace->last_raw_ns,
			.value = 1,
			.point = TM_TRACE_LOST,
		};
	}
	/* The records must be copied before the kernel can have their room back. */
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
	return 0;
}

int tm_tracefs_mount(int *result)
{
#ifdef SYS_fsopen
	int context = (int)syscall(SYS_fsopen, "tracefs", FS_CLOEXEC), fd = -1, error;

	if (context < 0)
		return -errno;
	if (syscall(SYS_fsconfig, context, FS_CREATE, NULL, NULL, 0) == 0)
		fd = (int)syscall(SYS_fsmount, context, FS_CLOEXEC, MOUNT_READ_ONLY);
	error = fd < 0 ? -errno : 0;
	close(context);
	if (error == 0)
		*result = fd;
	return error;
#else
	(void)result;
	return -ENOSYS;
#endif
}
