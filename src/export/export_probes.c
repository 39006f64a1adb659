/* SPDX-License-Identifier: MIT */
#include "export/export_records.h"

#include "hosted/error_text.h"
#include "trace/detail_text.h"
#include "view/detail_reader.h"
#include "view/record_words.h"

#include <errno.h>
#include <string.h>

#define NAME_BYTES 600

static int emit(const struct export_job *job, size_t thread, const struct detail_item *item,
                const struct export_probe_receiver *receiver)
{
    struct export_probe told = {.thread = thread, .time_ns = view_trace_ns(job->trace, item->record.time)};
    char name[NAME_BYTES], arguments[DETAIL_TEXT_BYTES];
    struct detail_probe probe;
    struct detail_text text;

    if (told.time_ns < job->from_ns || told.time_ns >= job->to_ns)
        return 0;
    memcpy(&probe, item->bytes, sizeof(probe));
    probe_names_put(job->trace, job->trace->threads[thread].process, probe.probe, name, sizeof(name));
    detail_text_init(&text, arguments, sizeof(arguments));
    probe_text_put_arguments(&text, detail_record_values(item->bytes));
    told.name = name;
    told.arguments = arguments;
    return receiver->probe(receiver->context, &told);
}

int export_probes_read(const struct export_job *job, size_t thread, const struct export_probe_receiver *receiver,
                       struct gait_error *err)
{
    const struct detail_item *item;
    struct detail_reader *reader = NULL;
    int result = detail_reader_create(&reader, job->trace, thread);

    if (result != 0)
        return error_set(err, ENOMEM, "cannot export the probes of thread %u: there is no memory",
                         job->trace->threads[thread].tid);
    while (result == 0 && reader != NULL && (item = detail_reader_peek(reader)) != NULL) {
        if (item->record.kind == DETAIL_PROBE)
            result = emit(job, thread, item, receiver);
        detail_reader_pass(reader);
    }
    detail_reader_destroy(reader);
    return result;
}

int export_probes_behind(const struct export_job *job, int result, const struct export_probe_receiver *receiver,
                         struct gait_error *err)
{
    int other = 0;

    if (result > 0)
        return result;
    for (size_t i = 0; i < job->thread_count + job->silent_count && other == 0; i++)
        other = export_probes_read(job, job->threads[i], receiver, result == 0 ? err : NULL);
    return result == 0 ? other : result;
}
