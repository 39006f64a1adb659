/* SPDX-License-Identifier: MIT */
/*
 * Who allocates how much? malloc and free are listened to while some work is done; nothing in the program knows of it.
 * Prints how many blocks there were, how large the largest one was, and how many were not given back.
 */
#include "gait/hook.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct heap {
    atomic_ulong blocks;
    atomic_ulong bytes;
    atomic_ulong largest;
    atomic_long in_use;
};

/* The size is wanted when malloc returns, too: each call has some bytes of the listener's. */
static void malloc_entered(struct gait_invocation *invocation)
{
    uint64_t size = gait_invocation_argument(invocation, 0);

    memcpy(invocation->call_data, &size, sizeof(size));
}

static void malloc_left(struct gait_invocation *invocation)
{
    struct heap *heap = invocation->data;
    unsigned long largest = atomic_load(&heap->largest);
    uint64_t size;

    if (gait_invocation_return_value(invocation) == 0)
        return;
    memcpy(&size, invocation->call_data, sizeof(size));
    atomic_fetch_add(&heap->blocks, 1);
    atomic_fetch_add(&heap->bytes, size);
    atomic_fetch_add(&heap->in_use, 1);
    while (size > largest && !atomic_compare_exchange_weak(&heap->largest, &largest, size))
        continue;
}

static void free_entered(struct gait_invocation *invocation)
{
    struct heap *heap = invocation->data;

    if (gait_invocation_argument(invocation, 0) != 0)
        atomic_fetch_sub(&heap->in_use, 1);
}

static void *volatile kept;

static void work(void)
{
    for (size_t size = 1; size <= 1000; size++) {
        void *volatile block = malloc(size);

        free(block);
    }
    kept = malloc(123456);
}

int main(void)
{
    static struct heap heap;
    const struct gait_listener of_malloc = {
        .size_bytes = sizeof(of_malloc), .enter = malloc_entered, .leave = malloc_left, .data = &heap};
    const struct gait_listener of_free = {.size_bytes = sizeof(of_free), .enter = free_entered, .data = &heap};
    struct gait_hooks *hooks = NULL;
    struct gait_error error;

    if (gait_hooks_acquire(NULL, &hooks, &error) != 0 || gait_hooks_begin(hooks, &error) != 0 ||
        gait_hook_attach(hooks, (uintptr_t)malloc, &of_malloc, NULL, &error) != 0 ||
        gait_hook_attach(hooks, (uintptr_t)free, &of_free, NULL, &error) != 0 ||
        gait_hooks_commit(hooks, &error) != 0) {
        fprintf(stderr, "hook_malloc: %s\n", error.text);
        return 1;
    }
    work();
    if (gait_hooks_release(hooks, &error) != 0) {
        fprintf(stderr, "hook_malloc: %s\n", error.text);
        return 1;
    }
    printf("%lu blocks of %lu bytes in all, the largest of %lu; %ld not given back\n", atomic_load(&heap.blocks),
           atomic_load(&heap.bytes), atomic_load(&heap.largest), atomic_load(&heap.in_use));
    free(kept);
    return 0;
}
