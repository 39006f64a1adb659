/* SPDX-License-Identifier: MIT */
/* Each call takes one look into a table of addresses; the answer there is good as long as the same file is mapped. */
#include "view/call_counter.h"

#include "hosted/growing_array.h"

#include <errno.h>
#include <stdlib.h>

#define ANSWERS_AT_FIRST 256u

int call_counter_init(struct call_counter *counter, struct call_groups *groups)
{
    *counter = (struct call_counter){.groups = groups};
    return hash_map_init(&counter->addresses, ANSWERS_AT_FIRST);
}

void call_counter_deinit(struct call_counter *counter)
{
    hash_map_deinit(&counter->addresses);
    free(counter->answers);
    free(counter->open);
    call_statistics_table_deinit(&counter->statistics);
}

/* Addresses mean something else in another process. There may be thousands: of one at a time answers are kept. */
static int change_process(struct call_counter *counter, size_t process)
{
    if (counter->process == process)
        return 0;
    hash_map_deinit(&counter->addresses);
    counter->answer_count = 0;
    counter->process = process;
    return hash_map_init(&counter->addresses, ANSWERS_AT_FIRST);
}

static int keep(struct call_counter *counter, uint64_t address, const struct call_group_answer *answer)
{
    struct hash_map *addresses = &counter->addresses;
    uint64_t at;
    int result;

    if (hash_map_lookup(addresses, address, &at)) {
        counter->answers[at] = *answer;
        return 0;
    }
    if (ARRAY_RESERVE(counter->answers, counter->answer_capacity, counter->answer_count + 1) != 0)
        return -ENOMEM;
    result = hash_map_set(addresses, address, counter->answer_count);
    if (result != 0)
        return result;
    /* Nobody else looks. */
    hash_map_reclaim(addresses);
    counter->answers[counter->answer_count++] = *answer;
    return 0;
}

/* A new function, or something else is mapped there by now. */
static __attribute__((noinline)) int ask(struct call_counter *counter, const struct view_call *call,
                                         struct call_group_answer *answer)
{
    int result = call_groups_find(counter->groups, counter->thread, call->function, call->begin, answer);

    if (result == 0 && answer->group != CALL_GROUP_NONE &&
        call_statistics_table_obtain(&counter->statistics, answer->group) == NULL)
        result = -ENOMEM;
    return result != 0 ? result : keep(counter, call->function, answer);
}

static int find_group(struct call_counter *counter, const struct view_call *call, uint32_t *group_out)
{
    struct call_group_answer answer;
    uint64_t at;

    if (hash_map_lookup(&counter->addresses, call->function, &at) && counter->answers[at].from <= call->begin &&
        call->begin < counter->answers[at].to) {
        answer = counter->answers[at];
    } else {
        int result = ask(counter, call, &answer);

        if (result != 0)
            return result;
    }
    /* Answers were given to any thread of the process. */
    if (counter->groups->kind == CALL_GROUP_THREAD && answer.group != CALL_GROUP_NONE)
        answer.group = (uint32_t)counter->thread;
    *group_out = answer.group;
    return 0;
}

static int begin(void *context, const struct view_call *call)
{
    struct call_counter *counter = context;
    uint32_t group;
    int result = find_group(counter, call, &group);

    if (result == 0)
        result = ARRAY_RESERVE(counter->open, counter->open_capacity, (size_t)call->depth + 1);
    if (result != 0)
        return result;
    counter->open[call->depth] = group;
    if (group == CALL_GROUP_NONE)
        return 0;
    call_statistics_begin(&counter->statistics.all[group], call);
    return 0;
}

static int never_resumed(void *context, const struct view_call *call)
{
    struct call_counter *counter = context;
    uint32_t group;
    int result = find_group(counter, call, &group);

    if (result != 0 || group == CALL_GROUP_NONE)
        return result;
    return call_statistics_end_suspended(&counter->statistics.all[group], call);
}

static int end(void *context, const struct view_call *call)
{
    struct call_counter *counter = context;
    uint32_t group = counter->open[call->depth];

    if (group == CALL_GROUP_NONE)
        return 0;
    return call_statistics_end(&counter->statistics.all[group], call);
}

int call_counter_receive(struct call_counter *counter, size_t thread, struct call_receiver *receiver_out)
{
    int result = change_process(counter, counter->groups->trace->threads[thread].process);

    if (result != 0)
        return result;
    counter->thread = thread;
    if (counter->groups->kind == CALL_GROUP_THREAD &&
        call_statistics_table_obtain(&counter->statistics, thread) == NULL)
        return -ENOMEM;
    *receiver_out =
        (struct call_receiver){.begin = begin, .end = end, .context = counter, .never_resumed = never_resumed};
    return 0;
}
