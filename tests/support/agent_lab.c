/* SPDX-License-Identifier: MIT */
#include "support/agent_lab.h"

#include "stalker/follow.h"
#include "stalker/stalker_engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct agent_lab agent_lab;

static void must(int result, const char *what)
{
    if (result == 0)
        return;
    printf("the lab has no %s: %s\n", what, strerror(-result));
    fflush(stdout);
    exit(1);
}

void agent_lab_begin(size_t buffer_bytes, enum ring_overflow overflow)
{
    const struct ring_options wanted = {.buffer_bytes = buffer_bytes, .overflow = overflow};

    agent_options_clear(&agent_lab.options);
    must(ring_region_create(&wanted, &agent_lab.ring), "ring");
    agent_lab_open(agent_lab.ring->fd);
}

void agent_lab_open(int fd)
{
    agent_lab_clear();
    agent_lab.module_count = agent_lab.block_count = 0;
    must(ring_reader_open(fd, &agent_lab.reader), "reader");
}

uint32_t agent_lab_add_pattern(enum agent_pattern_use use, const char *text)
{
    struct agent_pattern *pattern = &agent_lab.options.patterns[agent_lab.options.pattern_count];

    *pattern = (struct agent_pattern){.use = use};
    must(strlen(text) < sizeof(pattern->text) ? 0 : -E2BIG, "room for a pattern");
    strcpy(pattern->text, text);
    return agent_lab.options.pattern_count++;
}

/* ---- what was written -------------------------------------------------------------------------------------------- */

static void take_details(const struct ring_batch *piece)
{
    uint8_t *start = agent_lab.bytes + agent_lab.used;
    size_t at = 0, size_bytes;

    must(piece->size_bytes <= sizeof(agent_lab.bytes) - agent_lab.used ? 0 : -ENOSPC, "room for records");
    if (piece->size_bytes > 0)
        memcpy(start, piece->bytes, piece->size_bytes);
    agent_lab.used += piece->size_bytes;
    while ((size_bytes = detail_record_check(start + at, piece->size_bytes - at)) != 0) {
        must(agent_lab.record_count < AGENT_LAB_RECORDS ? 0 : -ENOSPC, "room for records");
        agent_lab.records[agent_lab.record_count++] = (const struct detail_record *)(void *)(start + at);
        at += size_bytes;
    }
    agent_lab.bad_bytes += (unsigned)(piece->size_bytes - at);
}

static void take_blocks(void)
{
    const uint8_t *bytes;
    size_t size_bytes;
    struct ring_block block;

    must(ring_reader_blocks(agent_lab.reader, &bytes, &size_bytes), "blocks that can be read");
    for (size_t at = 0; at < size_bytes; at += block.size_bytes) {
        memcpy(&block, bytes + at, sizeof(block));
        must(agent_lab.block_count < AGENT_LAB_BLOCKS ? 0 : -ENOSPC, "room for blocks");
        agent_lab.blocks[agent_lab.block_count++] =
            (struct agent_lab_block){block.start, block.space, block.number, block.code_bytes};
    }
}

static uint64_t start_of(uint32_t space, uint32_t number)
{
    for (unsigned i = 0; i < agent_lab.block_count; i++)
        if (agent_lab.blocks[i].space == space && agent_lab.blocks[i].number == number)
            return agent_lab.blocks[i].start;
    return 0;
}

static void take_calls(const struct ring_batch *piece)
{
    take_blocks();
    for (size_t at = 0; at + EVENT_HOOK_BYTES <= piece->size_bytes; at += EVENT_HOOK_BYTES) {
        uint32_t words[2];
        uint64_t time;

        memcpy(words, piece->bytes + at, sizeof(words));
        memcpy(&time, piece->bytes + at + sizeof(words), sizeof(time));
        if (words[0] == 0)
            continue;
        must(agent_lab.call_count < AGENT_LAB_CALLS ? 0 : -ENOSPC, "room for calls");
        agent_lab.calls[agent_lab.call_count++] =
            (struct agent_lab_call){start_of(piece->space, event_header_number(words[0])), time,
                                    event_header_record(words[0]), words[1], piece->tid};
    }
}

static int take_piece(void *context, const struct ring_batch *piece)
{
    (void)context;
    agent_lab.lost_bytes += piece->lost_before;
    agent_lab.ended_lanes += piece->is_last;
    if (piece->kind == RING_LANE_DETAIL)
        take_details(piece);
    else
        agent_lab.index_bytes += piece->size_bytes;
    if (piece->kind == RING_LANE_INDEX && piece->events & EVENTS_HOOKED)
        take_calls(piece);
    if (piece->size_bytes != 0) {
        agent_lab.tid = piece->tid;
        agent_lab.serial = piece->serial;
    }
    return 0;
}

static void take_modules(void)
{
    const uint8_t *bytes;
    size_t size_bytes, length;

    must(ring_reader_modules(agent_lab.reader, &bytes, &size_bytes), "modules that can be read");
    for (size_t at = 0; at < size_bytes; at += ((const struct ring_module *)(const void *)(bytes + at))->size_bytes) {
        struct agent_lab_module *module = &agent_lab.modules[agent_lab.module_count++];

        must(agent_lab.module_count < AGENT_LAB_MODULES ? 0 : -ENOSPC, "room for modules");
        memcpy(&module->module, bytes + at, sizeof(module->module));
        length = module->module.path_bytes < AGENT_LAB_PATH ? module->module.path_bytes : AGENT_LAB_PATH - 1;
        memcpy(module->path, bytes + at + sizeof(module->module), length);
        module->path[length] = '\0';
    }
}

unsigned agent_lab_take(void)
{
    const struct ring_taker taker = {take_piece, NULL};

    must(ring_reader_take(agent_lab.reader, &taker), "records that can be read");
    take_modules();
    take_blocks();
    return agent_lab.record_count;
}

void agent_lab_clear(void)
{
    agent_lab.used = 0;
    agent_lab.call_count = 0;
    agent_lab.record_count = agent_lab.bad_bytes = agent_lab.ended_lanes = 0;
    agent_lab.lost_bytes = agent_lab.index_bytes = 0;
    agent_lab.tid = agent_lab.serial = 0;
}

const void *agent_lab_record(unsigned which, enum detail_record_kind kind)
{
    if (which >= agent_lab.record_count || agent_lab.records[which]->kind != kind) {
        printf("record %u of %u should be of kind %d\n", which, agent_lab.record_count, kind);
        for (unsigned i = 0; i < agent_lab.record_count; i++)
            printf("  %u: kind %u, function 0x%llx\n", i, agent_lab.records[i]->kind,
                   (unsigned long long)agent_lab.records[i]->function);
        fflush(stdout);
        exit(1);
    }
    return agent_lab.records[which];
}

unsigned agent_lab_count(enum detail_record_kind kind, uint64_t function)
{
    unsigned count = 0;

    for (unsigned i = 0; i < agent_lab.record_count; i++)
        count += agent_lab.records[i]->kind == kind &&
                 (function == UINT64_MAX || agent_lab.records[i]->function == function);
    return count;
}

unsigned agent_lab_calls(enum event_record record, const void *function)
{
    unsigned count = 0;

    for (unsigned i = 0; i < agent_lab.call_count; i++)
        count += agent_lab.calls[i].record == record &&
                 (function == NULL || agent_lab.calls[i].function == (uintptr_t)function);
    return count;
}

const struct agent_lab_block *agent_lab_block_at(const void *function)
{
    for (unsigned i = 0; i < agent_lab.block_count; i++)
        if (agent_lab.blocks[i].start == (uintptr_t)function)
            return &agent_lab.blocks[i];
    return NULL;
}

bool agent_lab_value(const struct detail_record *record, unsigned which, struct detail_value *value_out,
                     const uint8_t **data_out)
{
    struct detail_values values = detail_record_values((const uint8_t *)record);
    size_t at = 0;

    for (unsigned i = 0; i <= which; i++)
        if (!detail_value_next(values.bytes, values.size_bytes, &at, value_out, data_out))
            return false;
    return true;
}

const struct agent_lab_module *agent_lab_module_at(uint64_t address)
{
    for (unsigned i = agent_lab.module_count; i-- > 0;)
        if (address >= agent_lab.modules[i].module.start && address < agent_lab.modules[i].module.end)
            return &agent_lab.modules[i];
    return NULL;
}

/* ---- following --------------------------------------------------------------------------------------------------- */

struct stalker_engine *agent_lab_engine(void)
{
    static const struct stalker_engine_options options;
    struct stalker_engine *engine;
    int result = stalker_engine_create(&options, &engine);

    if (result == -EOPNOTSUPP) {
        printf("skipped: threads are not followed on this CPU yet\n");
        exit(77);
    }
    must(result, "engine");
    must(stalker_engine_add_native(engine, app_pc_of((uintptr_t)stalker_unfollow_current)), "native function");
    return engine;
}

static int prepare(void *engine, const void *request, void *unused, struct stalker_thread **thread_out)
{
    (void)unused;
    return stalker_follow_prepare(engine, request, thread_out);
}

void agent_lab_follow(struct stalker_engine *engine, uint32_t events, void (*function)(void))
{
    const struct follow_request request = {.configuration = {.events = events, .ring = agent_lab.ring},
                                           .new_threads = true};

    must(stalker_follow_caller(engine, &request, NULL, prepare), "followed thread");
    function();
    must(stalker_unfollow_current(engine), "thread that was followed");
}
