/* SPDX-License-Identifier: MIT */
/*
 * Each kind of event is gone through by itself, with what the steps say in parallel. The depth of calls is not known
 * at the start, only its changes: a call that is still under way is forgotten when the stack pointer is above it.
 */
#include "support/step_events.h"

#include <stdio.h>

struct call_frame {
    uint64_t sp;
    uint64_t return_address;
};

/* The calls under way. */
struct call_depth {
    struct call_frame frames[STEP_LIST_ROOM];
    size_t count;
    bool is_known; /* the depth of the first event was seen */
    int32_t base;
};

static const struct gait_event *next_of(const struct event_list *list, uint32_t kinds, size_t *cursor)
{
    while (*cursor < list->count && !(list->events[*cursor].kind & kinds))
        ++*cursor;
    return *cursor < list->count ? &list->events[(*cursor)++] : NULL;
}

static bool goes_straight(const struct step_span *span, size_t from)
{
    for (; from < span->insn_count; from++)
        if (span->steps[from].rip != x86_insn_next(&span->insns[from - 1]).value)
            return false;
    return true;
}

/* ---- instructions ---------------------------------------------------------------------------------------------------
 */

/* Beyond the end of the run there may be the rest of its last block. */
static bool check_rest(const struct event_list *list, size_t cursor, uint64_t last)
{
    const struct gait_event *event;

    while ((event = next_of(list, GAIT_EVENT_EXEC, &cursor)) != NULL) {
        if (event->location <= last || event->location > last + X86_MAX_INSN_BYTES) {
            printf("events: instruction %llx behind the last one\n", (unsigned long long)event->location);
            return false;
        }
        last = event->location;
    }
    return true;
}

static bool compare_instructions(const struct step_span *span, const struct event_list *list)
{
    size_t cursor = 0;

    for (size_t i = 0; i < span->insn_count; i++) {
        const struct gait_event *event = next_of(list, GAIT_EVENT_EXEC, &cursor);

        if (event == NULL && (i == 0 ? goes_straight(span, 1) : goes_straight(span, i + 1)))
            return true;
        if (event == NULL || event->location != span->steps[i].rip) {
            printf("events: instruction %zu is %llx, expected %llx\n", i,
                   event == NULL ? 0 : (unsigned long long)event->location, (unsigned long long)span->steps[i].rip);
            return false;
        }
    }
    return check_rest(list, cursor, span->steps[span->insn_count - 1].rip);
}

/* ---- blocks ---------------------------------------------------------------------------------------------------------
 */

/* The first step behind a block that begins at one. */
static size_t end_of_block(const struct step_span *span, size_t from, uint64_t end)
{
    do {
        from++;
    } while (from < span->insn_count && span->steps[from].rip == x86_insn_next(&span->insns[from - 1]).value &&
             span->steps[from].rip < end);
    return from;
}

static bool compare_blocks(const struct step_span *span, const struct event_list *list)
{
    const struct gait_event *event;
    size_t cursor = 0, step = 0;

    while ((event = next_of(list, GAIT_EVENT_BLOCK, &cursor)) != NULL) {
        if (step >= span->insn_count || event->location != span->steps[step].rip) {
            printf("events: block %llx, expected %llx\n", (unsigned long long)event->location,
                   step >= span->insn_count ? 0 : (unsigned long long)span->steps[step].rip);
            return false;
        }
        step = end_of_block(span, step, event->target);
        if (step < span->insn_count && x86_insn_next(&span->insns[step - 1]).value != event->target) {
            printf("events: block %llx ends at %llx, expected %llx\n", (unsigned long long)event->location,
                   (unsigned long long)event->target, (unsigned long long)x86_insn_next(&span->insns[step - 1]).value);
            return false;
        }
    }
    if (step < span->insn_count && !goes_straight(span, step + 1)) {
        printf("events: no block at %llx\n", (unsigned long long)span->steps[step].rip);
        return false;
    }
    return true;
}

/* ---- calls and returns ----------------------------------------------------------------------------------------------
 */

static bool is_call(const struct x86_insn *insn)
{
    return insn->flow == X86_FLOW_CALL || insn->flow == X86_FLOW_CALL_INDIRECT;
}

static void enter_call(struct call_depth *depth, const struct step *step, const struct x86_insn *insn)
{
    depth->frames[depth->count++] = (struct call_frame){step->gpr[X86_RSP], x86_insn_next(insn).value};
}

/* Calls that the stack pointer has left behind are over. */
static void leave_behind(struct call_depth *depth, uint64_t sp)
{
    while (depth->count > 0 && depth->frames[depth->count - 1].sp <= sp)
        depth->count--;
}

/* The call that the return belongs to is the innermost one; false: there is none. */
static bool find_call(struct call_depth *depth, uint64_t return_address)
{
    for (size_t i = depth->count; i > 0; i--)
        if (depth->frames[i - 1].return_address == return_address) {
            depth->count = i;
            return true;
        }
    return false;
}

static bool check_event(struct call_depth *depth, const struct gait_event *event, uint64_t location, uint64_t target)
{
    int32_t expected = depth->base + (int32_t)depth->count;

    if (event == NULL) {
        printf("events: no call or return at %llx\n", (unsigned long long)location);
        return false;
    }
    if (!depth->is_known) {
        depth->base = event->depth - (int32_t)depth->count;
        depth->is_known = true;
        expected = event->depth;
    }
    if (event->location == location && event->target == target && event->depth == expected)
        return true;
    printf("events: %s at %llx to %llx, depth %d, expected %llx to %llx, depth %d\n",
           event->kind == GAIT_EVENT_CALL ? "call" : "return", (unsigned long long)event->location,
           (unsigned long long)event->target, event->depth, (unsigned long long)location, (unsigned long long)target,
           expected);
    return false;
}

static bool compare_calls(const struct step_span *span, const struct event_list *list, uint32_t wanted)
{
    static struct call_depth depth;
    const struct gait_event *event;
    size_t cursor = 0;

    depth.count = 0;
    depth.is_known = false;
    for (size_t i = 0; i + 1 < span->count; i++) {
        const struct step *step = &span->steps[i];
        const struct x86_insn *insn = &span->insns[i];
        uint64_t target = span->steps[i + 1].rip;

        if (is_call(insn)) {
            leave_behind(&depth, step->gpr[X86_RSP]);
            if (wanted & GAIT_EVENT_CALL &&
                !check_event(&depth, next_of(list, GAIT_EVENT_CALL | GAIT_EVENT_RET, &cursor), step->rip, target))
                return false;
            enter_call(&depth, step, insn);
        } else if (insn->flow == X86_FLOW_RETURN && wanted & GAIT_EVENT_RET) {
            bool is_ours = find_call(&depth, target);

            if (!check_event(&depth, next_of(list, GAIT_EVENT_CALL | GAIT_EVENT_RET, &cursor), step->rip, target))
                return false;
            depth.count -= is_ours;
        }
    }
    /* A call that could not push its return address was about to be made. */
    event = next_of(list, GAIT_EVENT_CALL | GAIT_EVENT_RET, &cursor);
    if (event == NULL || (event->location == span->steps[span->insn_count - 1].rip && event->kind == GAIT_EVENT_CALL))
        return true;
    printf("events: %s at %llx did not happen\n", event->kind == GAIT_EVENT_CALL ? "call" : "return",
           (unsigned long long)event->location);
    return false;
}

bool step_events_compare(const struct step_span *span, const struct event_list *list, uint32_t wanted)
{
    bool is_equal = true;

    if (wanted & GAIT_EVENT_EXEC)
        is_equal = compare_instructions(span, list);
    if (wanted & GAIT_EVENT_BLOCK)
        is_equal = compare_blocks(span, list) && is_equal;
    if (wanted & (GAIT_EVENT_CALL | GAIT_EVENT_RET))
        is_equal = compare_calls(span, list, wanted) && is_equal;
    return is_equal;
}
