/* SPDX-License-Identifier: MIT */
/*
 * The shortest program that follows something: how many calls, instructions and blocks does qsort() take for six
 * numbers? README.md shows it. For a program that handles errors see the others here, all of which use the same few
 * functions of gait/stalker.h.
 */
#include "gait/stalker.h"

#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int add(void *totals, const struct gait_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((unsigned *)totals)[events[i].kind]++;
    return 0;
}

int main(void)
{
    int numbers[] = {5, 3, 8, 1, 9, 2};
    unsigned totals[32] = {0};
    struct gait_event_sink sink = {add, totals};
    struct gait_follow_options options = {
        .size_bytes = sizeof(options),
        .events = GAIT_EVENT_CALL | GAIT_EVENT_EXEC | GAIT_EVENT_BLOCK,
        .sink = &sink,
    };
    struct gait_stalker *stalker;

    if (gait_stalker_create(NULL, &stalker, NULL) != 0 || gait_stalker_follow_me(stalker, &options, NULL) != 0)
        return 1;
    qsort(numbers, 6, sizeof(numbers[0]), compare);
    gait_stalker_unfollow_me(stalker, NULL);
    printf("%u calls, %u instructions in %u blocks\n", totals[GAIT_EVENT_CALL], totals[GAIT_EVENT_EXEC],
           totals[GAIT_EVENT_BLOCK]);
    gait_stalker_destroy(stalker);
    return 0;
}
