/* SPDX-License-Identifier: MIT */
/*
 * The records of the detail lane: a call that is looked at closely, when it begins and when it ends, and the stack of
 * one; system calls; and probes that were passed. They follow each other, each begins with its size, which is stored
 * last, into memory that was zero: what is written so far ends at the first size that is 0. All of it is little-endian
 * and aligned to 8.
 */
#ifndef GAIT_RING_DETAIL_RECORD_H
#define GAIT_RING_DETAIL_RECORD_H

#include <stddef.h>
#include <stdint.h>

enum detail_record_kind {
    DETAIL_ENTER = 1,   /* struct detail_enter */
    DETAIL_LEAVE,       /* struct detail_leave: the function returned */
    DETAIL_LEFT,        /* the same: it was left in another way, by an exception or a long jump, some time before */
    DETAIL_STACK,       /* struct detail_stack: who called the function */
    DETAIL_SYSTEM_CALL, /* struct detail_system_call: one that is over */
    DETAIL_SYSTEM_CALL_ENTER, /* struct detail_system_call_enter: one that has just begun */
    DETAIL_PROBE,             /* struct detail_probe: one that was passed */
};

#define DETAIL_ARGUMENTS        6
#define DETAIL_STACK_BYTES_MAX  512u /* of the stack and of values, together */
#define DETAIL_STACK_FRAMES_MAX 64u
#define DETAIL_VALUES_BYTES_MAX 8192u /* of system calls and probes */

struct detail_record {
    uint32_t size_bytes; /* of this, with what follows it: a multiple of 8 */
    uint16_t kind;       /* enum detail_record_kind */
    uint16_t depth;      /* how many calls that are looked at have not ended: of this one's thread, without it */
    uint64_t time;       /* the counter */
    uint64_t function;   /* its address; the number of a system call; the address of a probe */
    uint64_t sp;         /* when it was entered: where the return address is; of others, what it was */
};

/*
 * Then stack_bytes of the stack, from sp on, and zeroes up to a multiple of 8; values_bytes of values (detail_value.h),
 * one for each argument that was declared, and zeroes up to a multiple of 8.
 */
struct detail_enter {
    struct detail_record record;
    uint64_t caller;                      /* where it returns to */
    uint64_t arguments[DETAIL_ARGUMENTS]; /* the registers in which there may be some */
    uint32_t stack_bytes;
    uint32_t values_bytes; /* 0 in the first version of the format */
};

/* If it is larger than this, a struct detail_leave_values follows. */
struct detail_leave {
    struct detail_record record;
    uint64_t entered_time; /* the counter */
    uint64_t value;        /* the register in which it may have returned one; of DETAIL_LEFT: 0 */
};

/* Then values_bytes of values: the result, and errno where it says more; and zeroes up to a multiple of 8. */
struct detail_leave_values {
    uint32_t values_bytes;
    uint32_t reserved;
};

enum detail_stack_flag {
    DETAIL_STACK_GOES_ON = 1, /* there were more frames than were asked for */
};

/* Then frame_count return addresses of 8 bytes: where the function returns to, where its caller does, and so on. */
struct detail_stack {
    struct detail_record record;
    uint32_t frame_count;
    uint32_t flags; /* of enum detail_stack_flag */
};

enum detail_system_call_flag {
    DETAIL_SYSTEM_CALL_NEVER_RETURNED = 1, /* it ended the thread or the program; `time` is when it was made */
    DETAIL_SYSTEM_CALL_INJECTED = 2,       /* an injection has answered it, not the kernel */
    DETAIL_SYSTEM_CALL_RESTARTED = 4,      /* a signal interrupted it, and it was made again */
    DETAIL_SYSTEM_CALL_BY_CHILD = 8,       /* a child made it that shares the thread's memory (vfork), whose pid is: */
    DETAIL_SYSTEM_CALL_DELAYED = 16,       /* an injection made it wait */
};

#define DETAIL_SYSTEM_CALL_CHILD_SHIFT 8 /* in the bits from here on */

/* If the first pointer among the values is this one, the buffer behind it has addresses: where the call was made, where
 * its function returns to, and so on. */
#define DETAIL_SYSTEM_CALL_STACK_AT UINT64_MAX

/*
 * The time is when it returned. Then values_bytes of values, those of arguments that point at something, by argument,
 * and zeroes up to a multiple of 8.
 */
struct detail_system_call {
    struct detail_record record;
    uint64_t entered_time; /* the counter */
    int64_t result;        /* as the kernel gives it: -4095 to -1 are errors */
    uint64_t arguments[DETAIL_ARGUMENTS];
    uint32_t flags; /* of enum detail_system_call_flag */
    uint32_t values_bytes;
};

/* The time is when it was made. Values as above, those that are known by then. */
struct detail_system_call_enter {
    struct detail_record record;
    uint64_t arguments[DETAIL_ARGUMENTS];
    uint32_t flags; /* as above */
    uint32_t values_bytes;
};

/* Then values_bytes of values, one for each argument, and zeroes up to a multiple of 8. */
struct detail_probe {
    struct detail_record record;
    uint64_t probe; /* which one: its place in the manifest's list */
    uint32_t values_bytes;
    uint32_t reserved;
};

#define DETAIL_ENTER_BYTES_MAX  (sizeof(struct detail_enter) + DETAIL_STACK_BYTES_MAX)
#define DETAIL_RECORD_BYTES_MAX (sizeof(struct detail_system_call) + DETAIL_VALUES_BYTES_MAX)

_Static_assert(sizeof(struct detail_enter) == 96 && sizeof(struct detail_leave) == 48 &&
                   sizeof(struct detail_stack) == 40,
               "as the specification says");
_Static_assert(sizeof(struct detail_system_call) == 104 && sizeof(struct detail_system_call_enter) == 88 &&
                   sizeof(struct detail_probe) == 48,
               "as the specification says");
_Static_assert(sizeof(struct detail_stack) + DETAIL_STACK_FRAMES_MAX * sizeof(uint64_t) <= DETAIL_RECORD_BYTES_MAX &&
                   DETAIL_ENTER_BYTES_MAX <= DETAIL_RECORD_BYTES_MAX,
               "the largest stack and the largest call fit");

/* The values of a record that was found good. */
struct detail_values {
    const uint8_t *bytes;
    uint32_t size_bytes;
};

/*
 * The size of the record at a place with so many bytes; 0: there is none. Looks once at each field: others may change
 * them.
 */
size_t detail_record_check(const uint8_t *place, size_t available);

/* The values of a record that was checked, and does not change any more; none have 0 bytes. */
struct detail_values detail_record_values(const uint8_t *place);

/* How many whole records there are from a place on. */
uint64_t detail_records_count(const uint8_t *place, size_t available);

/* Where the records that are written so far end: before `end`, before one that is not written, or what is none. */
const uint8_t *detail_records_end(const uint8_t *place, const uint8_t *end);

#endif
