/* SPDX-License-Identifier: MIT */
#include "view/thread_pattern.h"

#include "base/glob.h"
#include "base/text_parse.h"
#include "hosted/error_text.h"
#include "view/call_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool thread_pattern_means(const char *text, uint32_t tid, const char *name)
{
    uint64_t number;

    if (text_parse_decimal(text, strlen(text), &number) == 0 && number == tid)
        return true;
    return glob_matches_string(text, name);
}

static bool thread_pattern_has(const struct view_trace *trace, size_t thread, const char *text)
{
    return thread_pattern_means(text, trace->threads[thread].tid, trace->threads[thread].name);
}

static size_t count_all(const struct view_trace *trace)
{
    return trace->thread_count + trace->silent_count;
}

static bool means_one(const struct view_trace *trace, const char *text)
{
    for (size_t i = 0; i < count_all(trace); i++)
        if (thread_pattern_has(trace, i, text))
            return true;
    return false;
}

static bool is_meant(const struct view_trace *trace, size_t thread, const char *const *texts, size_t text_count)
{
    for (size_t i = 0; i < text_count; i++)
        if (thread_pattern_has(trace, thread, texts[i]))
            return true;
    return text_count == 0;
}

struct begun {
    uint64_t time;
    size_t thread;
};

static int compare(const void *left_thread, const void *right_thread)
{
    const struct begun *left = left_thread, *right = right_thread;

    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return left->thread < right->thread ? -1 : left->thread > right->thread;
}

/* Numbers of threads begin anew at times, and tell nothing of who was first. Without memory, they have to do. */
static void sort(const struct view_trace *trace, size_t *threads, size_t count)
{
    struct begun *begun = calloc(count + 1, sizeof(*begun));

    for (size_t i = 0; begun != NULL && i < count; i++)
        begun[i] = (struct begun){call_merge_earliest(trace, threads[i]), threads[i]};
    if (begun != NULL)
        qsort(begun, count, sizeof(*begun), compare);
    for (size_t i = 0; begun != NULL && i < count; i++)
        threads[i] = begun[i].thread;
    free(begun);
}

int thread_pattern_choose(const struct view_trace *trace, const char *const *texts, size_t text_count,
                          size_t **threads_out, size_t *count_out, struct gait_error *err)
{
    size_t *threads, count = 0;

    for (size_t i = 0; i < text_count; i++)
        if (!means_one(trace, texts[i]))
            return error_set(err, ENOENT,
                             "cannot find thread '%s': no thread of the trace has that name or number; 'gait report' "
                             "lists them",
                             texts[i]);
    threads = calloc(count_all(trace) + 1, sizeof(*threads));
    if (threads == NULL)
        return error_set(err, ENOMEM, "cannot list threads: there is no memory");
    for (size_t i = 0; i < count_all(trace); i++)
        if (is_meant(trace, i, texts, text_count))
            threads[count++] = i;
    sort(trace, threads, count);
    *threads_out = threads;
    *count_out = count;
    return 0;
}
