/* SPDX-License-Identifier: MIT */
#include "query/function_sums.h"

#include "hosted/growing_array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_AT_FIRST 1024u

void function_sums_init(struct function_sums *sums, const struct view_trace *trace)
{
    *sums = (struct function_sums){.trace = trace};
}

void function_sums_deinit(struct function_sums *sums)
{
    free(sums->sums);
    free(sums->slots);
    *sums = (struct function_sums){.trace = sums->trace};
}

void function_sums_clear(struct function_sums *sums)
{
    if (sums->count != 0)
        memset(sums->slots, 0, sums->slot_count * sizeof(*sums->slots));
    sums->count = 0;
}

static size_t slot_of(const struct function_sums *sums, uint32_t process, uint64_t address)
{
    return (size_t)(((address ^ (uint64_t)process << 40) * 0x9e3779b97f4a7c15u) >> 32) & (sums->slot_count - 1);
}

static int add_slots(struct function_sums *sums)
{
    size_t slot_count = sums->slot_count == 0 ? SLOTS_AT_FIRST : 2 * sums->slot_count;
    uint32_t *slots = calloc(slot_count, sizeof(*slots));

    if (slots == NULL)
        return -ENOMEM;
    free(sums->slots);
    sums->slots = slots;
    sums->slot_count = slot_count;
    for (size_t i = 0; i < sums->count; i++) {
        size_t at = slot_of(sums, sums->sums[i].process, sums->sums[i].address);

        while (slots[at] != 0)
            at = (at + 1) & (sums->slot_count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    return 0;
}

static void begin_sum(const struct function_sums *sums, struct function_sum *sum, uint64_t time)
{
    const struct modules *modules = &sums->trace->processes[sum->process].modules;
    const struct recorded_module *module = modules_find(modules, sum->address, time, time);

    sum->time = time;
    sum->shortest = UINT64_MAX;
    if (module != NULL) {
        sum->from = module->loaded;
        sum->to = module->unloaded;
    } else {
        query_module_pause(modules, time, &sum->from, &sum->to);
    }
}

static bool is_of(const struct function_sum *sum, uint32_t process, uint64_t address, uint64_t time)
{
    return sum->address == address && sum->process == process && sum->from <= time && time < sum->to;
}

uint32_t function_sums_find(struct function_sums *sums, uint32_t process, uint64_t address, uint64_t time)
{
    size_t at;

    if ((2 * sums->count >= sums->slot_count && add_slots(sums) != 0) ||
        ARRAY_RESERVE(sums->sums, sums->capacity, sums->count + 1) != 0)
        return FUNCTION_SUMS_NONE;
    at = slot_of(sums, process, address);
    while (sums->slots[at] != 0 && !is_of(&sums->sums[sums->slots[at] - 1], process, address, time))
        at = (at + 1) & (sums->slot_count - 1);
    if (sums->slots[at] == 0) {
        struct function_sum *sum = &sums->sums[sums->count];

        *sum = (struct function_sum){.process = process, .address = address};
        begin_sum(sums, sum, time);
        sums->slots[at] = (uint32_t)++sums->count;
    }
    return sums->slots[at] - 1;
}
