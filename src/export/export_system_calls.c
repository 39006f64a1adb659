/* SPDX-License-Identifier: MIT */
#include "export/export_records.h"

#include "hosted/error_text.h"
#include "view/record_words.h"
#include "view/system_call_reader.h"

#include <errno.h>
#include <stdlib.h>

/* 0, what the receiver said, or -ENOMEM. */
static int emit(const struct export_job *job, size_t thread, const struct view_system_call *call,
                const struct export_system_call_receiver *receiver)
{
    char name[SYSTEM_CALL_NAME_BYTES];
    struct export_system_call told = {
        .thread = thread,
        .name = system_call_name(call->number, name),
        .begin_ns = view_trace_ns(job->trace, call->begin),
        .end_ns = view_trace_ns(job->trace, call->end),
        .has_returned = !(call->flags & DETAIL_SYSTEM_CALL_NEVER_RETURNED),
        .result = call->result,
    };
    char *text;
    int result;

    if (told.begin_ns < job->from_ns || told.begin_ns >= job->to_ns)
        return 0;
    text = system_call_words(call);
    if (text == NULL)
        return -ENOMEM;
    told.text = text;
    result = receiver->call(receiver->context, &told);
    free(text);
    return result;
}

int export_system_calls_read(const struct export_job *job, size_t thread,
                             const struct export_system_call_receiver *receiver, struct gait_error *err)
{
    const struct view_system_call *call;
    struct system_call_reader *reader = NULL;
    int result = system_call_reader_create(&reader, job->trace, thread);

    while (result == 0 && reader != NULL && (call = system_call_reader_peek(reader)) != NULL) {
        result = emit(job, thread, call, receiver);
        system_call_reader_pass(reader);
    }
    system_call_reader_destroy(reader);
    if (result == -ENOMEM)
        return error_set(err, ENOMEM, "cannot export the system calls of thread %u: there is no memory",
                         job->trace->threads[thread].tid);
    return result;
}

int export_system_calls_read_all(const struct export_job *job, const struct export_system_call_receiver *receiver,
                                 struct gait_error *err)
{
    int result = 0;

    for (size_t i = 0; i < job->thread_count + job->silent_count && result == 0; i++)
        result = export_system_calls_read(job, job->threads[i], receiver, err);
    return result;
}

int export_system_calls_behind(const struct export_job *job, int result,
                               const struct export_system_call_receiver *receiver, struct gait_error *err)
{
    int other;

    if (result > 0)
        return result;
    other = export_system_calls_read_all(job, receiver, result == 0 ? err : NULL);
    return result == 0 ? other : result;
}
