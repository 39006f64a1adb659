/* SPDX-License-Identifier: MIT */
/* Nodes are found by their parent and function; a function by its name and file. */
#define _GNU_SOURCE
#include "view/sample_tree.h"

#include "base/glob.h"
#include "base/text_hash.h"
#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "view/kernel_stack.h"
#include "view/thread_pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where a program keeps no frame pointers, chains of them end anywhere: there is no code so low. */
#define NO_CODE_BELOW 0x1000u

/* All events of a recording have stacks, or none, but for those of profiles: of many without, others are not looked at.
 */
#define EVENTS_WITHOUT_MAX 65536u

/* ---- a tree ------------------------------------------------------------------------------------------------------ */

static int add_node(struct sample_tree *tree, uint32_t parent, uint32_t function, uint32_t *node_out)
{
    if (tree->node_count >= SAMPLE_NONE || ARRAY_RESERVE(tree->nodes, tree->node_capacity, tree->node_count + 1) != 0)
        return -ENOMEM;
    tree->nodes[tree->node_count] =
        (struct sample_node){.function = function, .parent = parent, .first_child = SAMPLE_NONE, .next = SAMPLE_NONE};
    *node_out = (uint32_t)tree->node_count++;
    return 0;
}

int sample_tree_init(struct sample_tree *tree)
{
    uint32_t root;
    int result;

    *tree = (struct sample_tree){.node_count = 0};
    result = hash_map_init(&tree->names, 64);
    if (result != 0)
        return result;
    result = hash_map_init(&tree->children, 64);
    if (result == 0)
        result = add_node(tree, SAMPLE_NONE, SAMPLE_NONE, &root);
    if (result != 0)
        sample_tree_deinit(tree);
    return result;
}

void sample_tree_deinit(struct sample_tree *tree)
{
    for (size_t i = 0; i < tree->function_count; i++) {
        free((char *)(uintptr_t)tree->functions[i].name);
        free((char *)(uintptr_t)tree->functions[i].module);
    }
    free(tree->functions);
    free(tree->nodes);
    hash_map_deinit(&tree->names);
    hash_map_deinit(&tree->children);
    *tree = (struct sample_tree){.node_count = 0};
}

static bool is_at(const struct sample_function *function, const struct sample_place *place)
{
    return function->is_thread == place->is_thread && strcmp(function->name, place->name) == 0 &&
           strcmp(function->module, place->module) == 0;
}

static int add_function(struct sample_tree *tree, const struct sample_place *place, uint64_t hash, uint32_t next,
                        uint32_t *function_out)
{
    struct sample_function made = {.is_thread = place->is_thread, .next = next};

    if (tree->function_count >= SAMPLE_NONE ||
        ARRAY_RESERVE(tree->functions, tree->function_capacity, tree->function_count + 1) != 0 ||
        hash_map_set(&tree->names, hash, tree->function_count) != 0)
        return -ENOMEM;
    /* Nobody else looks. */
    hash_map_reclaim(&tree->names);
    made.name = strdup(place->name);
    made.module = strdup(place->module);
    tree->functions[tree->function_count] = made;
    *function_out = (uint32_t)tree->function_count++;
    return made.name == NULL || made.module == NULL ? -ENOMEM : 0;
}

static int find_function(struct sample_tree *tree, const struct sample_place *place, uint32_t *function_out)
{
    uint64_t hash = text_hash(place->name) ^ text_hash(place->module) << 1 ^ place->is_thread, first = SAMPLE_NONE;

    (void)hash_map_lookup(&tree->names, hash, &first);
    for (uint32_t at = (uint32_t)first; at != SAMPLE_NONE; at = tree->functions[at].next)
        if (is_at(&tree->functions[at], place)) {
            *function_out = at;
            return 0;
        }
    return add_function(tree, place, hash, (uint32_t)first, function_out);
}

static int find_child(struct sample_tree *tree, uint32_t parent, uint32_t function, uint32_t *node_out)
{
    uint64_t key = (uint64_t)parent << 32 | function, number;
    int result;

    if (hash_map_lookup(&tree->children, key, &number)) {
        *node_out = (uint32_t)number;
        return 0;
    }
    result = add_node(tree, parent, function, node_out);
    if (result == 0)
        result = hash_map_set(&tree->children, key, *node_out);
    hash_map_reclaim(&tree->children);
    return result;
}

int sample_tree_add(struct sample_tree *tree, const struct sample_place *places, size_t place_count,
                    uint64_t sample_count)
{
    uint32_t node = SAMPLE_ROOT, function = SAMPLE_NONE;

    tree->sample_count += sample_count;
    for (size_t i = 0; i < place_count; i++) {
        int result = find_function(tree, &places[i], &function);

        if (result == 0)
            result = find_child(tree, node, function, &node);
        if (result != 0)
            return result;
        /* One that calls itself is in the stack once. */
        if (tree->functions[function].seen != tree->sample_count)
            tree->functions[function].total += sample_count;
        tree->functions[function].seen = tree->sample_count;
    }
    tree->nodes[node].self += sample_count;
    if (function != SAMPLE_NONE)
        tree->functions[function].self += sample_count;
    return 0;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static int compare(const void *left_node, const void *right_node, void *context)
{
    const struct sample_tree *tree = context;
    const struct sample_node *left = &tree->nodes[*(const uint32_t *)left_node],
                             *right = &tree->nodes[*(const uint32_t *)right_node];

    if (left->total != right->total)
        return left->total > right->total ? -1 : 1;
    return strcmp(tree->functions[left->function].name, tree->functions[right->function].name);
}

void sample_tree_sort(struct sample_tree *tree)
{
    uint32_t *order = calloc(tree->node_count, sizeof(*order));

    for (size_t i = tree->node_count; i-- > 0;) {
        struct sample_node *node = &tree->nodes[i];

        node->total += node->self;
        if (node->parent != SAMPLE_NONE)
            tree->nodes[node->parent].total += node->total;
        if (order != NULL)
            order[i] = (uint32_t)i;
    }
    if (order != NULL && tree->node_count > 1)
        qsort_r(order + 1, tree->node_count - 1, sizeof(*order), compare, tree);
    /* The last one first, so that each is put before those that are linked. Without memory they are in some order. */
    for (size_t i = tree->node_count; i-- > 1;) {
        uint32_t which = order == NULL ? (uint32_t)i : order[i];
        struct sample_node *node = &tree->nodes[which], *parent = &tree->nodes[node->parent];

        node->next = parent->first_child;
        parent->first_child = which;
    }
    free(order);
}

/* ---- around a function ------------------------------------------------------------------------------------------- */

static bool is_meant(const struct sample_tree *tree, uint32_t node, const char *glob)
{
    const struct sample_function *function = sample_tree_function(tree, node);
    const char *divider = strchr(glob, '!');
    char module[256];

    if (function->is_thread)
        return false;
    if (divider == NULL || (size_t)(divider - glob) >= sizeof(module))
        return glob_matches_string(glob, function->name);
    memcpy(module, glob, (size_t)(divider - glob));
    module[divider - glob] = '\0';
    return glob_matches_string(module, function->module) && glob_matches_string(divider + 1, function->name);
}

static struct sample_place place_of(const struct sample_tree *tree, uint32_t node)
{
    const struct sample_function *function = sample_tree_function(tree, node);

    return (struct sample_place){function->name, function->module, function->is_thread};
}

/* The nodes from the outermost to one of them. How many. */
static size_t path_to(const struct sample_tree *tree, uint32_t node, uint32_t path_out[SAMPLE_DEPTH_MAX])
{
    size_t count = 0;

    for (uint32_t at = node; at != SAMPLE_ROOT; at = tree->nodes[at].parent)
        count++;
    for (size_t i = count; i-- > 0; node = tree->nodes[node].parent)
        path_out[i] = node;
    return count;
}

static int focus_on(const struct sample_tree *tree, uint32_t node, const char *glob, bool callers,
                    struct sample_tree *focus)
{
    uint32_t path[SAMPLE_DEPTH_MAX];
    struct sample_place places[SAMPLE_DEPTH_MAX];
    size_t count = path_to(tree, node, path), at = 0, place_count = 0;

    while (at < count && !is_meant(tree, path[at], glob))
        at++;
    if (at == count)
        return 0;
    if (callers)
        for (size_t i = at + 1; i-- > 0;)
            places[place_count++] = place_of(tree, path[i]);
    else
        for (size_t i = at; i < count; i++)
            places[place_count++] = place_of(tree, path[i]);
    return sample_tree_add(focus, places, place_count, tree->nodes[node].self);
}

int sample_tree_focus(const struct sample_tree *tree, const char *glob, bool callers, struct sample_tree *focus_out)
{
    struct sample_tree focus;
    int result = sample_tree_init(&focus);

    if (result != 0)
        return result;
    for (uint32_t node = 1; node < tree->node_count && result == 0; node++)
        if (tree->nodes[node].self != 0)
            result = focus_on(tree, node, glob, callers, &focus);
    if (result == 0 && focus.sample_count == 0)
        result = -ENOENT;
    if (result != 0) {
        sample_tree_deinit(&focus);
        return result;
    }
    sample_tree_sort(&focus);
    *focus_out = focus;
    return 0;
}

/* ---- out of a trace ---------------------------------------------------------------------------------------------- */

struct sample_reading {
    struct sample_trees *trees;
    struct view_functions *functions;
    const struct sample_choice *choice;
};

static bool is_chosen(const struct sample_choice *choice, uint32_t tid, const char *name)
{
    for (size_t i = 0; i < choice->thread_count; i++)
        if (thread_pattern_means(choice->threads[i], tid, name))
            return true;
    return choice->thread_count == 0;
}

/* Texts of frames stay until the sample was added. */
struct frame_text {
    char name[KERNEL_FRAME_NAME_BYTES];
    const char *module;
};

static const char *module_of(const struct kernel_frame *frame)
{
    const char *path = frame->module == NULL ? "" : frame->module->path, *slash = strrchr(path, '/');

    if (frame->is_kernel)
        return "kernel";
    /* Its runtime has told the name. */
    if (frame->module == NULL && frame->is_named)
        return "[jit]";
    return slash == NULL ? path : slash + 1;
}

static int add_stack(struct sample_reading *reading, const struct kernel_event *event, const char *thread,
                     struct frame_text *texts)
{
    struct sample_place places[SAMPLE_DEPTH_MAX] = {{thread[0] == '\0' ? "thread" : thread, "", true}};
    struct kernel_frame frame;
    size_t count = 1;

    for (size_t i = kernel_stack_depth(event); i-- > 0 && count < SAMPLE_DEPTH_MAX;) {
        kernel_stack_frame(reading->functions, &reading->trees->sources, event, i, &frame);
        if (frame.address < NO_CODE_BELOW)
            continue;
        memcpy(texts[count].name, frame.name, sizeof(frame.name));
        places[count] = (struct sample_place){texts[count].name, module_of(&frame), false};
        count++;
    }
    return sample_tree_add(&reading->trees->trees[event->source], places, count, 1);
}

static bool has_profile(const struct kernel_sources *sources)
{
    for (size_t i = 0; i < sources->source_count; i++)
        if (sources->sources[i].id != 0 && strncmp(sources->sources[i].spec, "profile:", 8) == 0)
            return true;
    return false;
}

static int read_events(struct sample_reading *reading, struct kernel_events *events)
{
    struct frame_text *texts = calloc(SAMPLE_DEPTH_MAX, sizeof(*texts));
    bool is_worth_it = has_profile(&reading->trees->sources);
    uint64_t event_count = 0;
    struct kernel_event event;
    int result = texts == NULL ? -ENOMEM : 0;

    while (result == 0 && (is_worth_it || event_count++ < EVENTS_WITHOUT_MAX) && kernel_events_next(events, &event)) {
        const char *thread = kernel_sources_thread(&reading->trees->sources, event.tid, event.time);

        is_worth_it = is_worth_it || kernel_stack_depth(&event) != 0;
        if (event.source >= reading->trees->sources.source_count || !is_chosen(reading->choice, event.tid, thread))
            continue;
        if (kernel_stack_depth(&event) == 0)
            reading->trees->trees[event.source].bare_count++;
        else
            result = add_stack(reading, &event, thread, texts);
    }
    free(texts);
    return result;
}

static int make_trees(struct sample_trees *trees)
{
    int result = 0;

    trees->trees = calloc(trees->sources.source_count + 1, sizeof(*trees->trees));
    if (trees->trees == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < trees->sources.source_count && result == 0; i++)
        result = sample_tree_init(&trees->trees[i]);
    return result;
}

int sample_trees_read(struct sample_trees *trees, struct view_functions *functions, const struct sample_choice *choice,
                      struct gait_error *err)
{
    struct sample_reading reading = {trees, functions, choice};
    struct kernel_events events;
    int result;

    *trees = (struct sample_trees){.trees = NULL};
    result = kernel_events_sources(&functions->trace->files, &trees->sources, err);
    if (result != 0)
        return result;
    result = make_trees(trees);
    if (result == 0)
        result = kernel_events_open(&events, &functions->trace->files, err);
    else
        (void)error_set(err, ENOMEM, "cannot add up stacks: there is no memory");
    if (result == 0) {
        result = read_events(&reading, &events);
        if (result != 0)
            (void)error_set(err, ENOMEM, "cannot add up stacks: there is no memory");
        trees->problem = events.problem;
        kernel_events_close(&events);
    }
    for (size_t i = 0; result == 0 && i < trees->sources.source_count; i++)
        sample_tree_sort(&trees->trees[i]);
    if (result != 0)
        sample_trees_deinit(trees);
    return result;
}

void sample_trees_deinit(struct sample_trees *trees)
{
    for (size_t i = 0; trees->trees != NULL && i < trees->sources.source_count; i++)
        if (trees->trees[i].node_count != 0)
            sample_tree_deinit(&trees->trees[i]);
    free(trees->trees);
    kernel_sources_deinit(&trees->sources);
    *trees = (struct sample_trees){.trees = NULL};
}

bool sample_trees_have_stacks(const struct sample_trees *trees)
{
    for (size_t i = 0; i < trees->sources.source_count; i++)
        if (trees->trees[i].sample_count != 0)
            return true;
    return false;
}
