/* SPDX-License-Identifier: MIT */
/*
 * Events of the kernel, in a trace: the folder "kernel". docs/trace_format.md is the specification; this is the same in
 * C.
 *
 *   kernel/sources.gait       a stream of definitions: what the numbers in events mean
 *   kernel/CPU.events.gait    a stream of struct kernel_record: what happened on that CPU, by time; its chunks are
 * packed (trace/kernel_packing.h)
 */
#ifndef GAIT_TRACE_KERNEL_LAYOUT_H
#define GAIT_TRACE_KERNEL_LAYOUT_H

#include <stdint.h>

#define KERNEL_FOLDER          "kernel"
#define KERNEL_SOURCES_NAME    "sources.gait"
#define KERNEL_EVENTS_SUFFIX   ".events.gait"

#define KERNEL_FIELD_NAME_SIZE 32u
#define KERNEL_FIELDS_MAX      64u
#define KERNEL_SOURCES_MAX     65535u

/* What a record of sources.gait says. Others are passed over by readers. */
enum kernel_definition_kind {
    KERNEL_DEFINES_SOURCE = 1, /* struct kernel_source_definition */
    KERNEL_DEFINES_THREAD,     /* struct kernel_thread_definition */
    KERNEL_DEFINES_FUNCTION,   /* struct kernel_function_definition */
    KERNEL_DEFINES_TOTAL,      /* struct kernel_total_definition */
};

/* What all of them begin with. */
struct kernel_definition {
    uint32_t size_bytes; /* of all of it: a multiple of 8 */
    uint32_t kind;
};

/*
 * What happens somewhere, with a number for it. Then field_count struct kernel_field, the spec, the name and the format
 * without NULs, and zeroes up to size_bytes.
 */
struct kernel_source_definition {
    struct kernel_definition definition;
    uint32_t id;           /* from 1 on */
    uint32_t raw_base;     /* how many bytes in front of what is recorded were left out; places count with them */
    uint32_t field_count;  /* at most KERNEL_FIELDS_MAX */
    uint32_t spec_bytes;   /* as it was asked for: "tracepoint:sched:sched_switch" */
    uint32_t name_bytes;   /* what to call it: "sched_switch" */
    uint32_t format_bytes; /* how the kernel would print it; may be none */
};

_Static_assert(sizeof(struct kernel_source_definition) == 32, "as the specification says");

enum kernel_field_type {
    KERNEL_FIELD_SIGNED = 1,
    KERNEL_FIELD_UNSIGNED,
    KERNEL_FIELD_HEX,         /* also pointers */
    KERNEL_FIELD_STRING,      /* characters up to a NUL or the end */
    KERNEL_FIELD_FAR_STRING,  /* a u32 says where: the place in the low half, how many bytes in the high one; 0: nowhere
                               */
    KERNEL_FIELD_FAR_BYTES,   /* the same with bytes */
    KERNEL_FIELD_NEAR_STRING, /* the same, but the place counts from behind the u32 */
    KERNEL_FIELD_KERNEL_CODE, /* an address in the kernel */
    KERNEL_FIELD_TYPES,
};

/* A part of what is recorded with an event. */
struct kernel_field {
    uint32_t offset;     /* of its first byte */
    uint32_t size_bytes; /* of one */
    uint32_t count;      /* how many there are, one behind the other */
    uint32_t type;       /* enum kernel_field_type */
    char name[KERNEL_FIELD_NAME_SIZE];
};

_Static_assert(sizeof(struct kernel_field) == 48, "as the specification says");

/* How a thread was called from some time on. */
struct kernel_thread_definition {
    struct kernel_definition definition;
    uint64_t time; /* the counter */
    uint32_t pid;
    uint32_t tid;
    char name[16]; /* not ended by a NUL if it is that long */
};

_Static_assert(sizeof(struct kernel_thread_definition) == 40, "as the specification says");

/* A function of the kernel that some stack is in. Then the name, and zeroes up to size_bytes. */
struct kernel_function_definition {
    struct kernel_definition definition;
    uint64_t start;
    uint64_t end;
    uint32_t name_bytes;
    uint32_t reserved;
};

_Static_assert(sizeof(struct kernel_function_definition) == 32, "as the specification says");

/* At the end: how often it happened, and how much of that could not be told. */
struct kernel_total_definition {
    struct kernel_definition definition;
    uint32_t id;
    uint32_t reserved;
    uint64_t event_count; /* recorded ones */
    uint64_t lost_count;  /* that did not fit into the kernel's ring */
};

_Static_assert(sizeof(struct kernel_total_definition) == 32, "as the specification says");

/*
 * An event. Then raw_bytes of fields, zeroes up to a multiple of 8, and the addresses of both stacks, u64 each, the
 * innermost first.
 */
struct kernel_record {
    uint16_t size_bytes; /* of all of it: a multiple of 8 */
    uint16_t source;     /* whose id it is */
    uint32_t pid;
    uint32_t tid;
    uint16_t raw_bytes;
    uint8_t kernel_frames;
    uint8_t user_frames;
    uint64_t time; /* the counter */
};

_Static_assert(sizeof(struct kernel_record) == 24, "as the specification says");

#define KERNEL_RECORD_BYTES_MAX 65528u
#define KERNEL_FRAMES_MAX       255u /* of a stack */
/* What fits into any record. */
#define KERNEL_RAW_BYTES_MAX                                                                                           \
    (KERNEL_RECORD_BYTES_MAX - (uint32_t)sizeof(struct kernel_record) - 2u * 8u * KERNEL_FRAMES_MAX)

#endif
