/* SPDX-License-Identifier: MIT */
/*
 * How a recorded process notifies the reader of its ring that it is about to fork or to execute another program,
 * and waits for an answer. A page of the ring's file: a word of the reader's, and places for notices. No lock: in a
 * child that was just forked, one might be held for ever.
 *
 * The reader's word is a robust futex: the kernel marks it when the reader dies, however that comes about. That takes
 * no descriptor, thread or clock, and looking costs a load.
 */
#ifndef GAIT_RING_RING_NOTICE_H
#define GAIT_RING_RING_NOTICE_H

#include "base/attributes.h"
#include "base/memory_map.h"
#include "ring/ring_layout.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum ring_notice_kind {
    RING_NOTICE_CHILD = 1, /* from a child that was just forked: it has a ring of its own, `fd` */
    RING_NOTICE_EXEC,      /* the thread is about to execute a program */
    RING_NOTICE_VFORK,     /* the thread is about to make a process that has its memory until that executes a program */
};

enum ring_notice_state {
    RING_NOTICE_FREE,
    RING_NOTICE_TAKEN,    /* somebody writes it */
    RING_NOTICE_POSTED,   /* the reader is to answer */
    RING_NOTICE_ANSWERED, /* it did */
    RING_NOTICE_OVER,     /* what was announced did not happen: the reader is to let go, and make it free */
};

struct ring_notice {
    _Atomic uint32_t state; /* enum ring_notice_state; both sides sleep on it */
    uint32_t kind;          /* enum ring_notice_kind */
    uint32_t pid;           /* as the process sees itself, as below */
    uint32_t tid;
    int32_t fd;
    int32_t answer;  /* 0: go on; negative: go on, nobody watches */
    uint64_t cookie; /* of a child: what its ring has */
};

#define RING_NOTICE_COUNT 100u

struct ring_notices {
    _Atomic uint32_t reader;        /* its thread id; FUTEX_OWNER_DIED: it is dead; 0: there was none yet */
    _Atomic uint32_t is_closed;     /* the reader wants no more of them */
    _Atomic uint32_t forks_begun;   /* from here on children may come, */
    _Atomic uint32_t forks_settled; /* and these have come, or never will */
    uint64_t cookie;                /* that no other ring has */
    struct ring_notice notices[RING_NOTICE_COUNT];
};

/* Where it is in the file: far enough behind the header, and where pages of all sizes begin: it is mapped by itself. */
#define RING_NOTICES_OFFSET (64u << 10)

_Static_assert(RING_NOTICES_OFFSET % MEMORY_PAGE_MAX == 0, "notices begin a page");
_Static_assert(sizeof(struct ring_notices) <= MEMORY_PAGE_MIN, "notices are in one page");
_Static_assert(RING_NOTICES_OFFSET + MEMORY_PAGE_MAX <= RING_TRIGGERS_OFFSET, "nothing else is in that page");

static inline struct ring_notices *ring_notices_in(void *base)
{
    return (struct ring_notices *)(void *)((uint8_t *)base + RING_NOTICES_OFFSET);
}

static inline bool ring_notices_reader_died(const struct ring_notices *notices)
{
    return atomic_load_explicit(&notices->reader, memory_order_relaxed) & FUTEX_OWNER_DIED;
}

/* ---- the process's side ------------------------------------------------------------------------------------------ */

/*
 * Posts a notice in the ring that is mapped at `base`, and wakes the reader. Waits for a place, at most that long.
 * NULL: all are taken, or the reader is dead or wants none.
 */
struct ring_notice *ring_notice_post(void *base, const struct ring_notice *notice, unsigned timeout_ms);

/*
 * Waits while the notice is in that state, at most that long and as long as the reader lives. Returns its state then.
 */
uint32_t ring_notice_wait(void *base, struct ring_notice *notice, uint32_t state, unsigned timeout_ms);

/* Changes its state from one to another, and wakes who waits. False: it was another one. */
bool ring_notice_change(void *base, struct ring_notice *notice, uint32_t from, uint32_t to);

/* ---- the reader's side ------------------------------------------------------------------------------------------- */

/* Gives the answer, or makes it free; and wakes who waits. */
void ring_notice_answer(struct ring_notice *notice, int32_t answer);
void ring_notice_release(struct ring_notice *notice);

#endif
