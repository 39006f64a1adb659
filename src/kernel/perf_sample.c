/* SPDX-License-Identifier: MIT */
/* Parts come in an order that the kernel's header fixes; a cursor steps over those that are there. */
#include "kernel/perf_sample.h"

#include <string.h>

struct sample_cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool is_short;
};

static uint64_t take(struct sample_cursor *cursor)
{
    uint64_t value;

    if ((size_t)(cursor->end - cursor->at) < sizeof(value)) {
        cursor->is_short = true;
        return 0;
    }
    memcpy(&value, cursor->at, sizeof(value));
    cursor->at += sizeof(value);
    return value;
}

/* That many bytes, where they are. */
static const uint8_t *take_bytes(struct sample_cursor *cursor, uint64_t count)
{
    const uint8_t *bytes = cursor->at;

    if (count > (uint64_t)(cursor->end - cursor->at)) {
        cursor->is_short = true;
        return NULL;
    }
    cursor->at += count;
    return bytes;
}

bool perf_sample_id(const struct perf_event_header *header, uint64_t *id_out)
{
    if (header->size < sizeof(*header) + sizeof(*id_out))
        return false;
    memcpy(id_out, header + 1, sizeof(*id_out));
    return true;
}

/* Samples have it in front, where what was asked for decides; all others at the end, before the id. */
bool perf_record_time(const struct perf_event_header *header, uint64_t *time_out)
{
    const uint8_t *bytes = (const uint8_t *)header;

    if (header->type == PERF_RECORD_SAMPLE)
        return false;
    if (header->size < sizeof(*header) + 3 * sizeof(uint64_t))
        return false;
    memcpy(time_out, bytes + header->size - 2 * sizeof(uint64_t), sizeof(*time_out));
    return true;
}

/* Frames are in pieces, each behind a mark that says where it is of. */
static void take_frames(struct sample_cursor *cursor, struct perf_sample *sample)
{
    uint64_t count = take(cursor);
    const uint64_t *frames = count > UINT16_MAX ? NULL : (const uint64_t *)(const void *)take_bytes(cursor, 8 * count);
    const uint64_t **piece = NULL;
    size_t *piece_count = NULL, none = 0;

    if (frames == NULL)
        return;
    for (uint64_t i = 0; i < count; i++) {
        bool is_kernel = frames[i] == (uint64_t)PERF_CONTEXT_KERNEL, is_user = frames[i] == (uint64_t)PERF_CONTEXT_USER;

        if (frames[i] >= (uint64_t)PERF_CONTEXT_MAX) {
            piece = is_kernel ? &sample->kernel_frames : is_user ? &sample->user_frames : NULL;
            piece_count = is_kernel ? &sample->kernel_frame_count : is_user ? &sample->user_frame_count : &none;
            if (piece != NULL) {
                *piece = frames + i + 1;
                *piece_count = 0;
            }
        } else if (piece_count != NULL) {
            (*piece_count)++;
        }
    }
}

static void take_raw(struct sample_cursor *cursor, struct perf_sample *sample)
{
    const uint8_t *size = take_bytes(cursor, sizeof(uint32_t));
    uint32_t raw_bytes;

    if (size == NULL)
        return;
    memcpy(&raw_bytes, size, sizeof(raw_bytes));
    sample->raw = take_bytes(cursor, raw_bytes);
    sample->raw_bytes = sample->raw == NULL ? 0 : raw_bytes;
}

/* None, if the thread has none: it is the kernel's own. */
static void take_registers(struct sample_cursor *cursor, uint64_t mask, struct perf_sample *sample)
{
    size_t count = (size_t)__builtin_popcountll(mask);

    if (take(cursor) == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    sample->registers = (const uint64_t *)(const void *)take_bytes(cursor, 8 * count);
    sample->register_count = sample->registers == NULL ? 0 : count;
}

/* Room of a fixed size, and how much of it is used, behind it. */
static void take_stack(struct sample_cursor *cursor, struct perf_sample *sample)
{
    uint64_t room = take(cursor), used;

    /* Where there was nothing to copy, there is no word about how much it was. */
    if (room == 0)
        return;
    sample->stack = take_bytes(cursor, room);
    used = take(cursor);
    sample->stack_bytes = sample->stack == NULL || used > room ? 0 : (size_t)used;
}

bool perf_sample_read(const struct perf_event_header *header, const struct perf_event_attr *attr,
                      struct perf_sample *sample_out)
{
    const uint8_t *bytes = (const uint8_t *)header;
    struct sample_cursor cursor = {bytes + sizeof(*header), bytes + header->size, false};
    struct perf_sample sample = {.id = take(&cursor)};
    uint64_t type = attr->sample_type, thread;

    if (type & PERF_SAMPLE_IP)
        sample.ip = take(&cursor);
    thread = take(&cursor);
    sample.pid = (uint32_t)thread;
    sample.tid = (uint32_t)(thread >> 32);
    sample.time = take(&cursor);
    if (type & PERF_SAMPLE_ADDR)
        sample.address = take(&cursor);
    if (type & PERF_SAMPLE_CALLCHAIN)
        take_frames(&cursor, &sample);
    if (type & PERF_SAMPLE_RAW)
        take_raw(&cursor, &sample);
    if (type & PERF_SAMPLE_REGS_USER)
        take_registers(&cursor, attr->sample_regs_user, &sample);
    if (type & PERF_SAMPLE_STACK_USER)
        take_stack(&cursor, &sample);
    if (type & PERF_SAMPLE_REGS_INTR)
        take_registers(&cursor, attr->sample_regs_intr, &sample);
    if (cursor.is_short)
        return false;
    *sample_out = sample;
    return true;
}
