/* SPDX-License-Identifier: MIT */
/*
 * Values of arguments and results whose types are known, one behind the other in a detail record: each begins with four
 * bytes that say what it is and how long. Nothing is aligned. No locks, no system calls, no libc; usable anywhere.
 */
#ifndef GAIT_RING_DETAIL_VALUE_H
#define GAIT_RING_DETAIL_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Part of traces: numbers stay what they are. */
enum detail_type {
    DETAIL_TYPE_SKIPPED, /* it is not wanted */
    DETAIL_TYPE_I8,
    DETAIL_TYPE_I16,
    DETAIL_TYPE_I32,
    DETAIL_TYPE_I64,
    DETAIL_TYPE_U8,
    DETAIL_TYPE_U16,
    DETAIL_TYPE_U32,
    DETAIL_TYPE_U64,
    DETAIL_TYPE_HEX,
    DETAIL_TYPE_POINTER,
    DETAIL_TYPE_STRING, /* as long as it is, without its NUL */
    DETAIL_TYPE_BUFFER,
    DETAIL_TYPE_CHARACTER,
    DETAIL_TYPE_TRUTH,
    DETAIL_TYPE_FLOAT,
    DETAIL_TYPE_DOUBLE,
    DETAIL_TYPE_DESCRIPTOR, /* of a file */
    DETAIL_TYPE_ERRNO,      /* behind the result of a call that failed */
    DETAIL_TYPES,
};

enum detail_value_flag {
    DETAIL_VALUE_CLIPPED = 1,    /* there was more of it */
    DETAIL_VALUE_UNREADABLE = 2, /* it was not to be had; of strings and buffers, the data are their address */
    DETAIL_VALUE_LEFT_OUT = 4,   /* the record was full; no data */
};

struct detail_value {
    uint8_t type;  /* enum detail_type */
    uint8_t flags; /* of enum detail_value_flag */
    uint16_t data_bytes;
};

_Static_assert(sizeof(struct detail_value) == 4, "as the specification says");

/* How many bytes the data of such a value have; 0: that differs, or it is no type. */
uint32_t detail_type_bytes(uint32_t type);

/* Where values are written to. */
struct detail_value_writer {
    uint8_t *bytes;
    uint32_t room;
    uint32_t used;
    uint32_t reserved; /* for the beginnings of values that are still to come */
};

/* So that at least so many values can be recorded, if only that they are left out. */
void detail_value_writer_init(struct detail_value_writer *writer, void *bytes, uint32_t room, uint32_t count);

/* How many bytes of data the next value can have. */
uint32_t detail_value_room(const struct detail_value_writer *writer);

/* Where the data of the next value go, for who writes them there before it is put. */
uint8_t *detail_value_place(const struct detail_value_writer *writer);

/* Adds a value; where there is no room, that it is left out. data may be what detail_value_place gives. */
void detail_value_put(struct detail_value_writer *writer, struct detail_value value, const void *data);

/*
 * The value at *at_inout, which goes on to the next; false: there is none, or what stands there is none. The data are
 * within the bytes, and those of types with a fixed size have it, or none at all.
 */
bool detail_value_next(const uint8_t *bytes, size_t size_bytes, size_t *at_inout, struct detail_value *value_out,
                       const uint8_t **data_out);

#endif
