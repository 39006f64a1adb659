/* SPDX-License-Identifier: MIT */
/* Stacks that the kernel took as a tree, and one below the other, with how many samples they are of. */
#ifndef GAIT_CLI_SCREENS_SAMPLE_SCREEN_H
#define GAIT_CLI_SCREENS_SAMPLE_SCREEN_H

#include <stddef.h>
#include <stdint.h>

struct sample_tree;
struct sample_trees;
struct screen;

struct sample_screen {
    struct screen *screen;
    uint32_t depth;   /* how many levels are shown */
    double min_share; /* of all samples: what has less is left out */
    uint64_t hidden_count;
};

/* All paths of each source. */
void sample_screen_put_trees(struct sample_screen *shown, const struct sample_trees *trees);

/* The functions that a glob means, between their callers and what they call. -ENOENT: there are none; -ENOMEM. */
int sample_screen_put_focuses(struct sample_screen *shown, const struct sample_trees *trees, const char *glob);

/* The most frequent stacks of each source, the innermost frame first, so many at most. How many there are. */
size_t sample_screen_put_stacks(struct screen *screen, const struct sample_trees *trees, size_t limit);

#endif
