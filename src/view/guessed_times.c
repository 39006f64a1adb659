/* SPDX-License-Identifier: MIT */
/* The header of a thread's stream says it for all of its events, so that it is known before the first one is read. */
#include "view/guessed_times.h"

#include "gait/stalker.h"
#include "trace/stream_reader.h"

bool guessed_times_of_thread(const struct view_trace *trace, size_t thread)
{
    struct stream_reader reader;
    bool is_guessed;

    if (stream_reader_open(&reader, trace->files.folder, trace->threads[thread].pieces[0].path, NULL) != 0)
        return false;
    /* Hooked functions always have times, and so have details, where there is nothing else. */
    is_guessed = reader.header.kind == TRACE_STREAM_INDEX && reader.header.with_times == 0 &&
                 !(reader.header.events & (GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE));
    stream_reader_close(&reader);
    return is_guessed;
}

/* Details are measured, whatever else a thread has. */
static bool has_details(const struct view_trace *trace)
{
    for (size_t i = 0; i < trace->files.count; i++)
        if (trace->files.files[i].kind == TRACE_FILE_DETAIL)
            return true;
    return false;
}

static enum guessed_times judge(const struct view_trace *trace, size_t guessed, size_t count)
{
    if (guessed == 0)
        return GUESSED_TIMES_NONE;
    return guessed == count && !has_details(trace) ? GUESSED_TIMES_ALL : GUESSED_TIMES_SOME;
}

enum guessed_times guessed_times_of_threads(const struct view_trace *trace, const size_t *threads, size_t count)
{
    size_t guessed = 0;

    for (size_t i = 0; i < count; i++)
        guessed += guessed_times_of_thread(trace, threads[i]);
    return judge(trace, guessed, count);
}

enum guessed_times guessed_times_of_trace(const struct view_trace *trace)
{
    size_t guessed = 0;

    for (size_t i = 0; i < trace->thread_count; i++)
        guessed += guessed_times_of_thread(trace, i);
    return judge(trace, guessed, trace->thread_count);
}
