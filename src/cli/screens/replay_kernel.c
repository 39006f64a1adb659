/* SPDX-License-Identifier: MIT */
#include "cli/screens/replay_kernel.h"

#include "cli/screens/printable.h"
#include "trace/kernel_event_text.h"
#include "view/kernel_sched.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_BYTES 4096

static bool is_wanted(const struct replay_kernel *kernel)
{
    const struct kernel_source *source = kernel_sources_find(&kernel->sources, kernel->next.source);

    if (kernel->next.time < kernel->from)
        return false;
    if (!kernel->with_sched && source != NULL && kernel_sched_has(&kernel->sources, source))
        return false;
    for (size_t i = 0; i < kernel->tid_count; i++)
        if (kernel->tids[i] == kernel->next.tid)
            return true;
    return kernel->tids == NULL;
}

static void advance(struct replay_kernel *kernel)
{
    do
        kernel->has_next = kernel_events_next(&kernel->events, &kernel->next) && kernel->next.time <= kernel->to;
    while (kernel->has_next && !is_wanted(kernel));
}

static void report_left_out(int result, const struct gait_error *err)
{
    char clean[GAIT_ERROR_TEXT_BYTES];

    if (result != -ENOENT)
        fprintf(stderr, "gait: %s; events of the kernel are left out\n", printable(clean, sizeof(clean), err->text));
}

void replay_kernel_init(struct replay_kernel *kernel, struct replay_screen *shown,
                        const struct replay_kernel_options *options)
{
    const struct trace_files *files = &shown->functions->trace->files;
    struct gait_error err = {0};
    int result;

    *kernel = (struct replay_kernel){
        .shown = shown, .from = options->from, .to = options->to, .with_sched = options->with_sched};
    result = kernel_events_sources(files, &kernel->sources, &err);
    if (result == 0) {
        result = kernel_events_open(&kernel->events, files, &err);
        if (result != 0)
            kernel_sources_deinit(&kernel->sources);
    }
    if (result != 0) {
        report_left_out(result, &err);
        return;
    }
    kernel->is_there = true;
    if (options->from != 0)
        kernel_events_skip(&kernel->events, options->from);
    advance(kernel);
}

void replay_kernel_deinit(struct replay_kernel *kernel)
{
    if (kernel->is_there) {
        kernel_events_close(&kernel->events);
        kernel_sources_deinit(&kernel->sources);
    }
    free(kernel->tids);
    *kernel = (struct replay_kernel){.is_there = false};
}

int replay_kernel_choose(struct replay_kernel *kernel, const size_t *threads, size_t count)
{
    kernel->tids = calloc(count + 1, sizeof(*kernel->tids));
    if (kernel->tids == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        kernel->tids[i] = kernel->shown->functions->trace->threads[threads[i]].tid;
    kernel->tid_count = count;
    if (kernel->has_next && !is_wanted(kernel))
        advance(kernel);
    return 0;
}

bool replay_kernel_put(struct replay_kernel *kernel, uint64_t before)
{
    const struct kernel_source *source;
    char text[TEXT_BYTES];

    if (!kernel->has_next || kernel->next.time >= before)
        return false;
    source = kernel_sources_find(&kernel->sources, kernel->next.source);
    if (source != NULL) {
        (void)kernel_event_fields_write(source, &kernel->next, text, sizeof(text));
        replay_screen_put_kernel(kernel->shown, &kernel->next, source->name, text,
                                 kernel_sources_thread(&kernel->sources, kernel->next.tid, kernel->next.time));
    }
    advance(kernel);
    return true;
}
