/* SPDX-License-Identifier: MIT */
/*
 * What a running recording and those who talk to it send each other, each as one packet of a Unix socket: a request, an
 * answer, and for requests that take some time, another answer when it is over. The socket is abstract, and named after
 * the process that records.
 */
#ifndef GAIT_RECORD_CONTROL_LAYOUT_H
#define GAIT_RECORD_CONTROL_LAYOUT_H

#include <stdint.h>

#define CONTROL_NAME         "gait-control-" /* then the recorder's pid */
#define CONTROL_MAGIC        0x6c746367u     /* "gctl" */
#define CONTROL_VERSION      3u
#define CONTROL_NOTE_BYTES   256u
#define CONTROL_TEXT_BYTES   4096u
#define CONTROL_LANES_MAX    64u
#define CONTROL_COUNTERS_MAX 64u

enum control_operation {
    CONTROL_STATS = 1,
    CONTROL_TRIGGER,
    CONTROL_DETACH, /* answered again when nothing of gait is in the process any more */
};

struct control_request {
    uint32_t magic;
    uint32_t version;
    uint32_t operation; /* enum control_operation */
    int32_t pid;        /* a process that is recorded */
    uint32_t note_bytes;
    char note[CONTROL_NOTE_BYTES]; /* of a trigger; not ended */
};

_Static_assert(sizeof(struct control_request) == 20 + CONTROL_NOTE_BYTES, "no gaps");

/* As enum ring_pressure, and one more: no thread has it. */
enum control_lane_state {
    CONTROL_LANE_FILLING,
    CONTROL_LANE_WAITING,
    CONTROL_LANE_DROPPING,
    CONTROL_LANE_FREE,
    CONTROL_LANE_STATES,
};

/* A lane of a thread that is followed. */
struct control_lane {
    int32_t pid;
    uint32_t tid;
    uint32_t is_detail;
    uint32_t state;        /* enum control_lane_state */
    uint32_t drop_reason;  /* enum ring_drop_reason */
    uint32_t full_percent; /* of its buffers */
    uint64_t wait_count;
    uint64_t waited_ns;
    uint64_t drop_count; /* how often it began to drop */
    uint64_t lost_bytes;
    char name[16]; /* of the thread; ended, unless it has 16 letters */
};

_Static_assert(sizeof(struct control_lane) == 72, "no gaps");

/* Of base/counters.def, of all processes. By name: what asks may be another gait. */
struct control_counter {
    uint64_t value;
    char name[32]; /* ended */
};

_Static_assert(sizeof(struct control_counter) == 40, "no gaps");

struct control_stats {
    uint64_t duration_ns;
    uint64_t written_bytes; /* of event records */
    uint64_t lost_bytes;
    uint64_t buffered_bytes; /* written, and not in files yet */
    uint64_t buffer_bytes;   /* that there is room for in the rings, of threads that are followed */
    uint64_t record_count;   /* of event records that were written */
    uint64_t file_bytes;     /* that they take in files, with what explains them */
    uint64_t wait_count;     /* how often threads waited for room in their buffers */
    uint64_t waited_ns;      /* and how long */
    uint32_t process_count;
    uint32_t thread_count;                     /* that are followed */
    uint32_t lane_counts[CONTROL_LANE_STATES]; /* how many lanes are in that state */
    uint32_t lane_count;                       /* of those that follow: the worst ones, if there are more */
    uint32_t counter_count;                    /* of those behind them: the ones that are not zero */
    struct control_lane lanes[CONTROL_LANES_MAX];
    struct control_counter counters[CONTROL_COUNTERS_MAX];
};

_Static_assert(sizeof(struct control_stats) == 104 + CONTROL_LANES_MAX * sizeof(struct control_lane) +
                                                   CONTROL_COUNTERS_MAX * sizeof(struct control_counter),
               "no gaps");

struct control_answer {
    uint32_t magic;
    uint32_t version;
    int32_t
        result; /* 0, or a negated errno number; -ESRCH: another recording's, if there is one; -EPERM: not for you */
    uint32_t is_last;
    struct control_stats stats;
    uint32_t text_bytes;
    char text[CONTROL_TEXT_BYTES]; /* where the trace is; what went wrong; not ended */
    uint32_t reserved;
};

_Static_assert(sizeof(struct control_answer) == 16 + sizeof(struct control_stats) + 8 + CONTROL_TEXT_BYTES, "no gaps");

#endif
