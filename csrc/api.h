/* api.h: the whole surface to Python, declarations only.
 *
 * cffi reads the part between the two marks from this very file, so there is no second copy: plain C
 * without macros there. Every function returns 0 or -errno and puts its result last. The only unit is
 * cycles of the counter (TSC on x86-64, virtual counter on arm64), save in struct tm_clocks.
 */
#ifndef TM_API_H
#define TM_API_H

#include <stddef.h>
#include <stdint.h>

/* cdef begins */
enum {
	TM_BINS = 496,       /* of the logarithmic histogram: see tm_bin() */
	TM_EXCLUSIONS = 16,  /* kept in detail for a window; more are only counted */
	TM_RING_SLOTS = 262144, /* 4 MiB */
	TM_TRACE_TEXT = 32,  /* bytes of a traced text, with the zero at its end */
	TM_TRACE_RAW = 192,  /* bytes of a trace point's payload that are looked at */
};

enum tm_method { TM_GAP = 0, TM_LOOP = 1 };

/* How far a sampler has come. */
enum tm_state {
	TM_STARTING = 0,
	TM_RUNNING = 1,
	TM_ENDED = 2, /* tm_status.end says why */
};

enum tm_end {
	TM_END_NONE = 0,
	TM_END_TOLD = 1,      /* tm_stop() */
	TM_END_LEASE = 2,     /* nobody asked for its status for lease_cycles of its running time */
	TM_END_MOVED = 3,     /* it found itself on another CPU: that one was named by nobody */
	TM_END_COMPLETE = 4,  /* the loop method has taken its samples */
	TM_END_FAILED = 5,    /* a step of its start failed: stage and error say which and why */
	TM_END_KILLED = 6,    /* a signal ended it: error is its number */
	TM_END_ORPHAN = 7,    /* its parent was gone before it began */
	TM_END_JUMPED = 8,    /* its counter went back by more than the threshold (loop: at all), so that
			       * cycles before and after cannot be compared: the window ends before it */
};

/* Steps of the start that the kernel can refuse. */
enum tm_stage {
	TM_STAGE_NONE = 0,
	TM_STAGE_REGION = 1,   /* the shared memory was not what it must be: error is the exit code */
	TM_STAGE_PIN = 2,      /* sched_setaffinity */
	TM_STAGE_PRIORITY = 3, /* sched_setscheduler */
	TM_STAGE_COUNTER = 4,  /* it does not move */
};

/* What a sampler is told when it starts. */
struct tm_settings {
	int32_t cpu;      /* the kernel's number */
	int32_t method;   /* enum tm_method */
	int32_t priority; /* of SCHED_FIFO; 0 leaves the policy alone */
	uint64_t threshold_cycles;       /* a gap above it is an interruption; 0: find it */
	uint64_t threshold_floor_cycles; /* what is found is never below this; nor is the limit for the read after
					  * an interruption, which holds the time of booking it */
	uint64_t loop_size;              /* iterations of one sample of the loop method */
	uint64_t samples;                /* of one pass of the loop method; 0: without end */
	uint64_t lease_cycles;           /* of running time without tm_status() before it ends by itself */
};

/* A gap above the threshold; for the loop method every sample, whatever its length. */
struct tm_interruption {
	uint64_t start_cycles; /* the counter read before it */
	uint64_t gap_cycles;
};

enum tm_exclusion_code { TM_BACKWARDS = 1, TM_MOVED = 2 };

/* Something that is no interruption and must not be taken for one. */
struct tm_exclusion {
	uint64_t start_cycles; /* the last read before it */
	uint64_t cycles;       /* how far the counter went back, or how long the gap of the move was; 0 when
				* that is not known */
	int32_t code;          /* enum tm_exclusion_code */
	int32_t cpu;           /* where the sampler was found */
};

/* One stretch [start_cycles, end_cycles): exact, whatever became of the details. */
struct tm_window {
	uint64_t start_cycles;
	uint64_t end_cycles;
	uint64_t reads;         /* counter reads after start_cycles up to and with end_cycles; loop: samples */
	uint64_t interruptions; /* for the loop method: samples */
	uint64_t lost;          /* of them, without detail: the ring was full */
	uint64_t gap_sum_cycles;
	uint64_t min_cycles;    /* smallest gap of all reads (loop: smallest sample); UINT64_MAX when none */
	uint64_t max_cycles;    /* largest gap of all reads (loop: largest sample); 0 when none */
	uint64_t exclusions;    /* how many; the first TM_EXCLUSIONS of them, and a move, in detail */
	struct tm_exclusion exclusion[16 /* TM_EXCLUSIONS */];
	uint64_t counts[496 /* TM_BINS */]; /* of the interruptions' gaps, by tm_bin() */
};

struct tm_status {
	int32_t state;  /* enum tm_state */
	int32_t end;    /* enum tm_end */
	int32_t stage;  /* enum tm_stage */
	int32_t error;  /* errno of that stage, or the number of the signal that killed it */
	int32_t pid;
	int32_t locked; /* 1: its pages are locked in memory; 0: the kernel refused */
	uint64_t start_cycles;     /* the first read of the first window; 0 before it runs */
	uint64_t mark_cycles;      /* the newest published read: everything before it is visible */
	uint64_t threshold_cycles; /* in force; 0 for the loop method */
	uint64_t typical_cycles;   /* what a read typically took in the first moments */
	uint64_t step_cycles;      /* smallest step that the counter was seen to make: its resolution */
};

/* One moment on every clock, from the closest of several tries. */
struct tm_clocks {
	uint64_t cycles;
	uint64_t uncertain_cycles; /* each clock showed its time within so many cycles of this */
	int64_t monotonic_ns;    /* CLOCK_MONOTONIC at cycles */
	int64_t monotonic_raw_ns;
	int64_t realtime_ns;
};

/* The sampler's own process gave up its CPU from out on, until in. */
struct tm_switch {
	int64_t out_raw_ns; /* CLOCK_MONOTONIC_RAW */
	int64_t in_raw_ns;
	int64_t stopped; /* 1: it could not have run (a stop signal, a debugger); 0: another task ran instead */
};

/* One trace point of the kernel, and what of its payload is wanted, as tracefs describes it. */
struct tm_trace_point {
	uint32_t id;          /* the kernel's number of it, or TM_TRACE_FAULTS */
	uint32_t value_at;    /* where in the payload a number lies, and of how many bytes it is; 0: none */
	uint32_t value_bytes;
	uint32_t text_at;     /* where a text lies, or with text_far where its place is written */
	uint32_t text_bytes;  /* 0: none */
	int32_t text_far;     /* 1: __data_loc */
	int32_t error;        /* out: 0, or the -errno with which it could not be opened */
};

enum {
	TM_TRACE_FAULTS = 0,   /* page faults, which need no trace point */
	TM_TRACE_LOST = -1,    /* tm_traced.point: value records were dropped before this */
	TM_TRACE_UNKNOWN = -2, /* tm_traced.point: nobody asked for it */
};

/* One event of the kernel on the traced CPU. */
struct tm_traced {
	int64_t raw_ns;  /* CLOCK_MONOTONIC_RAW */
	uint64_t value;
	int32_t tid;     /* of the thread that ran, as this process would call it */
	int32_t task;    /* of the same thread, as the kernel calls it; 0 for page faults */
	int32_t point;   /* index of the trace point, or negative */
	char text[32 /* TM_TRACE_TEXT */];
};

struct tm_sampler;
struct tm_trace;

/* Starts the executable at path (absolute) as a process of its own and returns at once; it runs some
 * milliseconds later: see tm_status(). It dies with the *thread* that started it. */
int tm_start(const char *path, const struct tm_settings *settings, struct tm_sampler **result);

/* How it is, and the renewal of its lease. */
int tm_status(struct tm_sampler *sampler, struct tm_status *result);

/* Takes up to capacity interruptions out of the ring, oldest first. */
int tm_drain(struct tm_sampler *sampler, struct tm_interruption *into, size_t capacity, size_t *result);

/* Asks the sampler to end the current window at its next mark. -EAGAIN: it does not run yet; -EALREADY: the
 * last one is not taken. */
int tm_cut(struct tm_sampler *sampler);

/* The window that ended after tm_cut(), or, once, the last one of an ended sampler. -EAGAIN: not yet;
 * -ENODATA: never, it has ended, and one that was killed leaves no last window. Drain the ring afterwards:
 * every interruption of the window is in it by then. */
int tm_take(struct tm_sampler *sampler, struct tm_window *result);

/* Dates the sampler's context switches from now on, by a perf event on its own pid. -EACCES or another
 * errno: not permitted here. tm_stop() closes it. */
int tm_switches_open(struct tm_sampler *sampler);

/* The completed switches since the last call. lost: how many records the kernel dropped. An out without
 * its in stays inside until the in arrives. -EBADF: not open. */
int tm_switches(struct tm_sampler *sampler, struct tm_switch *into, size_t capacity, uint64_t *lost,
		size_t *result);

/* Ends the process, waits until it is gone, and frees everything, whatever state it is in. To have the
 * last window: tm_cut() and tm_take() before. -ETIMEDOUT: it was killed, but the kernel has not ended it
 * within two seconds; everything is freed nevertheless. */
int tm_stop(struct tm_sampler *sampler);

/* Has the kernel write down these events of one CPU from now on. Each point says whether it could be opened;
 * only when none could, that is an error, the first one's: -EACCES or -EPERM for lack of a right. Switching
 * trace points on and off patches the kernel's code, which interrupts every CPU. */
int tm_trace_open(int cpu, struct tm_trace_point *points, size_t count, struct tm_trace **result);

/* Takes up to capacity (at least 2) events, oldest first; fewer than capacity - 1: there are no more. A log
 * that was full counts as one record lost, since the kernel says how many only with its next record. */
int tm_trace_read(struct tm_trace *trace, struct tm_traced *into, size_t capacity, size_t *result);

/* Ends it and frees everything. */
int tm_trace_close(struct tm_trace *trace);

/* A descriptor of tracefs, mounted read-only where nobody else can see it: closing it is the end of the mount.
 * -EPERM: it needs CAP_SYS_ADMIN; -ENODEV: this kernel has none; -ENOSYS: this kernel is too old. */
int tm_tracefs_mount(int *result);

/* All clocks at one moment. */
int tm_read_clocks(struct tm_clocks *result);

/* The frequency that the hardware itself states (arm64's register, x86's CPUID leaf 15h); -ENOTSUP: it
 * states none. */
int tm_counter_hz(double *result);

/* The histogram's bin of a value: below 8 each value has its own, above there are eight to an octave. */
int tm_bin(uint64_t cycles);
/* cdef ends */

#endif
