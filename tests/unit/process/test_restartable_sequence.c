/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "process/restartable_sequence.h"

#include "arch/thread_registers.h"
#include "process/thread_stop.h"
#include "support/check.h"
#include "support/subject_thread.h"

#include <dlfcn.h>
#include <linux/rseq.h>
#include <stddef.h>

static void only_a_pc_in_the_sequence_is_moved_to_its_abort_handler(void)
{
    struct rseq_cs sequence = {.start_ip = 1000, .post_commit_offset = 10, .abort_ip = 5000};

    for (uint64_t pc = 995; pc < 1015; pc++) {
        struct rseq area = {0};
        struct thread_registers registers = {{0}};
        bool inside = pc >= 1000 && pc < 1010;

        thread_registers_set_pc(&registers, pc);
        CHECK(!restartable_sequence_abort((uintptr_t)&area, &registers));
        CHECK_EQUAL(thread_registers_pc(&registers), pc);
        area.rseq_cs = (uintptr_t)&sequence;
        CHECK_EQUAL(restartable_sequence_abort((uintptr_t)&area, &registers), inside);
        CHECK_EQUAL(thread_registers_pc(&registers), inside ? 5000 : pc);
        CHECK_EQUAL(area.rseq_cs, inside ? 0 : (uintptr_t)&sequence);
    }
}

/* Spins in a sequence until the word is not 0; each interruption leads to the abort handler, which tries again. */
__asm__("        .text\n"
        "spin_in_sequence:\n" /* rdi: where to announce the sequence, rsi: the sequence, rdx: the word */
        "sequence_entry:\n"
        "        movq    %rsi, (%rdi)\n"
        "sequence_start:\n"
        "        cmpq    $0, (%rdx)\n"
        "        je      sequence_start\n"
        "sequence_commit:\n"
        "        movq    $0, (%rdi)\n"
        "        ret\n"
        "        .byte   0x0f, 0xb9, 0x3d\n"
        "        .long   0x53053053\n"
        "sequence_abort:\n"
        "        jmp     sequence_entry\n");

void spin_in_sequence(uint64_t *announcement, const struct rseq_cs *sequence, atomic_long *word);
extern const char sequence_start[], sequence_commit[], sequence_abort[];

static atomic_long enough, aborts_seen;

/* glibc registers an area for each thread, from version 2.35 on. */
static uint64_t *own_announcement(void)
{
    const ptrdiff_t *offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
    const unsigned *size = dlsym(RTLD_DEFAULT, "__rseq_size");

    if (offset == NULL || size == NULL || *size == 0)
        check_skip("libc does not register restartable sequences");
    return (uint64_t *)((char *)__builtin_thread_pointer() + *offset + offsetof(struct rseq, rseq_cs));
}

static void spin(void *context)
{
    struct rseq_cs sequence = {
        .start_ip = (uintptr_t)sequence_start,
        .post_commit_offset = (uint64_t)(sequence_commit - sequence_start),
        .abort_ip = (uintptr_t)sequence_abort,
    };

    (void)context;
    spin_in_sequence(own_announcement(), &sequence, &enough);
}

static int look_where(void *context, struct thread_registers *registers)
{
    uint64_t pc = thread_registers_pc(registers);

    (void)context;
    CHECK(pc < (uintptr_t)sequence_start || pc >= (uintptr_t)sequence_commit);
    if (pc == (uintptr_t)sequence_abort)
        atomic_fetch_add(&aborts_seen, 1);
    return 0;
}

static void a_stopped_thread_is_never_shown_in_a_sequence(void)
{
    struct subject_thread subject;

    (void)own_announcement();
    subject_thread_start(&subject, spin, NULL);
    while (aborts_seen < 50 && check_failures == 0)
        CHECK_EQUAL(thread_modify(subject.tid, look_where, NULL), 0);
    atomic_store(&enough, 1);
    subject_thread_join(&subject);
}

static const struct check_case cases[] = {
    CHECK_CASE(only_a_pc_in_the_sequence_is_moved_to_its_abort_handler),
    CHECK_CASE(a_stopped_thread_is_never_shown_in_a_sequence),
};

CHECK_MAIN(cases)
