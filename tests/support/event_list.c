/* SPDX-License-Identifier: MIT */
/* An array of fixed size, mapped at the start. */
#define _GNU_SOURCE
#include "support/event_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static int take(void *context, const struct gait_event *events, size_t count)
{
    struct event_list *list = context;

    list->batches++;
    list->total += count;
    if (count > list->batch_most)
        list->batch_most = count;
    for (size_t i = 0; i < count && list->count < list->capacity; i++)
        list->events[list->count++] = events[i];
    return list->fails_at != 0 && list->batches >= list->fails_at ? -EIO : 0;
}

void event_list_init(struct event_list *list, size_t capacity)
{
    void *events = mmap(NULL, capacity * sizeof(struct gait_event), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (events == MAP_FAILED) {
        perror("mmap of memory for events");
        exit(1);
    }
    *list = (struct event_list){.sink = {take, list}, .events = events, .capacity = capacity};
}

void event_list_deinit(struct event_list *list)
{
    munmap(list->events, list->capacity * sizeof(struct gait_event));
}

void event_list_clear(struct event_list *list)
{
    list->count = 0;
    list->total = 0;
    list->batches = 0;
    list->batch_most = 0;
}

void event_list_filter(struct event_list *list, uint32_t kinds, uint64_t start, uint64_t end)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++)
        if (list->events[i].kind & kinds && list->events[i].location >= start && list->events[i].location < end)
            list->events[kept++] = list->events[i];
    list->count = kept;
}

size_t event_list_count(const struct event_list *list, uint32_t kinds)
{
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++)
        count += (list->events[i].kind & kinds) != 0;
    return count;
}
