/* SPDX-License-Identifier: MIT */
/*
 * Stacks that the kernel took, of a profile or of any other source, added up: by paths from the outermost frame to the
 * innermost, and by functions. A function is what has one name in one file. Memory grows with distinct stacks. One
 * thread at a time.
 */
#ifndef GAIT_VIEW_SAMPLE_TREE_H
#define GAIT_VIEW_SAMPLE_TREE_H

#include "trace/kernel_events.h"
#include "view/view_functions.h"

#define SAMPLE_NONE      UINT32_MAX
#define SAMPLE_ROOT      0u
#define SAMPLE_DEPTH_MAX (2u * KERNEL_FRAMES_MAX + 1)

struct sample_function {
    const char *name;
    const char *module; /* the file's last name; "kernel", "[jit]", or "" where nothing is known */
    bool is_thread;     /* no function, but the name of the thread that stacks are of */
    uint32_t next;      /* with the same hash */
    uint64_t self;      /* samples of which it is the innermost frame */
    uint64_t total;     /* samples in whose stacks it is, once each */
    uint64_t seen;      /* the last of these */
};

struct sample_node {
    uint32_t function;
    uint32_t parent;
    uint32_t first_child; /* after sample_tree_sort(), the one with the most samples; SAMPLE_NONE */
    uint32_t next;
    uint64_t self;
    uint64_t total;
};

struct sample_tree {
    struct sample_function *functions;
    size_t function_count;
    size_t function_capacity;
    struct sample_node *nodes; /* parents before their children */
    size_t node_count;
    size_t node_capacity;
    struct hash_map names;
    struct hash_map children;
    uint64_t sample_count; /* that have stacks */
    uint64_t bare_count;   /* that have none */
};

/* The trees of all sources of a trace. */
struct sample_trees {
    struct kernel_sources sources;
    struct sample_tree *trees; /* by the source's id */
    struct gait_error problem; /* not all could be read; code 0: all was */
};

/* Of threads with one of these names (globs) or numbers; without any, of all. */
struct sample_choice {
    const char *const *threads;
    size_t thread_count;
};

/* A frame of a path that is added. */
struct sample_place {
    const char *name;
    const char *module;
    bool is_thread;
};

/* -ENOMEM. */
MUST_USE int sample_tree_init(struct sample_tree *tree);
void sample_tree_deinit(struct sample_tree *tree);

/* Adds so many samples of a stack, whose outermost place is the first. -ENOMEM. */
MUST_USE int sample_tree_add(struct sample_tree *tree, const struct sample_place *places, size_t place_count,
                             uint64_t sample_count);

/* When all were added: totals of nodes, and their order. */
void sample_tree_sort(struct sample_tree *tree);

static inline const struct sample_function *sample_tree_function(const struct sample_tree *tree, uint32_t node)
{
    return &tree->functions[tree->nodes[node].function];
}

/* -ENOENT: the trace has no events of the kernel; -ENOMEM and others, explained. */
MUST_USE int sample_trees_read(struct sample_trees *trees, struct view_functions *functions,
                               const struct sample_choice *choice, struct gait_error *err);
void sample_trees_deinit(struct sample_trees *trees);

/* Whether there are stacks of any source. */
bool sample_trees_have_stacks(const struct sample_trees *trees);

/*
 * What is around the functions that a glob means, on all paths together: below the function whom it called, or with
 * `callers` who called it. -ENOENT: there is no such function.
 */
MUST_USE int sample_tree_focus(const struct sample_tree *tree, const char *glob, bool callers,
                               struct sample_tree *focus_out);

#endif
