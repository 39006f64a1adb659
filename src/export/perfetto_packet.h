/* SPDX-License-Identifier: MIT */
/*
 * The packets of Perfetto's format: numbers of fields, and what all who write packets do. Numbers are those of
 * Perfetto's protos/perfetto/trace; tests/export/perfetto.proto has those that are used here.
 */
#ifndef GAIT_EXPORT_PERFETTO_PACKET_H
#define GAIT_EXPORT_PERFETTO_PACKET_H

#include "export/export_text.h"
#include "export/protobuf_writer.h"

#include <errno.h>

#define PERFETTO_FLUSH_BYTES 65536u
#define PERFETTO_TEXT_BYTES  1024u

#define TRACE_PACKET         1u

enum packet_field {
    PACKET_FTRACE = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60,
    PACKET_SAMPLE = 66,
    PACKET_IS_FIRST = 87,
};
enum packet_flag { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum defaults_field { DEFAULTS_TRACK_EVENT = 11 };
enum track_field { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4 };
enum process_field { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum thread_field { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum event_field { EVENT_CATEGORY = 3, EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_NAME = 10, EVENT_TRACK = 11 };
enum event_text_field { EVENT_CATEGORY_TEXT = 22, EVENT_TEXT = 23, EVENT_SOURCE = 34 };
enum event_type { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };
enum interned_field {
    INTERNED_CATEGORY = 1,
    INTERNED_NAME = 2,
    INTERNED_SOURCE = 4,
    INTERNED_FUNCTION = 5,
    INTERNED_FRAME = 6,
    INTERNED_STACK = 7,
    INTERNED_PATH = 17,
    INTERNED_MAPPING = 19,
};
enum entry_field { ENTRY_NUMBER = 1, ENTRY_NAME = 2 };
enum source_field { SOURCE_NUMBER = 1, SOURCE_FILE = 2, SOURCE_FUNCTION = 3, SOURCE_LINE = 4 };
enum annotation_field { ANNOTATION_NUMBER = 3, ANNOTATION_SIGNED = 4, ANNOTATION_TEXT = 6, ANNOTATION_NAME = 10 };
enum ftrace_field { FTRACE_CPU = 1, FTRACE_EVENT = 2 };
enum ftrace_event_field {
    FTRACE_TIMESTAMP = 1,
    FTRACE_PID = 2,
    FTRACE_SWITCH = 4,
    FTRACE_WAKEUP = 17,
    FTRACE_WAKING = 20,
};
enum switch_field {
    SWITCH_PREV_NAME = 1,
    SWITCH_PREV_TID = 2,
    SWITCH_PREV_PRIORITY = 3,
    SWITCH_PREV_STATE = 4,
    SWITCH_NEXT_NAME = 5,
    SWITCH_NEXT_TID = 6,
    SWITCH_NEXT_PRIORITY = 7,
};
enum wakeup_field { WAKEUP_NAME = 1, WAKEUP_TID = 2, WAKEUP_PRIORITY = 3, WAKEUP_SUCCESS = 4, WAKEUP_CPU = 5 };
enum sample_field { SAMPLE_CPU = 1, SAMPLE_PID = 2, SAMPLE_TID = 3, SAMPLE_STACK = 4, SAMPLE_MODE = 5 };
enum sample_mode { MODE_KERNEL = 1, MODE_USER = 2 };
enum mapping_field { MAPPING_NUMBER = 1, MAPPING_OFFSET = 3, MAPPING_START = 4, MAPPING_END = 5, MAPPING_PATH = 7 };
enum frame_field { FRAME_NUMBER = 1, FRAME_FUNCTION = 2, FRAME_MAPPING = 3, FRAME_PLACE = 4 };
enum stack_field { STACK_NUMBER = 1, STACK_FRAME = 2 };

/* 0; -ENOMEM; 1: the stream takes no more. */
static inline int perfetto_end_packet(struct protobuf_writer *writer, size_t packet, FILE *stream)
{
    protobuf_end_message(writer, packet);
    if (writer->has_failed)
        return -ENOMEM;
    if (writer->used < PERFETTO_FLUSH_BYTES)
        return 0;
    if (protobuf_writer_flush(writer, stream) != 0)
        return -ENOMEM;
    return ferror(stream) != 0;
}

static inline void perfetto_put_clean(struct protobuf_writer *writer, uint32_t field, const char *text)
{
    char clean[PERFETTO_TEXT_BYTES];

    protobuf_put_bytes(writer, field, clean, export_text_clean(clean, sizeof(clean), text));
}

/* What is written with an event, in its message. */
static inline void perfetto_annotate(struct protobuf_writer *writer, const char *name, const char *text)
{
    size_t annotation = protobuf_begin_message(writer, EVENT_ANNOTATION);

    protobuf_put_text(writer, ANNOTATION_NAME, name);
    perfetto_put_clean(writer, ANNOTATION_TEXT, text);
    protobuf_end_message(writer, annotation);
}

#endif
