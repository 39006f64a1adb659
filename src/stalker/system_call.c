/* SPDX-License-Identifier: MIT */
/*
 * The table, and what is done for the system calls in it. Neighbours: translated code looks into the table,
 * dispatch.c calls system_call_make for those that it finds there.
 */
#include "stalker/system_call.h"

#include "base/memory_map.h"
#include "stalker/engine.h"
#include "stalker/thread.h"

#include <asm/unistd.h>

#define TABLE_BYTES 65536

static const struct memory_range low_memory = {0x10000, 0x7fff0000};

static const uint16_t special_numbers[] = {
    __NR_exit,
};

int system_call_table_create(uint8_t **table_out)
{
    struct memory_request request = {
        .size_bytes = TABLE_BYTES,
        .access = MEMORY_READ_WRITE,
        .within = low_memory,
        .fd = -1,
    };
    void *start;
    int result = memory_map_request(&request, &start);

    if (result != 0)
        return result;
    for (unsigned i = 0; i < sizeof(special_numbers) / sizeof(special_numbers[0]); i++)
        ((uint8_t *)start)[special_numbers[i]] = 1;
    *table_out = start;
    return 0;
}

void system_call_table_destroy(uint8_t *table)
{
    memory_unmap(table, TABLE_BYTES);
}

int32_t system_call_table_address(const struct stalker_engine *engine)
{
    return (int32_t)(uintptr_t)engine->system_calls;
}

enum system_call_outcome system_call_make(struct stalker_thread *thread)
{
    (void)thread;
    return SYSTEM_CALL_LEAVE;
}
