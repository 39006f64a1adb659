/* SPDX-License-Identifier: MIT */
/* Free ones are kept by size, which is doubled from one to the next; a page or more is taken from the system at once.
 */
#include "hook/call_data.h"

#include "base/memory_map.h"
#include "hook/hook_thread.h"

#include <stddef.h>

#define PAGE_BYTES 4096u

static size_t bytes_of(unsigned size)
{
    return sizeof(struct call_data) + ((size_t)GAIT_INVOCATION_DATA_BYTES << size);
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
    size_t bytes = bytes_of(size), page_bytes = memory_round_to_pages(bytes < PAGE_BYTES ? PAGE_BYTES : bytes);
    uint8_t *place;
    void *page;

    if (memory_map(page_bytes, &page) != 0)
        return;
    for (place = page; place + bytes <= (uint8_t *)page + page_bytes; place += bytes) {
        struct call_data *data = (struct call_data *)(void *)place;

        data->next = thread->free_data[size];
        thread->free_data[size] = data;
    }
}

struct call_data *call_data_take(struct hook_thread *thread, uint32_t places)
{
    unsigned size = size_for(places);
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
    for (size_t i = 0; i < (size_t)places * GAIT_INVOCATION_DATA_BYTES / sizeof(uint64_t); i++)
        ((uint64_t *)(void *)data->bytes)[i] = 0;
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
