/* SPDX-License-Identifier: MIT */
/*
 * A doubly linked list whose links live in its elements, so that adding and removing need no memory and cannot fail.
 * The list owns nothing. An element is in at most one list through each of its nodes. Not for two threads at once;
 * inside the target and in signal handlers it is usable under the caller's lock.
 */
#ifndef GAIT_BASE_LIST_H
#define GAIT_BASE_LIST_H

#include "base/assert.h"

#include <stdbool.h>
#include <stddef.h>

/* A node in an element, or the head of a list. A node that is in no list is linked to itself, or NULL if never set. */
struct list_node {
    struct list_node *next;
    struct list_node *previous;
};

/* The element that a node is part of. Does not compile when the node or the member is not a list_node. */
#define LIST_ELEMENT(node, type, member)                                                                               \
    __extension__({                                                                                                    \
        struct list_node *list_element_node = (node);                                                                  \
        _Static_assert(__builtin_types_compatible_p(__typeof__(((type *)0)->member), struct list_node),                \
                       "the member is not a list node");                                                               \
        (type *)(void *)((char *)list_element_node - offsetof(type, member));                                          \
    })

/* Visits each node from the first to the last; the list must not change meanwhile. */
#define LIST_FOR_EACH(node, list) for (struct list_node *node = (list)->next; (node) != (list); node = (node)->next)

/* The same; the visited node may be removed. */
#define LIST_FOR_EACH_REMOVABLE(node, list)                                                                            \
    for (struct list_node *node = (list)->next, *list_next_node = node->next; (node) != (list);                        \
         node = list_next_node, list_next_node = node->next)

/* Makes an empty list of its head, or a node that is in no list. */
static inline void list_init(struct list_node *list)
{
    list->next = list;
    list->previous = list;
}

static inline bool list_is_empty(const struct list_node *list)
{
    return list->next == list;
}

/* Whether a node, once initialized, is in some list. */
static inline bool list_contains_node(const struct list_node *node)
{
    return node->next != NULL && node->next != node;
}

static inline void list_link_between(struct list_node *previous, struct list_node *node, struct list_node *next)
{
    ASSERT(!list_contains_node(node) || node->next->previous != node, "adding a node that is in a list");
    node->previous = previous;
    node->next = next;
    previous->next = node;
    next->previous = node;
}

/* Adds the node before all others. */
static inline void list_add_first(struct list_node *list, struct list_node *node)
{
    list_link_between(list, node, list->next);
}

/* Adds the node behind all others. */
static inline void list_add_last(struct list_node *list, struct list_node *node)
{
    list_link_between(list->previous, node, list);
}

/* Adds the node right before another one that is in a list. */
static inline void list_add_before(struct list_node *position, struct list_node *node)
{
    list_link_between(position->previous, node, position);
}

/* Takes the node out of its list; a node that is in none stays so. */
static inline void list_remove(struct list_node *node)
{
    if (node->next == NULL)
        return;
    ASSERT(node->next->previous == node && node->previous->next == node, "removing a node whose list is damaged");
    node->next->previous = node->previous;
    node->previous->next = node->next;
    list_init(node);
}

/* The first or the last node, NULL when the list is empty. */
static inline struct list_node *list_first(const struct list_node *list)
{
    return list_is_empty(list) ? NULL : list->next;
}

static inline struct list_node *list_last(const struct list_node *list)
{
    return list_is_empty(list) ? NULL : list->previous;
}

/* Moves all nodes of `from` behind those of `list`. */
static inline void list_append(struct list_node *list, struct list_node *from)
{
    if (list_is_empty(from))
        return;
    from->next->previous = list->previous;
    list->previous->next = from->next;
    from->previous->next = list;
    list->previous = from->previous;
    list_init(from);
}

/* Counts the nodes by walking. */
static inline size_t list_length(const struct list_node *list)
{
    size_t length = 0;

    for (const struct list_node *node = list->next; node != list; node = node->next)
        length++;
    return length;
}

/* Whether each node's neighbours agree that they are its neighbours. */
static inline bool list_check(const struct list_node *list)
{
    const struct list_node *node = list;

    do {
        if (node->next == NULL || node->next->previous != node)
            return false;
        node = node->next;
    } while (node != list);
    return true;
}

#endif
