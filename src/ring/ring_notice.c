/* SPDX-License-Identifier: MIT */
#include "ring/ring_notice.h"

#include "process/futex.h"

#include <stddef.h>

/* A reader that dies wakes nobody here: its death is looked for that often. */
#define LOOK_MS 20

static void wake_reader(void *base)
{
    struct ring_header *header = base;

    atomic_fetch_add_explicit(&header->activity, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&header->is_awaited, memory_order_seq_cst) != 0)
        futex_wake(&header->activity, INT32_MAX);
}

static struct ring_notice *take_place(struct ring_notices *notices)
{
    for (unsigned i = 0; i < RING_NOTICE_COUNT; i++) {
        uint32_t expected = RING_NOTICE_FREE;

        if (atomic_compare_exchange_strong(&notices->notices[i].state, &expected, RING_NOTICE_TAKEN))
            return &notices->notices[i];
    }
    return NULL;
}

/* Places are free again soon, or there is nobody who frees them. */
static struct ring_notice *wait_for_place(struct ring_notices *notices, unsigned timeout_ms)
{
    struct futex_deadline end = futex_deadline_after(timeout_ms);

    for (;;) {
        struct futex_deadline soon = futex_deadline_after(1);
        uint32_t state = atomic_load_explicit(&notices->notices[0].state, memory_order_relaxed);
        struct ring_notice *place;

        if (ring_notices_reader_died(notices) || atomic_load_explicit(&notices->is_closed, memory_order_relaxed) != 0)
            return NULL;
        place = take_place(notices);
        if (place != NULL || futex_deadline_passed(&end))
            return place;
        (void)futex_wait(&notices->notices[0].state, state, &soon);
    }
}

struct ring_notice *ring_notice_post(void *base, const struct ring_notice *notice, unsigned timeout_ms)
{
    struct ring_notice *place = wait_for_place(ring_notices_in(base), timeout_ms);

    if (place == NULL)
        return NULL;
    place->kind = notice->kind;
    place->pid = notice->pid;
    place->tid = notice->tid;
    place->fd = notice->fd;
    place->cookie = notice->cookie;
    place->answer = 0;
    /* Release: pairs with the reader's acquire, as do all changes below with the other side's. */
    atomic_store_explicit(&place->state, RING_NOTICE_POSTED, memory_order_release);
    wake_reader(base);
    return place;
}

uint32_t ring_notice_wait(void *base, struct ring_notice *notice, uint32_t state, unsigned timeout_ms)
{
    struct futex_deadline end = futex_deadline_after(timeout_ms);
    uint32_t now;

    while ((now = atomic_load_explicit(&notice->state, memory_order_acquire)) == state) {
        struct futex_deadline soon = futex_deadline_after(LOOK_MS);

        if (ring_notices_reader_died(ring_notices_in(base)) || futex_deadline_passed(&end))
            break;
        (void)futex_wait(&notice->state, state, &soon);
    }
    return now;
}

bool ring_notice_change(void *base, struct ring_notice *notice, uint32_t from, uint32_t to)
{
    if (!atomic_compare_exchange_strong(&notice->state, &from, to))
        return false;
    wake_reader(base);
    return true;
}

static void set_state(struct ring_notice *notice, uint32_t state)
{
    atomic_store_explicit(&notice->state, state, memory_order_release);
    futex_wake(&notice->state, INT32_MAX);
}

void ring_notice_answer(struct ring_notice *notice, int32_t answer)
{
    notice->answer = answer;
    set_state(notice, RING_NOTICE_ANSWERED);
}

void ring_notice_release(struct ring_notice *notice)
{
    set_state(notice, RING_NOTICE_FREE);
}
