/* SPDX-License-Identifier: MIT */
/* Free ones are kept by size, which is doubled from one to the next; a page or more is taken from the system at once.
 */
#include "hook/call_data.h"

#include "base/memory_map.h"
#include "hook/hook_thread.h"

#include <stddef.h>

#define WORDS (GAIT_INVOCATION_DATA_BYTES / sizeof(uint64_t))

/* What was taken from the system at once; data follow. */
struct call_data_page {
    struct call_data_page *next;
    size_t size_bytes;
};

static size_t bytes_of(unsigned size)
{
    return sizeof(struct call_data) + ((size_t)GAIT_INVOCATION_DATA_BYTES << size);
}

_Static_assert(WORDS == 8, "as clear has it");

/* Spelled out: compilers would call a function for it, or use an instruction that is slow to begin. */
static inline void clear(uint64_t *words)
{
    words[0] = words[1] = words[2] = words[3] = 0;
    words[4] = words[5] = words[6] = words[7] = 0;
}

static unsigned size_for(uint32_t places)
{
    unsigned size = 0;

    while (size < CALL_DATA_SIZES && 1u << size < places)
        size++;
    return size;
}

static void take_page(struct hook_thread *thread, unsigned size)
{
    size_t bytes = bytes_of(size), least = sizeof(struct call_data_page) + bytes;
    size_t page_bytes = memory_round_to_pages(least);
    struct call_data_page *taken;
    uint8_t *place;
    void *page;

    if (memory_map(page_bytes, &page) != 0)
        return;
    taken = page;
    *taken = (struct call_data_page){thread->data_pages, page_bytes};
    thread->data_pages = taken;
    for (place = (uint8_t *)(taken + 1); place + bytes <= (uint8_t *)page + page_bytes; place += bytes) {
        struct call_data *data = (struct call_data *)(void *)place;

        data->next = thread->free_data[size];
        thread->free_data[size] = data;
    }
}

struct call_data *call_data_take(struct hook_thread *thread, uint32_t places)
{
    unsigned size = places == 1 ? 0 : size_for(places);
    struct call_data *data;

    if (size >= CALL_DATA_SIZES)
        return NULL;
    if (thread->free_data[size] == NULL)
        take_page(thread, size);
    data = thread->free_data[size];
    if (data == NULL)
        return NULL;
    thread->free_data[size] = data->next;
    data->places = places;
    for (uint32_t i = 0; i < places; i++)
        clear((uint64_t *)(void *)data->bytes + (size_t)i * WORDS);
    return data;
}

void call_data_give_back(struct hook_thread *thread, struct call_data *data)
{
    unsigned size;

    if (data == NULL)
        return;
    size = size_for(data->places);
    data->next = thread->free_data[size];
    thread->free_data[size] = data;
}

void call_data_deinit(struct hook_thread *thread)
{
    struct call_data_page *next;

    for (struct call_data_page *page = thread->data_pages; page != NULL; page = next) {
        next = page->next;
        memory_unmap(page, page->size_bytes);
    }
    thread->data_pages = NULL;
    for (unsigned i = 0; i < CALL_DATA_SIZES; i++)
        thread->free_data[i] = NULL;
}
