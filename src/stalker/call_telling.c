/* SPDX-License-Identifier: MIT */
/*
 * The innermost call is last; its stack pointer, negated, is where translated code compares it with its own. One with a
 * stack pointer at or below that of a new one was abandoned, unless it is the same again: made once more, for a signal
 * came.
 */
#include "stalker/call_telling.h"

#include "arch/engine.h"
#include "base/time_counter.h"
#include "stalker/stalker_engine.h"
#include "stalker/system_call.h"
#include "stalker/thread.h"

void call_telling_begin(struct stalker_engine *engine, const struct call_teller *teller, const uint64_t *numbers,
                        uint32_t count)
{
    engine->teller = teller;
    for (uint32_t i = 0; i <= UINT16_MAX; i++) {
        uint32_t which = i < count ? i : count - 1;

        if (numbers[which / 64] >> which % 64 & 1)
            engine->system_calls[i] |= SYSTEM_CALL_TOLD;
    }
}

static struct made_call made_of(const struct stalker_thread *thread, const struct system_call *call)
{
    struct made_call made = {
        .number = call->number,
        .entered_time = time_counter(),
        .sp = gait_cpu_stack_pointer(&thread->context),
    };

    for (unsigned i = 0; i < 6; i++)
        made.arguments[i] = (uint64_t)call->arguments[i];
    return made;
}

/* Whom translated code looks for: nobody has a stack pointer of 1. */
static void set_key(struct stalker_thread *thread)
{
    uint64_t sp = thread->told_count == 0 ? 1 : thread->told_calls[thread->told_count - 1].sp;

    thread->call_key = 0 - sp;
}

/* The last place is used again where there are none: what was there is not told. */
static void push(struct stalker_thread *thread, const struct told_call *call)
{
    if (thread->told_count == TOLD_CALLS_MAX)
        thread->told_count--;
    thread->told_calls[thread->told_count++] = *call;
    set_key(thread);
}

void call_telling_makes(struct stalker_thread *thread, const struct system_call *call, bool may_end)
{
    struct made_call made = made_of(thread, call);
    struct told_call told = {
        .sp = made.sp,
        .next = thread->engine->machine->registers->system_call_next(&thread->context).value,
        .time = made.entered_time,
        .number = call->number,
    };

    while (thread->told_count != 0 && thread->told_calls[thread->told_count - 1].sp <= told.sp) {
        const struct told_call *last = &thread->told_calls[--thread->told_count];

        if (last->sp == told.sp && last->next == told.next && last->number == told.number)
            told.time = last->time;
    }
    push(thread, &told);
    made.entered_time = told.time;
    if (may_end)
        thread->engine->teller->enters(thread, &made, true);
}

void call_telling_ends(struct stalker_thread *thread, const struct system_call *call)
{
    struct made_call made = made_of(thread, call);

    thread->engine->teller->enters(thread, &made, false);
}

void call_telling_made(struct stalker_thread *thread, const struct system_call *call, uint64_t entered_time,
                       long result)
{
    struct made_call made = made_of(thread, call);

    made.entered_time = entered_time;
    made.result = result;
    thread->engine->teller->left(thread, &made);
}

/* A signal may have come before it was made, or have it made again. */
static bool is_being_made(const struct stalker_thread *thread, const struct told_call *told, uint64_t pc)
{
    struct gait_cpu_context there = {.pc = pc};

    return thread->engine->machine->registers->system_call_next(&there).value == told->next;
}

void call_telling_returned(struct stalker_thread *thread, const struct gait_cpu_context *cpu)
{
    const struct engine *machine = thread->engine->machine;
    uint64_t sp = gait_cpu_stack_pointer(cpu);
    const struct told_call *told;
    struct system_call call;
    struct made_call made;

    if (thread->told_count == 0)
        return;
    told = &thread->told_calls[thread->told_count - 1];
    if (told->sp != sp)
        return;
    /* Where another one returns, this one was abandoned. */
    if (told->next != cpu->pc) {
        thread->told_count -= !is_being_made(thread, told, cpu->pc);
        set_key(thread);
        return;
    }
    /* All registers but that of the number, which has the result, are as they were. */
    machine->registers->system_call_get(cpu, &call);
    made = (struct made_call){.number = told->number,
                              .result = machine->registers->system_call_result(cpu),
                              .entered_time = told->time,
                              .sp = sp};
    for (unsigned i = 0; i < 6; i++)
        made.arguments[i] = (uint64_t)call.arguments[i];
    thread->told_count--;
    set_key(thread);
    thread->engine->teller->left(thread, &made);
}
