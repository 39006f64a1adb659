/* SPDX-License-Identifier: MIT */
/*
 * The kernel's rule for interrupted restartable sequences. The thread that owns the area is stopped, so no other thread
 * changes it. Runs in a process that shares our memory, which is why sanitizers keep off.
 */
#include "process/restartable_sequence.h"

#include "arch/thread_registers.h"
#include "base/attributes.h"

#include <linux/rseq.h>
#include <stddef.h>

/* Where the area says which sequence the thread is in, whatever the header calls that field. */
#define SEQUENCE_OFFSET 8

_Static_assert(offsetof(struct rseq, rseq_cs) == SEQUENCE_OFFSET, "as the kernel has it");

UNSANITIZED bool restartable_sequence_abort(uint64_t area, struct thread_registers *registers)
{
    volatile uint64_t *current = (volatile uint64_t *)(uintptr_t)(area + SEQUENCE_OFFSET);
    const volatile struct rseq_cs *sequence = (const volatile struct rseq_cs *)(uintptr_t)*current;

    if (sequence == NULL || thread_registers_pc(registers) - sequence->start_ip >= sequence->post_commit_offset)
        return false;
    thread_registers_set_pc(registers, sequence->abort_ip);
    *current = 0;
    return true;
}
