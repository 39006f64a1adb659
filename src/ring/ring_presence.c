/* SPDX-License-Identifier: MIT */
/*
 * The kernel finds a futex at a fixed distance from its node in the list. Nodes must be ours alone: others write into
 * rings. So the page with the futex is mapped once more, right behind the node's own page, for each ring.
 */
#include "ring/ring_presence.h"

#include "base/memory_map.h"
#include "base/raw_syscall.h"
#include "ring/ring_notice.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/mman.h>
#include <stddef.h>

/* A node's page, and behind it that of a ring; as large as they may be. */
struct presence_place {
    union {
        struct {
            struct robust_list list;
            bool is_used;
        } node;
        uint8_t page[MEMORY_PAGE_MAX];
    };
    uint8_t ring_page[MEMORY_PAGE_MAX];
};

static struct {
    struct robust_list_head head;
    struct presence_place *places;
} presence;

static int prepare(void)
{
    void *start;
    int result;

    if (presence.places != NULL)
        return 0;
    result = memory_map(RING_PRESENCE_MAX * sizeof(struct presence_place), &start);
    if (result != 0)
        return result;
    presence.head.list.next = &presence.head.list;
    presence.head.futex_offset =
        (long)(offsetof(struct presence_place, ring_page) + offsetof(struct ring_notices, reader));
    result = (int)raw_syscall(__NR_set_robust_list, (long)&presence.head, sizeof(presence.head), 0, 0, 0, 0);
    if (result != 0) {
        memory_unmap(start, RING_PRESENCE_MAX * sizeof(struct presence_place));
        return result;
    }
    presence.places = start;
    return 0;
}

static int find_unused(void)
{
    for (int i = 0; i < RING_PRESENCE_MAX; i++)
        if (!presence.places[i].node.is_used)
            return i;
    return -ENOSPC;
}

static int map_page(void *where, int ring_fd)
{
    long got = raw_syscall(__NR_mmap, (long)where, sizeof(struct ring_notices), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_FIXED, ring_fd, RING_NOTICES_OFFSET);

    return got < 0 && got > -4096 ? (int)got : 0;
}

static _Atomic uint32_t *word_of(struct presence_place *place)
{
    return &((struct ring_notices *)(void *)place->ring_page)->reader;
}

int ring_presence_begin(int ring_fd, int *place_out)
{
    struct presence_place *place;
    int index, result = prepare();

    if (result != 0)
        return result;
    index = find_unused();
    if (index < 0)
        return index;
    place = &presence.places[index];
    result = map_page(place->ring_page, ring_fd);
    if (result != 0)
        return result;
    place->node.is_used = true;
    atomic_store_explicit(word_of(place), (uint32_t)raw_syscall(__NR_gettid, 0, 0, 0, 0, 0, 0), memory_order_seq_cst);
    /* The list is whole at any time: we may be killed here. */
    place->node.list.next = presence.head.list.next;
    __atomic_store_n(&presence.head.list.next, &place->node.list, __ATOMIC_SEQ_CST);
    *place_out = index;
    return 0;
}

static void take_from_list(struct robust_list *node)
{
    struct robust_list *before = &presence.head.list;

    while (before->next != node)
        before = before->next;
    __atomic_store_n(&before->next, node->next, __ATOMIC_SEQ_CST);
}

void ring_presence_end(int place_index)
{
    struct presence_place *place;

    if (place_index < 0)
        return;
    place = &presence.places[place_index];
    take_from_list(&place->node.list);
    atomic_store_explicit(word_of(place), FUTEX_OWNER_DIED, memory_order_seq_cst);
    (void)raw_syscall(__NR_mmap, (long)place->ring_page, sizeof(struct ring_notices), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
    place->node.is_used = false;
}
