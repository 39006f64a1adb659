/* SPDX-License-Identifier: MIT */
/* One that has begun is kept until the thread's next one shows whether it came back. */
#include "view/system_call_reader.h"

#include "view/detail_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct system_call_reader {
    struct detail_reader *details;
    bool has_begun; /* `begun` is one that was begun, and not told yet */
    bool is_told;   /* `call` is the next one */
    bool has_gap;
    struct view_system_call call;
    _Alignas(8) uint8_t begun[DETAIL_RECORD_BYTES_MAX];
};

int system_call_reader_create(struct system_call_reader **reader_out, const struct view_trace *trace, size_t thread)
{
    struct system_call_reader *reader;
    struct detail_reader *details;
    int result = detail_reader_create(&details, trace, thread);

    if (result != 0)
        return result;
    *reader_out = NULL;
    if (details == NULL)
        return 0;
    reader = calloc(1, sizeof(*reader));
    if (reader == NULL) {
        detail_reader_destroy(details);
        return -ENOMEM;
    }
    reader->details = details;
    *reader_out = reader;
    return 0;
}

void system_call_reader_destroy(struct system_call_reader *reader)
{
    if (reader != NULL)
        detail_reader_destroy(reader->details);
    free(reader);
}

static struct view_system_call call_of_enter(const uint8_t *record)
{
    struct detail_system_call_enter enter;
    struct view_system_call call;

    memcpy(&enter, record, sizeof(enter));
    call = (struct view_system_call){
        .number = enter.record.function,
        .begin = enter.record.time,
        .end = enter.record.time,
        .flags = enter.flags | DETAIL_SYSTEM_CALL_NEVER_RETURNED,
        .values = detail_record_values(record),
    };
    memcpy(call.arguments, enter.arguments, sizeof(call.arguments));
    return call;
}

struct view_system_call view_system_call_of(const uint8_t *record)
{
    struct detail_system_call told;
    struct detail_record header;
    struct view_system_call call;

    memcpy(&header, record, sizeof(header));
    if (header.kind == DETAIL_SYSTEM_CALL_ENTER)
        return call_of_enter(record);
    memcpy(&told, record, sizeof(told));
    call = (struct view_system_call){
        .number = told.record.function,
        .begin = told.entered_time,
        .end = told.record.time < told.entered_time ? told.entered_time : told.record.time,
        .result = told.result,
        .flags = told.flags,
        .values = detail_record_values(record),
    };
    memcpy(call.arguments, told.arguments, sizeof(call.arguments));
    return call;
}

/* Whether the record is the end of what was begun. */
static bool ends_begun(const struct system_call_reader *reader, const struct detail_item *item)
{
    struct detail_system_call_enter enter;
    struct detail_system_call call;

    if (item->record.kind != DETAIL_SYSTEM_CALL)
        return false;
    memcpy(&enter, reader->begun, sizeof(enter));
    memcpy(&call, item->bytes, sizeof(call));
    return call.entered_time == enter.record.time && call.record.function == enter.record.function;
}

static const struct view_system_call *take_call(struct system_call_reader *reader, const uint8_t *record)
{
    reader->call = view_system_call_of(record);
    reader->call.is_behind_gap = reader->has_gap;
    reader->is_told = true;
    return &reader->call;
}

const struct view_system_call *system_call_reader_peek(struct system_call_reader *reader)
{
    const struct detail_item *item;

    if (reader->is_told)
        return &reader->call;
    while ((item = detail_reader_peek(reader->details)) != NULL) {
        bool is_begun = item->record.kind == DETAIL_SYSTEM_CALL_ENTER;

        reader->has_gap |= item->is_behind_gap;
        if (is_begun || item->record.kind == DETAIL_SYSTEM_CALL) {
            if (reader->has_begun && !ends_begun(reader, item))
                return take_call(reader, reader->begun);
            reader->has_begun = is_begun;
            if (!is_begun)
                return take_call(reader, item->bytes);
            memcpy(reader->begun, item->bytes, item->record.size_bytes);
        }
        detail_reader_pass(reader->details);
    }
    return reader->has_begun ? take_call(reader, reader->begun) : NULL;
}

void system_call_reader_pass(struct system_call_reader *reader)
{
    if (!reader->is_told)
        return;
    if (reader->has_begun)
        reader->has_begun = false;
    else
        detail_reader_pass(reader->details);
    reader->is_told = false;
    reader->has_gap = false;
}
