/* SPDX-License-Identifier: MIT */
/*
 * What does it cost to count how often each block runs, with a counter of its own for each that a transformer puts in?
 * Arguments and environment are those of bench/follow.c.
 */
#include "support/followed_table.h"

#define ROUNDS        5
#define SCALE_PERCENT 50

static void count_block(void *context, struct gait_iterator *iterator)
{
    uint64_t *counter = gait_iterator_new_counter(iterator);

    (void)context;
    if (gait_iterator_next(iterator, NULL)) {
        if (counter != NULL)
            gait_iterator_put_count(iterator, counter);
        gait_iterator_keep(iterator);
    }
    while (gait_iterator_next(iterator, NULL))
        gait_iterator_keep(iterator);
}

int main(int argc, char **argv)
{
    static const struct gait_transformer transformer = {.transform = count_block};
    static const struct followed_way ways[] = {{.name = "counted", .options.transformer = &transformer}};
    struct followed_table table = {
        .contest = {ways, 1, followed_run_scale(SCALE_PERCENT), ROUNDS},
        .peers = {PEER_COUNTER},
    };

    return followed_table_print(&table, argc, argv);
}
