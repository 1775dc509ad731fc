/* switches.c: dates the context switches of the sampler's process, by a perf event of its own pid.
 *
 * The kernel writes a record at each switch. Nobody is woken by it, and nothing is read from the CPU that
 * is sampled. See perf_event_open(2) for the records.
 */
#define _GNU_SOURCE

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sampler.h"

#define LOG_BYTES 65536 /* 2,048 switches out and in again */

/* The records that are read here, with the sample_id that attributes below ask for. */
struct switch_record {
	struct perf_event_header header;
	uint64_t time_ns;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id;
	uint64_t lost;
	uint64_t time_ns;
};

union record {
	struct perf_event_header header;
	struct switch_record switched;
	struct lost_record lost;
};

static size_t map_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE) + LOG_BYTES;
}

int tm_switches_open(struct tm_sampler *sampler)
{
	struct tm_switch_log *log = &sampler->switches;
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.context_switch = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC_RAW,
		/* Nobody is to be woken, ever. */
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX,
	};
	void *pages;
	int fd;

	if (log->fd >= 0)
		return 0;
	fd = (int)syscall(SYS_perf_event_open, &attributes, sampler->pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	pages = mmap(NULL, map_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pages == MAP_FAILED) {
		int error = -errno;

		close(fd);
		return error;
	}
	*log = (struct tm_switch_log){ .fd = fd, .pages = pages };
	return 0;
}

void tm_switches_close(struct tm_switch_log *log)
{
	if (log->fd < 0)
		return;
	munmap(log->pages, map_bytes());
	close(log->fd);
	*log = (struct tm_switch_log){ .fd = -1 };
}

/* Copies a record out of the log, which may end in the middle of it and go on at its beginning. */
static void copy_record(const unsigned char *log, uint64_t at, union record *into)
{
	size_t bytes;

	for (size_t i = 0; i < sizeof(into->header); i++)
		((unsigned char *)into)[i] = log[(at + i) % LOG_BYTES];
	bytes = into->header.size < sizeof(*into) ? into->header.size : sizeof(*into);
	for (size_t i = sizeof(into->header); i < bytes; i++)
		((unsigned char *)into)[i] = log[(at + i) % LOG_BYTES];
}

int tm_switches(struct tm_sampler *sampler, struct tm_switch *into, size_t capacity, uint64_t *lost,
		size_t *result)
{
	struct tm_switch_log *log = &sampler->switches;
	struct perf_event_mmap_page *page = log->pages;
	uint64_t head, tail;

	*lost = 0;
	*result = 0;
	if (log->fd < 0)
		return -EBADF;

	/* The records must be whole here once the kernel's head says that they are there. */
	head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	tail = page->data_tail;
	while (tail != head && *result < capacity) {
		union record record = { 0 };

		copy_record((const unsigned char *)page + page->data_offset, tail, &record);
		tail += record.header.size;
		if (record.header.type == PERF_RECORD_LOST) {
			*lost += record.lost.lost;
			log->out_raw_ns = 0;
		} else if (record.header.type != PERF_RECORD_SWITCH) {
			continue;
		} else if (record.header.misc & PERF_RECORD_MISC_SWITCH_OUT) {
			log->out_raw_ns = (int64_t)record.switched.time_ns;
			/* It never waits for anything, so what it did not lose to another task it was forbidden. */
			log->stopped = !(record.header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
		} else if (log->out_raw_ns != 0) {
			into[(*result)++] = (struct tm_switch){
				log->out_raw_ns, (int64_t)record.switched.time_ns, log->stopped,
			};
			log->out_raw_ns = 0;
		}
	}
	/* The records must be copied before the kernel can have their room back. */
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
	return 0;
}
