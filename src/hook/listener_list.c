/* SPDX-License-Identifier: MIT */
/*
 * Each list is behind a head that says how it was allocated and, once retired, since when. Places are the lowest ones
 * that no listener of the list has, so that the data of a call stays small. No lock: the owner has it.
 */
#include "hook/listener_list.h"

#include "base/memory_functions.h"
#include "base/memory_map.h"

#include <asm/errno.h>

struct head {
    struct list_node node; /* of the retired ones */
    struct hook_quiescence quiescence;
    size_t mapped_bytes; /* 0: of a pool */
    unsigned size_class;
    uint32_t reserved;
    struct hook_listeners list;
};

static size_t bytes_for(uint32_t count)
{
    return sizeof(struct head) + count * sizeof(struct hook_listener);
}

void listener_lists_init(struct listener_lists *lists)
{
    list_init(&lists->retired);
    for (unsigned i = 0; i < LISTENER_LIST_SIZES; i++) {
        int result = pool_init(&lists->pools[i], bytes_for(1u << i));

        ASSERT(result == 0, "lists of listeners are small");
        (void)result;
    }
}

static struct head *head_of(const struct hook_listeners *list)
{
    return (struct head *)((uint8_t *)list - offsetof(struct head, list));
}

static void free_head(struct listener_lists *lists, struct head *head)
{
    if (head->mapped_bytes > 0)
        memory_unmap(head, head->mapped_bytes);
    else
        pool_free(&lists->pools[head->size_class], head);
}

void listener_lists_deinit(struct listener_lists *lists)
{
    LIST_FOR_EACH_REMOVABLE (node, &lists->retired) {
        list_remove(node);
        free_head(lists, LIST_ELEMENT(node, struct head, node));
    }
    for (unsigned i = 0; i < LISTENER_LIST_SIZES; i++)
        pool_deinit(&lists->pools[i]);
}

static struct head *allocate(struct listener_lists *lists, uint32_t count)
{
    struct head *head;
    unsigned size_class = 0;
    void *memory;

    while (size_class < LISTENER_LIST_SIZES && 1u << size_class < count)
        size_class++;
    if (size_class < LISTENER_LIST_SIZES) {
        head = pool_allocate(&lists->pools[size_class]);
        if (head != NULL)
            *head = (struct head){.size_class = size_class};
        return head;
    }
    if (memory_map(bytes_for(count), &memory) != 0)
        return NULL;
    head = memory;
    head->mapped_bytes = bytes_for(count);
    return head;
}

static bool has_place(const struct hook_listeners *list, uint32_t place)
{
    for (uint32_t i = 0; list != NULL && i < list->count; i++)
        if (list->items[i].place == place)
            return true;
    return false;
}

static uint32_t free_place(const struct hook_listeners *list)
{
    uint32_t place = 0;

    while (has_place(list, place))
        place++;
    return place;
}

/* What is said of all of them. */
static void summarize(struct hook_listeners *list, uint32_t last_serial)
{
    list->places = 0;
    list->last_serial = last_serial;
    list->is_general_only = true;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].place >= list->places)
            list->places = list->items[i].place + 1;
        if ((list->items[i].flags & HOOK_LISTENER_GENERAL_ONLY) == 0)
            list->is_general_only = false;
    }
}

const struct hook_listeners *listener_list_with(struct listener_lists *lists, const struct hook_listeners *from,
                                                const struct hook_listener *listener, uint32_t last_serial)
{
    uint32_t count = from == NULL ? 0 : from->count;
    struct head *head = allocate(lists, count + 1);

    if (head == NULL)
        return NULL;
    if (count > 0)
        memcpy(head->list.items, from->items, count * sizeof(from->items[0]));
    head->list.items[count] = *listener;
    head->list.items[count].place = free_place(from);
    head->list.items[count].serial = last_serial + 1;
    head->list.count = count + 1;
    summarize(&head->list, last_serial + 1);
    return &head->list;
}

static bool has_serial(const struct hook_listeners *list, uint32_t serial)
{
    for (uint32_t i = 0; list != NULL && i < list->count; i++)
        if (list->items[i].serial == serial)
            return true;
    return false;
}

int listener_list_without(struct listener_lists *lists, const struct hook_listeners *from, uint32_t serial,
                          const struct hook_listeners **list_out)
{
    struct head *head;

    if (!has_serial(from, serial))
        return -ENOENT;
    if (from->count == 1) {
        *list_out = NULL;
        return 0;
    }
    head = allocate(lists, from->count - 1);
    if (head == NULL)
        return -ENOMEM;
    head->list.count = 0;
    for (uint32_t i = 0; i < from->count; i++)
        if (from->items[i].serial != serial)
            head->list.items[head->list.count++] = from->items[i];
    summarize(&head->list, from->last_serial);
    *list_out = &head->list;
    return 0;
}

void listener_list_free(struct listener_lists *lists, const struct hook_listeners *list)
{
    if (list != NULL)
        free_head(lists, head_of(list));
}

void listener_list_retire(struct listener_lists *lists, const struct hook_listeners *list)
{
    if (list == NULL)
        return;
    hook_quiescence_begin(&head_of(list)->quiescence);
    list_init(&head_of(list)->node);
    list_add_last(&lists->retired, &head_of(list)->node);
}

void listener_lists_collect(struct listener_lists *lists)
{
    LIST_FOR_EACH_REMOVABLE (node, &lists->retired) {
        struct head *head = LIST_ELEMENT(node, struct head, node);

        if (!hook_quiescence_reached(&head->quiescence))
            continue;
        list_remove(node);
        free_head(lists, head);
    }
}

bool listener_list_wants_leave(const struct hook_listeners *list)
{
    for (uint32_t i = 0; list != NULL && i < list->count; i++)
        if (list->items[i].leave != NULL)
            return true;
    return false;
}
