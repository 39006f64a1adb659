/* SPDX-License-Identifier: MIT */
/*
 * Writing messages in the encoding of protocol buffers: fields by number, into memory that grows. Messages inside of
 * others are begun and ended. Without memory it stays failed, which is looked at once. One thread at a time.
 */
#ifndef GAIT_EXPORT_PROTOBUF_WRITER_H
#define GAIT_EXPORT_PROTOBUF_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct protobuf_writer {
    uint8_t *bytes;
    size_t used;
    size_t capacity;
    bool has_failed; /* there was no memory: nothing of it is good */
};

/* Takes no memory yet. */
void protobuf_writer_init(struct protobuf_writer *writer);
void protobuf_writer_deinit(struct protobuf_writer *writer);

/* uint32, uint64, int64 that is not negative, bool, enum */
void protobuf_put_number(struct protobuf_writer *writer, uint32_t field, uint64_t value);
/* sint64: small numbers of either sign are short. */
/* string, bytes; strings are to be UTF-8 */
void protobuf_put_bytes(struct protobuf_writer *writer, uint32_t field, const void *bytes, size_t size_bytes);
void protobuf_put_text(struct protobuf_writer *writer, uint32_t field, const char *text);

/* The fields up to the end belong to a message that is a field itself. Returns what the end wants. */
size_t protobuf_begin_message(struct protobuf_writer *writer, uint32_t field);
void protobuf_end_message(struct protobuf_writer *writer, size_t begun);

/* Numbers of a packed field: begun and ended as a message, a number each between. */
void protobuf_put_packed(struct protobuf_writer *writer, uint64_t value);

/* Writes all that there is to the stream, and begins anew. -ENOMEM: there was no memory. */
int protobuf_writer_flush(struct protobuf_writer *writer, FILE *stream);

#endif
