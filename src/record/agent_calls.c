/* SPDX-License-Identifier: MIT */
#include "record/agent_calls.h"

#include "ring/detail_record.h"
#include "syscalls/injection.h"
#include "syscalls/system_call_set.h"

#include <string.h>

/* How much of a string or buffer is kept at most. */
#define STRING_BYTES_MAX (DETAIL_VALUES_BYTES_MAX / 2)

_Static_assert(SYSTEM_CALL_SET_WORDS == AGENT_SYSTEM_CALL_WORDS, "a set is copied as it is");
_Static_assert(INJECTIONS_MAX <= AGENT_INJECTIONS_MAX, "there is room for all");

/* Above all numbers that are known, calls are in a set together or not at all. */
static void copy_set(const struct system_call_set *set, uint64_t words_out[AGENT_SYSTEM_CALL_WORDS])
{
    memcpy(words_out, set->bits, sizeof(set->bits));
    if (set->has_others)
        words_out[AGENT_SYSTEM_CALL_WORDS - 1] |= 1ull << 63;
    else
        words_out[AGENT_SYSTEM_CALL_WORDS - 1] &= ~(1ull << 63);
}

void agent_calls_choose(struct agent_options *agent, const struct system_call_set *set, uint32_t string_bytes)
{
    agent->tells_system_calls = 1;
    agent->system_call_bytes = string_bytes > STRING_BYTES_MAX ? STRING_BYTES_MAX : string_bytes;
    copy_set(set, agent->system_calls);
}

static struct agent_injection injection_of(const struct injection *given)
{
    struct agent_injection injection = {
        .result = given->result,
        .delay_enter_ns = given->delay_enter_ns,
        .delay_exit_ns = given->delay_exit_ns,
        .has_result = given->has_result,
        .signal = (uint32_t)given->signal,
        .first = given->first,
        .last = given->last,
        .step = given->step,
    };

    copy_set(&given->set, injection.system_calls);
    return injection;
}

void agent_calls_inject(struct agent_options *agent, const struct injections *injections)
{
    for (size_t i = 0; i < injections->count; i++)
        agent->injections[agent->injection_count++] = injection_of(&injections->all[i]);
}
