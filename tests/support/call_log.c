/* SPDX-License-Identifier: MIT */
#include "support/call_log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 2, 3))) static int put(struct call_log *log, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    log->used += (size_t)vsnprintf(log->text + log->used, sizeof(log->text) - log->used, format, values);
    va_end(values);
    return ++log->count == log->enough ? 1 : 0;
}

static int put_begin(void *context, const struct view_call *call)
{
    return put(context, "<%" PRIx64 "@%" PRIu64 "%s ", call->function, call->begin,
               call->flags & CALL_RESUMED ? " resumed" : "");
}

static int put_end(void *context, const struct view_call *call)
{
    char earlier[64] = "";

    if (call->earlier != 0)
        snprintf(earlier, sizeof(earlier), "+%" PRIu64 "/%" PRIu64, call->earlier, call->earlier_inner);
    return put(context, "%" PRIx64 "@%" PRIu64 "/%" PRIu64 "%s%s%s%s%s%s%s> ", call->function, call->end, call->inner,
               earlier, call->flags & CALL_GUESSED ? "~" : "", call->flags & CALL_CUT ? " cut" : "",
               call->flags & CALL_UNWOUND ? " unwound" : "", call->flags & CALL_NO_RETURN ? " no return" : "",
               call->flags & CALL_SUSPENDED ? " suspended" : "", call->flags & CALL_ENTRY_ONLY ? " entry only" : "");
}

static int put_never_resumed(void *context, const struct view_call *call)
{
    return put(context, "%" PRIx64 " never resumed ", call->function);
}

static int put_gap(void *context, uint64_t time, uint64_t lost_bytes)
{
    return put(context, "!%" PRIu64 "@%" PRIu64 " ", lost_bytes, time);
}

struct call_receiver call_log_receiver(struct call_log *log)
{
    *log = (struct call_log){.used = 0};
    return (struct call_receiver){put_begin, put_end, put_gap, log, put_never_resumed};
}

static void put_thread(struct call_log *log, size_t thread)
{
    (void)put(log, "%zu:", thread);
    log->count--;
}

static int merge_begin(void *context, size_t thread, const struct view_call *call)
{
    put_thread(context, thread);
    return put_begin(context, call);
}

static int merge_end(void *context, size_t thread, const struct view_call *call)
{
    put_thread(context, thread);
    return put_end(context, call);
}

static int merge_gap(void *context, size_t thread, uint64_t time, uint64_t lost_bytes)
{
    put_thread(context, thread);
    return put_gap(context, time, lost_bytes);
}

struct merged_receiver call_log_merged(struct call_log *log)
{
    *log = (struct call_log){.used = 0};
    return (struct merged_receiver){merge_begin, merge_end, merge_gap, log, 0};
}
