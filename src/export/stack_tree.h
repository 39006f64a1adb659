/* SPDX-License-Identifier: MIT */
/*
 * All calls of a trace by who called whom: a node for each distinct stack, with how many calls there were and how long
 * they took. The outermost frames are the names of threads. Memory grows with distinct stacks. One thread at a time.
 */
#ifndef GAIT_EXPORT_STACK_TREE_H
#define GAIT_EXPORT_STACK_TREE_H

#include "base/hash_map.h"
#include "export/export_calls.h"
#include "export/frame_texts.h"

/* Deeper frames than that are one, called STACK_TREE_DEEPER: what recurses has many stacks, all alike. */
#define STACK_TREE_DEPTH_MAX 1000u
#define STACK_TREE_DEEPER    "[deeper calls]"

#define STACK_NO_NODE        UINT32_MAX

struct stack_node {
    uint32_t parent; /* STACK_NO_NODE: of the root, which is node 0 and no frame */
    uint32_t frame;
    uint32_t depth;       /* of the root 0 */
    uint32_t first_child; /* in the order of texts; STACK_NO_NODE: there is none */
    uint32_t next_sibling;
    uint64_t call_count;
    uint64_t self_ns;
    uint64_t total_ns;     /* with all below */
    uint64_t sample_count; /* of what the kernel sampled: with all below */
    uint64_t self_sample_count;
};

struct stack_tree {
    struct stack_node *nodes;
    size_t node_count;
    size_t node_capacity;
    struct frame_texts frames;
    struct hash_map children;  /* parent and frame -> node */
    uint64_t guessed_count;    /* of calls whose times are guesses */
    uint64_t entry_only_count; /* of calls whose times nobody knows */
    uint64_t gap_count;
    uint64_t lost_bytes;
    uint64_t lost_sample_count;
    char divider; /* between the name and the file of a frame that was sampled; NUL: names have none */
};

/*
 * Reads all calls of the job. make_text makes the text of a function's frame (to be freed). To be given back with
 * stack_tree_deinit also after errors; what could be read is there.
 */
MUST_USE int stack_tree_read(struct stack_tree *tree, const struct export_job *job,
                             char *(*make_text)(const struct view_function *function), struct gait_error *err);
/* The same; the texts of frames that the kernel sampled are made of name, divider and file, as make_text's may be. */
MUST_USE int stack_tree_read_divided(struct stack_tree *tree, const struct export_job *job,
                                     char *(*make_text)(const struct view_function *function), char divider,
                                     struct gait_error *err);
void stack_tree_deinit(struct stack_tree *tree);

/*
 * The same with nothing but the stacks that the kernel took with its events: below the root there is a node for what
 * was asked for, below that one for the thread, then the stack. stack_tree_read has them beside the threads.
 */
MUST_USE int stack_tree_read_samples(struct stack_tree *tree, const struct export_job *job, struct gait_error *err);

/* The next one, when all are visited, each before those below it. STACK_NO_NODE behind the last. */
uint32_t stack_tree_next(const struct stack_tree *tree, uint32_t node);
/* The same, but passes over those below the node. */
uint32_t stack_tree_next_beside(const struct stack_tree *tree, uint32_t node);

static inline const char *stack_tree_text(const struct stack_tree *tree, uint32_t node)
{
    return tree->frames.texts[tree->nodes[node].frame];
}

#endif
