/* SPDX-License-Identifier: MIT */
/* Counts calls by target as their events come in, batch by batch; none is kept. One lock for all. */
#include "gait/event_sinks.h"

#include "base/hash_map.h"
#include "hosted/error_text.h"
#include "libgait/export.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct gait_call_summary {
    struct gait_event_sink sink;
    pthread_mutex_t lock;
    struct hash_map counts;
};

static int count_call(struct gait_call_summary *summary, uint64_t target)
{
    uint64_t count = 0;
    bool known = hash_map_lookup(&summary->counts, target, &count);

    return hash_map_set(&summary->counts, target, known ? count + 1 : 1);
}

static int process(void *context, const struct gait_event *events, size_t count)
{
    struct gait_call_summary *summary = context;
    int result = 0;

    pthread_mutex_lock(&summary->lock);
    for (size_t i = 0; i < count && result == 0; i++)
        if (events[i].kind == GAIT_EVENT_CALL)
            result = count_call(summary, events[i].target);
    /* Readers have the lock as well. */
    hash_map_reclaim(&summary->counts);
    pthread_mutex_unlock(&summary->lock);
    return result;
}

EXPORT int gait_call_summary_create(struct gait_call_summary **summary_out, struct gait_error *err)
{
    struct gait_call_summary *summary = calloc(1, sizeof(*summary));

    if (summary == NULL || hash_map_init(&summary->counts, 1024) != 0) {
        free(summary);
        return error_set(err, ENOMEM, "cannot make a call summary: no memory");
    }
    pthread_mutex_init(&summary->lock, NULL);
    summary->sink = (struct gait_event_sink){process, summary};
    *summary_out = summary;
    return 0;
}

EXPORT void gait_call_summary_destroy(struct gait_call_summary *summary)
{
    if (summary == NULL)
        return;
    hash_map_deinit(&summary->counts);
    pthread_mutex_destroy(&summary->lock);
    free(summary);
}

EXPORT const struct gait_event_sink *gait_call_summary_sink(struct gait_call_summary *summary)
{
    return &summary->sink;
}

EXPORT void gait_call_summary_read(struct gait_call_summary *summary,
                                   void (*visit)(void *context, uint64_t target, uint64_t count), void *context)
{
    uint64_t cursor = 0, target, count;

    pthread_mutex_lock(&summary->lock);
    while (hash_map_next(&summary->counts, &cursor, &target, &count))
        visit(context, target, count);
    pthread_mutex_unlock(&summary->lock);
}
