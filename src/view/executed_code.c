/* SPDX-License-Identifier: MIT */
/*
 * Events name an address and a time; what stands there is found by the address, and looked for among the modules only
 * where another one may have come to the same place since. Instructions are told without their length, which the blocks
 * of the trace know.
 */
#include "view/executed_code.h"

#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "trace/stream_reader.h"
#include "trace/trace_events.h"

#include <errno.h>
#include <stdlib.h>

#define EXECUTED_NONE UINT32_MAX

struct code_reading {
    struct executed_code *code;
    uint64_t from_ns;
    uint64_t to_ns;
    size_t process;
    bool passes_insns; /* they are in blocks, which are told, too */
    bool has_lengths;
    struct hash_map lengths; /* of instructions of the process, by address */
    int result;              /* -ENOMEM */
};

/* ---- one place --------------------------------------------------------------------------------------------------- */

static bool may_be(const struct recorded_module *module, uint64_t first, uint64_t last)
{
    return module != NULL && module->loaded <= last && first < module->unloaded;
}

static int add(struct executed_code *code, const struct executed *executed)
{
    struct hash_map *addresses = &code->addresses[executed->process];
    int result;

    if (code->count >= EXECUTED_NONE || ARRAY_RESERVE(code->executed, code->capacity, code->count + 1) != 0)
        return -ENOMEM;
    result = hash_map_set(addresses, executed->address, code->count);
    if (result != 0)
        return result;
    /* Nobody else looks. */
    hash_map_reclaim(addresses);
    code->executed[code->count++] = *executed;
    return 0;
}

static bool is_alike(const struct executed *left, const struct executed *right)
{
    return left->kind == right->kind && left->size_bytes == right->size_bytes;
}

/* Counts it, if it has a count. */
static int take(struct executed_code *code, struct executed *executed, uint64_t first, uint64_t last)
{
    uint64_t latest = EXECUTED_NONE;
    const struct view_process *process = &code->trace->processes[executed->process];

    (void)hash_map_lookup(&code->addresses[executed->process], executed->address, &latest);
    for (uint32_t at = (uint32_t)latest; at != EXECUTED_NONE; at = code->executed[at].next)
        if (is_alike(&code->executed[at], executed) && may_be(code->executed[at].module, first, last)) {
            code->executed[at].count += executed->count;
            return 0;
        }
    executed->module = modules_find(&process->modules, executed->address, first, last);
    for (uint32_t at = (uint32_t)latest; at != EXECUTED_NONE; at = code->executed[at].next)
        if (is_alike(&code->executed[at], executed) && code->executed[at].module == executed->module) {
            code->executed[at].count += executed->count;
            return 0;
        }
    executed->next = (uint32_t)latest;
    return add(code, executed);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static int note_lengths(struct hash_map *lengths, const struct event_block *block)
{
    uint64_t address = block->start;
    int result = 0;

    for (uint32_t i = 0; i < block->insn_count && block->insn_lengths != NULL && result == 0; i++) {
        uint8_t length = block->insn_lengths[i] & (uint8_t)~EVENT_INSN_LEFT_OUT;

        result = hash_map_set(lengths, address, length);
        address += length;
    }
    hash_map_reclaim(lengths);
    return result;
}

/* Of those of the process, when the first one is told. */
static int find_lengths(struct code_reading *reading)
{
    const struct trace_blocks *blocks = &reading->code->trace->processes[reading->process].blocks;
    int result = hash_map_init(&reading->lengths, blocks->count);

    if (result != 0)
        return result;
    reading->has_lengths = true;
    for (size_t i = 0; i < blocks->count && result == 0; i++) {
        struct event_block block = trace_blocks_at(blocks, i);

        result = note_lengths(&reading->lengths, &block);
    }
    return result;
}

static void forget_lengths(struct code_reading *reading)
{
    if (reading->has_lengths)
        hash_map_deinit(&reading->lengths);
    reading->has_lengths = false;
}

static uint64_t length_at(struct code_reading *reading, uint64_t address)
{
    uint64_t length = 1;

    if (!reading->has_lengths)
        reading->result = find_lengths(reading);
    if (reading->has_lengths)
        (void)hash_map_lookup(&reading->lengths, address, &length);
    return length;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* False: it tells of no code that ran. */
static bool get_executed(struct code_reading *reading, const struct gait_event *event, struct executed *executed_out)
{
    *executed_out = (struct executed){.process = reading->process, .address = event->location, .count = 1};
    switch (event->kind) {
    case GAIT_EVENT_CALL:
        executed_out->address = event->target;
        executed_out->kind = EXECUTED_FUNCTION;
        return true;
    case GAIT_EVENT_ENTER:
        executed_out->kind = EXECUTED_FUNCTION;
        return true;
    case GAIT_EVENT_BLOCK:
        executed_out->kind = EXECUTED_BLOCK;
        executed_out->size_bytes = event->target - event->location;
        return true;
    case GAIT_EVENT_EXEC:
        if (reading->passes_insns)
            return false;
        executed_out->kind = EXECUTED_INSN;
        executed_out->size_bytes = length_at(reading, event->location);
        return true;
    default:
        return false;
    }
}

static bool is_in_time(const struct code_reading *reading, uint64_t time)
{
    uint64_t time_ns;

    if (reading->from_ns == 0 && reading->to_ns == UINT64_MAX)
        return true;
    time_ns = view_trace_ns(reading->code->trace, time);
    return time_ns >= reading->from_ns && time_ns < reading->to_ns;
}

static int take_events(void *context, const struct gait_event *events, size_t count, const struct trace_span *span)
{
    struct code_reading *reading = context;

    for (size_t i = 0; i < count && reading->result == 0; i++) {
        uint64_t first = events[i].time != 0 ? events[i].time : span->first_time;
        uint64_t last = events[i].time != 0 ? events[i].time : span->last_time;
        struct executed executed;

        if (!is_in_time(reading, trace_span_time(span, events, count, i)) ||
            !get_executed(reading, &events[i], &executed) || reading->result != 0)
            continue;
        reading->result = take(reading->code, &executed, first, last);
        if (executed.kind == EXECUTED_FUNCTION)
            reading->code->has_functions = true;
        else
            reading->code->has_blocks = true;
        reading->code->has_insns |= executed.kind == EXECUTED_INSN;
    }
    return reading->result;
}

static int read_thread(struct code_reading *reading, const struct view_thread *thread, struct gait_error *err)
{
    const struct trace_events_receiver receiver = {.process = take_events, .context = reading};
    const struct view_trace *trace = reading->code->trace;
    struct trace_events_end end;
    int result;

    if (thread->process != reading->process)
        forget_lengths(reading);
    reading->process = thread->process;
    result = trace_events_read(trace->files.folder, thread->pieces, thread->piece_count,
                               &trace->processes[thread->process].blocks, &receiver, &end, err);
    return result == 0 && reading->result == 0 ? stream_end_check(&end.stream, end.path, err) : result;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static int init(struct executed_code *code, const struct view_trace *trace)
{
    *code = (struct executed_code){.trace = trace};
    code->addresses = calloc(trace->process_count + 1, sizeof(struct hash_map));
    if (code->addresses == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < trace->process_count; i++) {
        int result = hash_map_init(&code->addresses[i], 1);

        if (result != 0) {
            while (i-- > 0)
                hash_map_deinit(&code->addresses[i]);
            free(code->addresses);
            code->addresses = NULL;
            return result;
        }
    }
    return 0;
}

/* Each of them is in the table of blocks, whether it was called or not. */
static int take_hooked(struct executed_code *code)
{
    int result = 0;

    for (size_t i = 0; i < code->trace->process_count; i++) {
        const struct trace_blocks *blocks = &code->trace->processes[i].blocks;

        for (size_t b = 0; b < blocks->count && result == 0; b++) {
            struct executed hooked = {.process = i, .address = trace_blocks_at(blocks, b).start};

            result = take(code, &hooked, 0, UINT64_MAX);
            code->has_functions = true;
        }
    }
    return result;
}

static bool is_of_hooks(const struct view_trace *trace)
{
    return trace->manifest.events & GAIT_EVENT_ENTER &&
           !(trace->manifest.events & (GAIT_EVENT_CALL | GAIT_EVENT_BLOCK | GAIT_EVENT_EXEC));
}

int executed_code_read(struct executed_code *code, const struct view_trace *trace, const struct executed_choice *choice,
                       struct gait_error *err)
{
    struct code_reading reading = {.code = code,
                                   .from_ns = choice == NULL ? 0 : choice->from_ns,
                                   .to_ns = choice == NULL ? UINT64_MAX : choice->to_ns,
                                   .passes_insns = trace->manifest.events & GAIT_EVENT_BLOCK};
    size_t count = choice == NULL ? trace->thread_count : choice->thread_count;
    int first_error = 0;

    reading.result = init(code, trace);
    for (size_t i = 0; i < count && reading.result == 0; i++) {
        struct gait_error why = {.code = 0};
        int result = read_thread(&reading, &trace->threads[choice == NULL ? i : choice->threads[i]], &why);

        first_error = first_error == 0 ? result : first_error;
        if (stream_error_outweighs(&why, err))
            *err = why;
    }
    forget_lengths(&reading);
    code->is_of_hooks = is_of_hooks(trace);
    if (reading.result == 0 && code->is_of_hooks)
        reading.result = take_hooked(code);
    if (reading.result != 0)
        return error_set(err, reading.result, "cannot count what ran: there is no memory; try to free some");
    return first_error;
}

void executed_code_deinit(struct executed_code *code)
{
    for (size_t i = 0; code->addresses != NULL && i < code->trace->process_count; i++)
        hash_map_deinit(&code->addresses[i]);
    free(code->addresses);
    free(code->executed);
    *code = (struct executed_code){.count = 0};
}
