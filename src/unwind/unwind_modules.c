/* SPDX-License-Identifier: MIT */
/*
 * A list of modules by address never changes: a new one takes its place, and the old one is retired. It goes, with the
 * tables that only it had, when each reader was seen outside of its search after that. The cache of rules is part of
 * the list: a thread that is still searching in an old one puts nothing into the new one's.
 */
#include "unwind/unwind_modules.h"

#include "base/memory_functions.h"
#include "base/memory_map.h"
#include "base/partition_point.h"
#include "base/raw_syscall.h"
#include "process/mapping_list.h"
#include "unwind/module_frames.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/membarrier.h>

struct unwind_module_list {
    struct unwind_view view;         /* first: unwind_modules_view knows */
    struct unwind_module_list *next; /* that was retired before */
    size_t size_bytes;
    size_t count;
    struct module_frames *removed;   /* that went with it, linked by their `next` */
    struct module_frames *modules[]; /* by address */
};

_Static_assert(offsetof(struct unwind_module_list, view) == 0, "a list begins with its view");

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static int create_list(size_t capacity, uint64_t generation, struct unwind_module_list **list_out)
{
    size_t size_bytes = sizeof(**list_out) + capacity * sizeof((*list_out)->modules[0]);
    void *storage;
    int result = memory_map(size_bytes, &storage);

    if (result != 0)
        return result;
    *list_out = storage;
    (*list_out)->size_bytes = size_bytes;
    (*list_out)->view.generation = generation;
    return 0;
}

static void destroy_list(struct unwind_module_list *list)
{
    while (list->removed != NULL) {
        struct module_frames *frames = list->removed;

        list->removed = frames->next;
        module_frames_destroy(frames);
    }
    memory_unmap(list, list->size_bytes);
}

static struct unwind_module_list *current_of(struct unwind_modules *modules)
{
    return atomic_load_explicit(&modules->current, memory_order_relaxed);
}

/* The modules of a range leave with the list. */
static void take_out(struct unwind_module_list *list, struct module_frames *frames)
{
    frames->next = list->removed;
    list->removed = frames;
}

static bool overlaps(const struct module_frames *frames, uint64_t start, uint64_t end)
{
    return frames->table.end > start && frames->table.start < end;
}

static void insert(struct unwind_module_list *list, struct module_frames *frames)
{
    size_t place = list->count++;

    for (; place > 0 && list->modules[place - 1]->table.start > frames->table.start; place--)
        list->modules[place] = list->modules[place - 1];
    list->modules[place] = frames;
}

/* ---- retiring ---------------------------------------------------------------------------------------------------- */

/* False: some reader may be looking at what was there before. */
static bool all_are_outside(struct unwind_modules *modules) REQUIRES(modules->lock)
{
    if (raw_syscall(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0) != 0)
        return list_is_empty(&modules->readers);
    LIST_FOR_EACH (node, &modules->readers) {
        const struct unwind_reader *reader = LIST_ELEMENT(node, struct unwind_reader, node);

        if (atomic_load_explicit(&reader->activity, memory_order_acquire) & 1)
            return false;
    }
    return true;
}

static void destroy_retired(struct unwind_modules *modules)
{
    while (modules->retired != NULL) {
        struct unwind_module_list *retired = modules->retired;

        modules->retired = retired->next;
        destroy_list(retired);
    }
}

/* Puts a list in the place of the one before, which goes as soon as it can. */
static void publish(struct unwind_modules *modules, struct unwind_module_list *list) REQUIRES(modules->lock)
{
    struct unwind_module_list *before = current_of(modules);

    /* Pairs with the acquire in unwind_modules_view. */
    atomic_store_explicit(&modules->current, list, memory_order_release);
    before->next = modules->retired;
    modules->retired = before;
    if (all_are_outside(modules))
        destroy_retired(modules);
}

int unwind_modules_init(struct unwind_modules *modules, const struct arch_frame_registers *registers)
{
    struct unwind_module_list *list;
    int result = create_list(0, 1, &list);

    if (result != 0)
        return result;
    memset(modules, 0, sizeof(*modules));
    modules->registers = registers;
    list_init(&modules->readers);
    atomic_store_explicit(&modules->current, list, memory_order_release);
    (void)raw_syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0);
    return 0;
}

void unwind_modules_deinit(struct unwind_modules *modules)
{
    struct unwind_module_list *list = current_of(modules);

    for (size_t i = 0; i < list->count; i++)
        take_out(list, list->modules[i]);
    destroy_list(list);
    destroy_retired(modules);
    atomic_store_explicit(&modules->current, NULL, memory_order_relaxed);
}

void unwind_modules_set_hooked(struct unwind_modules *modules, const struct hooked_frames *hooked)
{
    /* Pairs with the acquire in stack_walk.c. */
    atomic_store_explicit(&modules->hooked, hooked, memory_order_release);
}

void unwind_modules_add_reader(struct unwind_modules *modules, struct unwind_reader *reader)
{
    mutex_lock(&modules->lock);
    list_add_last(&modules->readers, &reader->node);
    mutex_unlock(&modules->lock);
}

void unwind_modules_remove_reader(struct unwind_modules *modules, struct unwind_reader *reader)
{
    mutex_lock(&modules->lock);
    list_remove(&reader->node);
    mutex_unlock(&modules->lock);
}

/* ---- one module -------------------------------------------------------------------------------------------------- */

static int add_frames(struct unwind_modules *modules, struct module_frames *frames) REQUIRES(modules->lock)
{
    struct unwind_module_list *before = current_of(modules), *list;
    int result;

    for (size_t i = 0; i < before->count; i++)
        if (overlaps(before->modules[i], frames->table.start, frames->table.end))
            return -EEXIST;
    result = create_list(before->count + 1, before->view.generation + 1, &list);
    if (result != 0)
        return result;
    for (size_t i = 0; i < before->count; i++)
        list->modules[list->count++] = before->modules[i];
    insert(list, frames);
    publish(modules, list);
    return 0;
}

int unwind_modules_add(struct unwind_modules *modules, uint64_t base)
{
    struct module_frames *frames;
    int result = module_frames_create(base, modules->registers, &frames);

    if (result != 0)
        return result;
    mutex_lock(&modules->lock);
    result = add_frames(modules, frames);
    mutex_unlock(&modules->lock);
    if (result != 0)
        module_frames_destroy(frames);
    return result;
}

int unwind_modules_remove(struct unwind_modules *modules, uint64_t start, uint64_t end)
{
    struct unwind_module_list *before, *list;
    int result;

    mutex_lock(&modules->lock);
    before = current_of(modules);
    result = create_list(before->count, before->view.generation + 1, &list);
    for (size_t i = 0; result == 0 && i < before->count; i++) {
        if (overlaps(before->modules[i], start, end))
            take_out(before, before->modules[i]);
        else
            list->modules[list->count++] = before->modules[i];
    }
    if (result == 0)
        publish(modules, list);
    mutex_unlock(&modules->lock);
    return result;
}

/* ---- all modules ------------------------------------------------------------------------------------------------- */

#define BASES_MAX 8192u

/* Where modules seem to be: a file's code, and in front of it the beginning of the same file. */
struct base_search {
    size_t count;
    uint64_t file_start;
    size_t path_length;
    char path[MAPPING_PATH_BYTES_MAX];
    uint64_t bases[BASES_MAX];
};

static void take_mapping(void *context, const struct mapping *mapping)
{
    struct base_search *search = context;

    if (mapping->path_length == 0)
        return;
    if (mapping->file_offset == 0) {
        search->file_start = mapping->start;
        search->path_length = mapping->path_length;
        memcpy(search->path, mapping->path, mapping->path_length);
    }
    if (!mapping->is_executable || mapping->path_length != search->path_length ||
        memcmp(mapping->path, search->path, search->path_length) != 0)
        return;
    /* A module may have several pieces of code. */
    if (search->count < BASES_MAX && (search->count == 0 || search->bases[search->count - 1] != search->file_start))
        search->bases[search->count++] = search->file_start;
}

static struct module_frames *find_by_base(const struct unwind_module_list *list, uint64_t base)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->modules[i]->base == base)
            return list->modules[i];
    return NULL;
}

/* Whether it is nowhere in the way; else it is left out. */
static bool has_room(const struct unwind_module_list *list, const struct module_frames *frames)
{
    for (size_t i = 0; i < list->count; i++)
        if (overlaps(list->modules[i], frames->table.start, frames->table.end))
            return false;
    return true;
}

/* Puts the module at a base into the list, with the table that it has already if that is good. */
static void take_base(struct unwind_modules *modules, struct unwind_module_list *list, uint64_t base)
{
    struct module_frames *frames = find_by_base(current_of(modules), base);

    if (frames != NULL && module_frames_are_current(frames)) {
        if (has_room(list, frames))
            insert(list, frames);
        return;
    }
    if (module_frames_create(base, modules->registers, &frames) != 0)
        return;
    if (has_room(list, frames))
        insert(list, frames);
    else
        module_frames_destroy(frames);
}

/* Whether two lists have the same tables. */
static bool is_same(const struct unwind_module_list *left, const struct unwind_module_list *right)
{
    return left->count == right->count &&
           memcmp(left->modules, right->modules, left->count * sizeof(left->modules[0])) == 0;
}

static int refresh_with(struct unwind_modules *modules, const struct base_search *search) REQUIRES(modules->lock)
{
    struct unwind_module_list *before = current_of(modules), *list;
    int result = create_list(search->count, before->view.generation + 1, &list);

    if (result != 0)
        return result;
    for (size_t i = 0; i < search->count; i++)
        take_base(modules, list, search->bases[i]);
    if (is_same(before, list)) {
        destroy_list(list);
        return 0;
    }
    for (size_t i = 0; i < before->count; i++)
        if (find_by_base(list, before->modules[i]->base) != before->modules[i])
            take_out(before, before->modules[i]);
    publish(modules, list);
    return 0;
}

static int refresh(struct unwind_modules *modules) REQUIRES(modules->lock)
{
    void *search;
    /* Stacks may be small. */
    int result = memory_map(sizeof(struct base_search), &search);

    if (result != 0)
        return result;
    result = mapping_list_visit(0, UINT64_MAX, take_mapping, search);
    if (result == 0)
        result = refresh_with(modules, search);
    memory_unmap(search, sizeof(struct base_search));
    return result;
}

int unwind_modules_refresh(struct unwind_modules *modules, bool may_wait)
{
    int result;

    if (may_wait)
        mutex_lock(&modules->lock);
    else if (!mutex_try_lock(&modules->lock))
        return -EBUSY;
    result = refresh(modules);
    mutex_unlock(&modules->lock);
    return result;
}

/* ---- searching --------------------------------------------------------------------------------------------------- */

static const struct unwind_table *table_of(const struct unwind_view *view, uint64_t pc)
{
    const struct unwind_module_list *list = (const struct unwind_module_list *)view;
    size_t low = PARTITION_POINT(list->count, i, pc >= list->modules[i]->table.end);

    return low < list->count && pc >= list->modules[low]->table.start ? &list->modules[low]->table : NULL;
}

uint32_t unwind_view_rule(struct unwind_view *view, uint64_t pc)
{
    const struct unwind_table *table;
    uint32_t rule;

    if (rule_cache_find(&view->cache, pc + 1, &rule))
        return rule;
    table = table_of(view, pc);
    if (table == NULL)
        return unwind_rule(UNWIND_UNKNOWN, 0, 0);
    rule = unwind_table_find(table, pc);
    rule_cache_put(&view->cache, pc + 1, rule);
    return rule;
}

bool unwind_view_entry(const struct unwind_view *view, uint64_t pc, struct eh_frame_entry *entry_out)
{
    const struct unwind_table *table = table_of(view, pc);

    return table != NULL && unwind_table_entry(table, pc, entry_out);
}
