/* SPDX-License-Identifier: MIT */
/*
 * The kernel's tracepoints raw_syscalls:sys_enter and sys_exit, by perf's rings, one set of them for each process. They
 * bring numbers and arguments, and nothing of memory; which threads begin and end is in the rings themselves. The
 * kernel's own filter chooses the calls.
 */
#define _GNU_SOURCE
#include "syscalls/call_feed.h"

#include "base/clock_pair.h"
#include "base/hash_map.h"
#include "hosted/error_text.h"
#include "kernel/perf_reader.h"
#include "kernel/watch.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kernel takes no more than a page. */
#define FILTER_BYTES 4096

enum {
    SOURCE_ENTER = 1,
    SOURCE_LEAVE = 2,
};

struct call_tracepoints {
    struct chosen_probes list;
    struct watch *watches; /* one for each process */
    size_t watch_count;
    bool follows;
    struct hash_map threads; /* those that live */
    struct clock_pair began;
    double tick_ns;
    call_feed_hear hear;
    void *context;
};

/* ---- records ----------------------------------------------------------------------------------------------------- */

static uint64_t monotonic_ns(const struct call_tracepoints *feed, uint64_t counter)
{
    return feed->began.monotonic_ns +
           (uint64_t)(int64_t)((double)(int64_t)(counter - feed->began.counter) * feed->tick_ns);
}

/* Without following, of processes their first thread only. */
static bool is_meant(const struct call_tracepoints *feed, uint32_t tid)
{
    uint64_t value;

    return feed->follows || hash_map_lookup(&feed->threads, tid, &value);
}

static uint64_t word_of(const struct source_probe *probe, const struct kernel_event *event, const char *name,
                        unsigned which)
{
    uint64_t word = 0;

    for (size_t i = 0; i < probe->field_count; i++) {
        const struct kernel_field *field = &probe->fields[i];
        size_t at = field->offset - probe->raw_base + which * sizeof(word);

        if (strcmp(field->name, name) == 0 && which < field->count && at + sizeof(word) <= event->raw_bytes)
            memcpy(&word, event->raw + at, sizeof(word));
    }
    return word;
}

static void take_event(void *context, const struct kernel_event *event)
{
    const struct call_tracepoints *feed = context;
    const struct source_probe *probe = feed->list.probes[event->source - 1];
    struct call_program_record record = {
        .kind = event->source == SOURCE_ENTER ? CALL_RECORD_ENTER : CALL_RECORD_LEAVE,
        .pid = event->pid,
        .tid = event->tid,
        .time_ns = monotonic_ns(feed, event->time),
        .number = word_of(probe, event, "id", 0),
    };

    if (!is_meant(feed, event->tid))
        return;
    if (event->source == SOURCE_LEAVE)
        record.words[0] = word_of(probe, event, "ret", 0);
    for (unsigned i = 0; event->source == SOURCE_ENTER && i < 6; i++)
        record.words[i] = word_of(probe, event, "args", i);
    feed->hear(feed->context, &record);
}

static void take_fork(void *context, uint32_t pid, uint32_t parent_pid, uint32_t tid, uint64_t time)
{
    struct call_tracepoints *feed = context;

    (void)pid;
    (void)parent_pid;
    (void)time;
    if (feed->follows)
        (void)!hash_map_set(&feed->threads, tid, 1);
    hash_map_reclaim(&feed->threads);
}

static void take_exit(void *context, uint32_t pid, uint32_t tid, uint64_t time)
{
    struct call_tracepoints *feed = context;
    const struct call_program_record record = {
        .kind = CALL_RECORD_END,
        .flags = CALL_RECORD_NO_STATUS,
        .pid = pid,
        .tid = tid,
        .time_ns = monotonic_ns(feed, time),
    };

    if (!is_meant(feed, tid))
        return;
    hash_map_remove(&feed->threads, tid);
    feed->hear(feed->context, &record);
}

/* ---- beginning --------------------------------------------------------------------------------------------------- */

/* "(id>=0&&id<=3)||id==59": in the kernel's language. Empty: all of them. */
static void write_filter(const struct system_call_set *set, char filter[FILTER_BYTES])
{
    size_t used = 0;

    filter[0] = '\0';
    for (uint64_t first = 0, last; first < SYSTEM_CALL_NUMBERS; first = last + 1) {
        last = first;
        if (!system_call_set_has(set, first))
            continue;
        while (last + 1 < SYSTEM_CALL_NUMBERS && system_call_set_has(set, last + 1))
            last++;
        used += (size_t)snprintf(filter + used, FILTER_BYTES - used, "%s(id>=%lu&&id<=%lu)", used == 0 ? "" : "||",
                                 (unsigned long)first, (unsigned long)last);
        if (used >= FILTER_BYTES - 1) {
            filter[0] = '\0';
            return;
        }
    }
    if (set->has_others && used != 0 && used + 16 < FILTER_BYTES)
        snprintf(filter + used, FILTER_BYTES - used, "||id>=%d", SYSTEM_CALL_NUMBERS);
}

static int note_threads(struct call_tracepoints *feed, int pid)
{
    char path[64];
    DIR *folder;
    const struct dirent *entry;
    int result = hash_map_set(&feed->threads, (uint64_t)pid, 1);

    snprintf(path, sizeof(path), "/proc/%d/task", pid);
    folder = feed->follows ? opendir(path) : NULL;
    while (folder != NULL && result == 0 && (entry = readdir(folder)) != NULL)
        if (atoi(entry->d_name) > 0)
            result = hash_map_set(&feed->threads, (uint64_t)atoi(entry->d_name), 1);
    if (folder != NULL)
        closedir(folder);
    return result;
}

static int watch_process(struct call_tracepoints *feed, int pid, const char *filter, struct gait_error *err)
{
    struct watch_options options = {
        .session = {.pid = pid, .is_ordered = true},
        .condition = filter[0] == '\0' ? NULL : filter,
    };
    struct watch *watch = &feed->watches[feed->watch_count];
    int result = watch_open(watch, &feed->list, &options, err);

    if (result != 0)
        return result;
    feed->watch_count++;
    result = note_threads(feed, pid);
    if (result != 0)
        return error_set(err, ENOMEM, "there is no memory");
    return watch_start(watch, err);
}

static void end(void *state)
{
    struct call_tracepoints *feed = state;

    if (feed == NULL)
        return;
    for (size_t i = 0; i < feed->watch_count; i++)
        watch_close(&feed->watches[i]);
    free(feed->watches);
    chosen_probes_deinit(&feed->list);
    hash_map_deinit(&feed->threads);
    free(feed);
}

static int begin(const struct call_feed_options *options, void **feed_out, struct gait_error *err)
{
    struct call_tracepoints *feed = calloc(1, sizeof(*feed));
    char filter[FILTER_BYTES];
    int result = 0;

    if (feed == NULL)
        return error_set(err, ENOMEM, "there is no memory");
    feed->follows = options->follows;
    feed->began = clock_pair_read();
    feed->watches = calloc(options->tid_count, sizeof(*feed->watches));
    if (feed->watches == NULL || hash_map_init(&feed->threads, 64) != 0)
        result = error_set(err, ENOMEM, "there is no memory");
    if (result == 0)
        result = chosen_probes_add(&feed->list, "tracepoint:raw_syscalls:sys_enter", err);
    if (result == 0)
        result = chosen_probes_add(&feed->list, "tracepoint:raw_syscalls:sys_exit", err);
    write_filter(options->set, filter);
    for (size_t i = 0; i < options->tid_count && result == 0; i++)
        result = watch_process(feed, options->tids[i], filter, err);
    if (result != 0) {
        end(feed);
        return result;
    }
    *feed_out = feed;
    return 0;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static size_t drain(void *state, int timeout_ms, call_feed_hear hear, void *context)
{
    struct call_tracepoints *feed = state;
    struct clock_pair now = clock_pair_read();
    const struct perf_receiver receiver = {
        .event = take_event, .forked = take_fork, .exited = take_exit, .context = feed};
    size_t count = 0;

    feed->hear = hear;
    feed->context = context;
    if (now.counter > feed->began.counter)
        feed->tick_ns =
            (double)(now.monotonic_ns - feed->began.monotonic_ns) / (double)(now.counter - feed->began.counter);
    for (size_t i = 0; i < feed->watch_count; i++)
        count += perf_reader_drain(&feed->watches[i].session, &receiver, timeout_ms == 0);
    if (count == 0 && timeout_ms != 0)
        (void)poll(NULL, 0, timeout_ms);
    return count;
}

static bool is_over(void *state)
{
    const struct call_tracepoints *feed = state;

    return hash_map_count(&feed->threads) == 0;
}

static uint64_t lost(void *state)
{
    const struct call_tracepoints *feed = state;
    uint64_t total = 0;

    for (size_t i = 0; i < feed->watch_count; i++)
        total += perf_session_lost(&feed->watches[i].session, 0) + perf_session_lost(&feed->watches[i].session, 1);
    return total;
}

const struct call_feed call_feed_tracepoints = {
    .has_memory = false,
    .begin = begin,
    .end = end,
    .drain = drain,
    .is_over = is_over,
    .lost = lost,
};
