/* SPDX-License-Identifier: MIT */
#include "ring/ring_wait.h"

#include "base/raw_syscall.h"
#include "process/futex.h"
#include "ring/ring_reader.h"

#include <asm/errno.h>
#include <stdatomic.h>

#define WORDS_MAX 128 /* of the kernel */
#define SHORT_MS  1

#ifndef __NR_futex_waitv
#define __NR_futex_waitv 449
#endif

/* As the kernel has it, from Linux 5.16 on. */
struct wait_entry {
    uint64_t value;
    uint64_t address;
    uint32_t flags;
    uint32_t reserved;
};

#define WORD_OF_32_BITS 2

static struct ring_header *header_of(const struct ring_reader *reader)
{
    return (struct ring_header *)(void *)reader->base;
}

static struct wait_entry entry_for(const _Atomic uint32_t *word, uint32_t value)
{
    return (struct wait_entry){.value = value, .address = (uintptr_t)word, .flags = WORD_OF_32_BITS};
}

static long wait_for_entries(const struct wait_entry *entries, size_t count, unsigned timeout_ms)
{
    struct futex_deadline deadline = futex_deadline_after(timeout_ms);

    return raw_syscall(__NR_futex_waitv, (long)entries, (long)count, 0, (long)&deadline, CLOCK_MONOTONIC, 0);
}

void ring_wait(struct ring_reader *const *readers, size_t count, struct ring_wait_word other, unsigned timeout_ms)
{
    struct wait_entry entries[WORDS_MAX] = {entry_for(other.word, other.value)};
    size_t used = 1;
    struct futex_deadline soon;

    for (size_t i = 0; i < count; i++) {
        struct ring_header *header = header_of(readers[i]);

        atomic_fetch_add_explicit(&header->heartbeat, 1, memory_order_relaxed);
        atomic_store_explicit(&header->is_awaited, 1, memory_order_seq_cst);
        if (used < WORDS_MAX)
            entries[used++] = entry_for(&header->activity, readers[i]->activity_seen);
    }
    if (used < count + 1 && timeout_ms > SHORT_MS)
        timeout_ms = SHORT_MS;
    if (wait_for_entries(entries, used, timeout_ms) == -ENOSYS) {
        soon = futex_deadline_after(SHORT_MS);
        (void)futex_wait(other.word, other.value, &soon);
    }
    for (size_t i = 0; i < count; i++)
        atomic_store_explicit(&header_of(readers[i])->is_awaited, 0, memory_order_relaxed);
}
