/* SPDX-License-Identifier: MIT */
/*
 * While calls are read, a node knows its parent only, and a map finds children. When all were read, nodes are linked by
 * texts, and totals are added up: a node's number is higher than its parent's.
 */
#define _GNU_SOURCE
#include "export/stack_tree.h"

#include "export/export_records.h"
#include "export/export_text.h"
#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "view/kernel_stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NODES_AT_FIRST 256u
#define NAME_BYTES     64u
#define NO_CODE_BELOW  4096u

struct tree_reading {
    struct stack_tree *tree;
    const struct export_job *job;
    uint32_t node;     /* where the thread is */
    uint32_t too_deep; /* so many calls below it */
};

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static uint32_t add_node(struct stack_tree *tree, uint32_t parent, uint32_t frame)
{
    if (tree->node_count >= STACK_NO_NODE || ARRAY_RESERVE(tree->nodes, tree->node_capacity, tree->node_count + 1) != 0)
        return STACK_NO_NODE;
    tree->nodes[tree->node_count] =
        (struct stack_node){.parent = parent,
                            .frame = frame,
                            .depth = parent == STACK_NO_NODE ? 0 : tree->nodes[parent].depth + 1,
                            .first_child = STACK_NO_NODE,
                            .next_sibling = STACK_NO_NODE};
    return (uint32_t)tree->node_count++;
}

static uint32_t child_of(struct stack_tree *tree, uint32_t parent, uint32_t frame)
{
    uint64_t key = (uint64_t)parent << 32 | frame, known;
    uint32_t node;

    if (frame == FRAME_NONE)
        return STACK_NO_NODE;
    if (hash_map_lookup(&tree->children, key, &known))
        return (uint32_t)known;
    node = add_node(tree, parent, frame);
    if (node == STACK_NO_NODE || hash_map_set(&tree->children, key, node) != 0)
        return STACK_NO_NODE;
    /* Nobody else looks. */
    hash_map_reclaim(&tree->children);
    return node;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static int take_begin(void *context, const struct export_call *call)
{
    struct tree_reading *reading = context;
    struct stack_tree *tree = reading->tree;
    uint32_t depth = tree->nodes[reading->node].depth;

    if (depth > STACK_TREE_DEPTH_MAX) {
        reading->too_deep++;
        return 0;
    }
    reading->node = child_of(tree, reading->node,
                             depth == STACK_TREE_DEPTH_MAX ? frame_texts_number(&tree->frames, STACK_TREE_DEEPER)
                                                           : frame_texts_of_function(&tree->frames, call->function));
    return reading->node == STACK_NO_NODE ? -ENOMEM : 0;
}

static int take_end(void *context, const struct export_call *call)
{
    struct tree_reading *reading = context;
    struct stack_node *node = &reading->tree->nodes[reading->node];

    node->call_count += !(call->flags & CALL_RESUMED);
    node->self_ns += call->end_ns - call->begin_ns - call->inner_ns;
    reading->tree->entry_only_count += (call->flags & CALL_ENTRY_ONLY) != 0;
    reading->tree->guessed_count += (call->flags & CALL_GUESSED) != 0;
    if (reading->too_deep > 0)
        reading->too_deep--;
    else
        reading->node = node->parent;
    return 0;
}

static int take_gap(void *context, size_t thread, uint64_t time_ns, uint64_t lost_bytes)
{
    struct tree_reading *reading = context;

    (void)thread, (void)time_ns;
    reading->tree->gap_count++;
    reading->tree->lost_bytes += lost_bytes;
    return 0;
}

static int read_thread(struct tree_reading *reading, size_t index, struct gait_error *err)
{
    const struct export_receiver receiver = {take_begin, take_end, take_gap, reading};
    const struct view_thread *thread = &reading->job->trace->threads[index];
    char name[NAME_BYTES];

    if (thread->name[0] == '\0')
        snprintf(name, sizeof(name), "thread %u", thread->tid);
    else
        export_text_clean(name, sizeof(name), thread->name);
    reading->node = child_of(reading->tree, 0, frame_texts_number(&reading->tree->frames, name));
    if (reading->node == STACK_NO_NODE)
        return error_set(err, ENOMEM, "cannot add up the calls of thread %u: there is no memory", thread->tid);
    return export_calls_read(reading->job, index, &receiver, err);
}

/* ---- what the kernel saw ----------------------------------------------------------------------------------------- */

/* The file of a frame, as it is shown. */
static const char *module_of(const struct kernel_frame *frame)
{
    if (frame->is_kernel)
        return "kernel";
    if (frame->module != NULL)
        return export_last_name(frame->module->path);
    /* Its runtime has told the name. */
    return frame->is_named ? "[jit]" : "";
}

/* The frame of a place in a program or in the kernel. */
static uint32_t frame_of_place(struct stack_tree *tree, const struct kernel_frame *frame)
{
    char text[2 * KERNEL_FRAME_NAME_BYTES];
    size_t length = export_text_clean(text, KERNEL_FRAME_NAME_BYTES, frame->name);

    if (tree->divider != '\0') {
        text[length] = tree->divider;
        export_text_clean(text + length + 1, KERNEL_FRAME_NAME_BYTES, module_of(frame));
    }
    return frame_texts_number(&tree->frames, text);
}

/* The frame that a place in a stack is of: the name as it is shown, clean. */
static uint32_t frame_of(struct stack_tree *tree, const char *name)
{
    char clean[KERNEL_FRAME_NAME_BYTES];

    export_text_clean(clean, sizeof(clean), name);
    return frame_texts_number(&tree->frames, clean);
}

/* What was asked for, the thread, and the stack: samples of several sources do not mix, nor with calls. */
static int take_sample(void *context, const struct export_kernel_event *told)
{
    struct tree_reading *reading = context;
    struct stack_tree *tree = reading->tree;
    size_t depth = kernel_stack_depth(told->event);
    struct kernel_frame frame;
    size_t before = tree->node_count;
    uint32_t node;

    if (depth == 0)
        return 0;
    node = child_of(tree, 0, frame_of(tree, told->source->spec));
    if (tree->node_count != before)
        tree->lost_sample_count += told->source->lost_count;
    if (node != STACK_NO_NODE)
        node = child_of(tree, node, frame_of(tree, told->thread[0] == '\0' ? "thread" : told->thread));
    for (size_t i = depth; i-- > 0 && node != STACK_NO_NODE;) {
        kernel_stack_frame(reading->job->functions, told->sources, told->event, i, &frame);
        /* Where a program keeps no frame pointers, chains of them end anywhere: there is no code so low. */
        if (frame.address < NO_CODE_BELOW)
            continue;
        node = child_of(tree, node, frame_of_place(tree, &frame));
    }
    if (node == STACK_NO_NODE)
        return -ENOMEM;
    tree->nodes[node].call_count++;
    tree->nodes[node].self_sample_count++;
    tree->nodes[node].self_ns += export_kernel_weight(told->source);
    return 0;
}

/* ---- when all were read ------------------------------------------------------------------------------------------ */

static void add_totals(struct stack_tree *tree)
{
    for (size_t i = tree->node_count; i-- > 0;) {
        struct stack_node *node = &tree->nodes[i];

        node->total_ns += node->self_ns;
        node->sample_count += node->self_sample_count;
        if (node->parent == STACK_NO_NODE)
            continue;
        tree->nodes[node->parent].total_ns += node->total_ns;
        tree->nodes[node->parent].sample_count += node->sample_count;
    }
}

static int compare(const void *left_node, const void *right_node, void *context)
{
    const struct stack_tree *tree = context;
    uint32_t left = *(const uint32_t *)left_node, right = *(const uint32_t *)right_node;

    if (tree->nodes[left].parent != tree->nodes[right].parent)
        return tree->nodes[left].parent < tree->nodes[right].parent ? -1 : 1;
    return strcmp(stack_tree_text(tree, left), stack_tree_text(tree, right));
}

/* The last one first, so that each is put before those that are linked. */
static int link_nodes(struct stack_tree *tree, struct gait_error *err)
{
    uint32_t *order = calloc(tree->node_count, sizeof(*order));

    if (order == NULL)
        return error_set(err, ENOMEM, "cannot put %zu stacks into order: there is no memory", tree->node_count);
    for (size_t i = 1; i < tree->node_count; i++)
        order[i - 1] = (uint32_t)i;
    qsort_r(order, tree->node_count - 1, sizeof(*order), compare, tree);
    for (size_t i = tree->node_count - 1; i-- > 0;) {
        struct stack_node *node = &tree->nodes[order[i]], *parent = &tree->nodes[node->parent];

        node->next_sibling = parent->first_child;
        parent->first_child = order[i];
    }
    free(order);
    return 0;
}

static int begin_tree(struct stack_tree *tree, const struct export_job *job,
                      char *(*make_text)(const struct view_function *function), struct gait_error *err)
{
    int result;

    *tree = (struct stack_tree){.node_count = 0};
    result = frame_texts_init(&tree->frames, job->functions, make_text);
    if (result == 0)
        result = hash_map_init(&tree->children, NODES_AT_FIRST);
    if (result != 0 || add_node(tree, STACK_NO_NODE, FRAME_NONE) == STACK_NO_NODE)
        return error_set(err, ENOMEM, "cannot add up calls: there is no memory");
    return 0;
}

/* Adds what the kernel saw; then all were read. */
static int end_tree(struct tree_reading *reading, int first, struct gait_error *err)
{
    const struct export_kernel_receiver samples = {take_sample, reading};
    int result;

    first = export_kernel_behind(reading->job, first, &samples, err);
    add_totals(reading->tree);
    result = link_nodes(reading->tree, first == 0 ? err : NULL);
    return first == 0 ? result : first;
}

int stack_tree_read(struct stack_tree *tree, const struct export_job *job,
                    char *(*make_text)(const struct view_function *function), struct gait_error *err)
{
    return stack_tree_read_divided(tree, job, make_text, '\0', err);
}

int stack_tree_read_divided(struct stack_tree *tree, const struct export_job *job,
                            char *(*make_text)(const struct view_function *function), char divider,
                            struct gait_error *err)
{
    struct tree_reading reading = {.tree = tree, .job = job};
    int first = 0, result = begin_tree(tree, job, make_text, err);

    if (result != 0)
        return result;
    tree->divider = divider;
    for (size_t i = 0; i < job->thread_count; i++) {
        result = read_thread(&reading, job->threads[i], first == 0 ? err : NULL);
        first = first == 0 ? result : first;
    }
    return end_tree(&reading, first, err);
}

int stack_tree_read_samples(struct stack_tree *tree, const struct export_job *job, struct gait_error *err)
{
    struct tree_reading reading = {.tree = tree, .job = job};
    int result = begin_tree(tree, job, NULL, err);

    return result == 0 ? end_tree(&reading, 0, err) : result;
}

void stack_tree_deinit(struct stack_tree *tree)
{
    free(tree->nodes);
    frame_texts_deinit(&tree->frames);
    hash_map_deinit(&tree->children);
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

uint32_t stack_tree_next_beside(const struct stack_tree *tree, uint32_t node)
{
    while (node != STACK_NO_NODE && tree->nodes[node].next_sibling == STACK_NO_NODE)
        node = tree->nodes[node].parent;
    return node == STACK_NO_NODE ? node : tree->nodes[node].next_sibling;
}

uint32_t stack_tree_next(const struct stack_tree *tree, uint32_t node)
{
    uint32_t child = tree->nodes[node].first_child;

    return child != STACK_NO_NODE ? child : stack_tree_next_beside(tree, node);
}
