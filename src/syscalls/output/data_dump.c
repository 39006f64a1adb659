/* SPDX-License-Identifier: MIT */
/* Which argument has the data is in the table of system calls: the first buffer, vectors or message. Stateless. */
#include "syscalls/output/data_dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES  16u
#define VECTORS_MAX 1024u
#define CALLS_BYTES 16

/* Calls whose data has to do with their first argument. */
static const char reading[][CALLS_BYTES] = {"read",    "pread64",  "readv",   "preadv",
                                            "preadv2", "recvfrom", "recvmsg", "mq_timedreceive"};
static const char writing[][CALLS_BYTES] = {"write",  "pwrite64", "writev",   "pwritev",     "pwritev2",
                                            "sendto", "sendmsg",  "vmsplice", "mq_timedsend"};

struct message {
    uint64_t name;
    uint64_t name_bytes;
    uint64_t vectors;
    uint64_t vector_count;
};

int data_dump_set_parse(const char *text, struct data_dump_set *set_out)
{
    struct data_dump_set set = {.has_others = false};
    bool is_inverted = text[0] == '!';

    text += is_inverted;
    for (;; text++) {
        char *end;
        unsigned long fd = strtoul(text, &end, 10);
        size_t length = strcspn(text, ",");

        if (length == 3 && memcmp(text, "all", 3) == 0) {
            memset(set.bits, 0xff, sizeof(set.bits));
            set.has_others = true;
        } else if (length > 0 && *text >= '0' && *text <= '9' && end == text + length && fd < DATA_DUMP_FDS) {
            set.bits[fd / 64] |= 1ull << fd % 64;
        } else if (length != 4 || memcmp(text, "none", 4) != 0) {
            return -EINVAL;
        }
        text += length;
        if (*text == '\0')
            break;
    }
    for (size_t i = 0; is_inverted && i < DATA_DUMP_FDS / 64; i++)
        set.bits[i] = ~set.bits[i];
    set.has_others = set.has_others != is_inverted;
    *set_out = set;
    return 0;
}

static bool has_fd(const struct data_dump_set *set, uint64_t fd)
{
    return (uint32_t)fd < DATA_DUMP_FDS ? (set->bits[fd / 64] >> fd % 64 & 1) != 0 : set->has_others;
}

static bool is_one_of(const char (*names)[CALLS_BYTES], size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool read_memory(const struct system_call_event *event, uint64_t address, void *bytes_out, size_t size_bytes)
{
    return event->memory != NULL &&
           event->memory->read(event->memory->context, address, bytes_out, size_bytes) == size_bytes;
}

static void put_line(FILE *stream, uint64_t offset, const unsigned char *bytes, size_t count)
{
    fprintf(stream, " | %05lx ", (unsigned long)offset);
    for (size_t i = 0; i < LINE_BYTES; i++) {
        fputs(i == LINE_BYTES / 2 ? "  " : " ", stream);
        if (i < count)
            fprintf(stream, "%02x", bytes[i]);
        else
            fputs("  ", stream);
    }
    fputs("  ", stream);
    for (size_t i = 0; i < LINE_BYTES; i++)
        fputc(i >= count ? ' ' : bytes[i] >= ' ' && bytes[i] < 0x7f ? bytes[i] : '.', stream);
    fputs(" |\n", stream);
}

static void put_bytes(FILE *stream, const struct system_call_event *event, uint64_t address, uint64_t size_bytes)
{
    unsigned char line[LINE_BYTES];

    for (uint64_t at = 0; at < size_bytes; at += LINE_BYTES) {
        size_t count = size_bytes - at < LINE_BYTES ? (size_t)(size_bytes - at) : LINE_BYTES;

        if (!read_memory(event, address + at, line, count))
            return;
        put_line(stream, at, line, count);
    }
}

/* As much of each buffer as was read or written. */
static void put_vectors(FILE *stream, const struct system_call_event *event, uint64_t address, uint64_t count)
{
    uint64_t left = (uint64_t)event->result, vector[2];

    for (uint64_t i = 0; i < count && i < VECTORS_MAX && left != 0; i++) {
        uint64_t size_bytes;

        if (!read_memory(event, address + i * sizeof(vector), vector, sizeof(vector)))
            return;
        size_bytes = vector[1] < left ? vector[1] : left;
        if (size_bytes == 0)
            continue;
        fprintf(stream, " * %lu bytes in buffer %lu\n", (unsigned long)size_bytes, (unsigned long)i);
        put_bytes(stream, event, vector[0], size_bytes);
        left -= size_bytes;
    }
}

static void put_data(FILE *stream, const struct system_call_event *event, const struct system_call_signature *call)
{
    struct message message;

    for (unsigned i = 1; i < call->argument_count; i++) {
        switch (call->arguments[i].kind) {
        case SYSTEM_CALL_BYTES:
            put_bytes(stream, event, event->arguments[i], (uint64_t)event->result);
            return;
        case SYSTEM_CALL_IOVEC:
            put_vectors(stream, event, event->arguments[i], event->arguments[i + 1]);
            return;
        case SYSTEM_CALL_STRUCT:
            if (read_memory(event, event->arguments[i], &message, sizeof(message)))
                put_vectors(stream, event, message.vectors, message.vector_count);
            return;
        default:
            break;
        }
    }
}

void data_dump_put(const struct data_dump_sets *sets, FILE *stream, const struct system_call_event *event)
{
    const struct system_call_signature *call = system_call_by_number(event->number);

    if (call == NULL || event->kind != SYSTEM_CALL_LEFT || event->result <= 0 ||
        (event->flags & SYSTEM_CALL_NEVER_RETURNS) != 0)
        return;
    if ((has_fd(&sets->read, event->arguments[0]) &&
         is_one_of(reading, sizeof(reading) / sizeof(reading[0]), call->name)) ||
        (has_fd(&sets->written, event->arguments[0]) &&
         is_one_of(writing, sizeof(writing) / sizeof(writing[0]), call->name)))
        put_data(stream, event, call);
}
