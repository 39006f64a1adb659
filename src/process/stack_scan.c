/* SPDX-License-Identifier: MIT */
/*
 * A signal frame is found by the word that its handler returns to, which is one of few: the restorers of the actions
 * that the process has. A frame whose stack pointer is elsewhere leads to another stack. No state, no lock.
 */
#include "process/stack_scan.h"

#include "arch/signal_saved.h"
#include "base/raw_syscall.h"
#include "process/mapping_list.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/uio.h>

#define SIGNALS      64
#define BUFFER_WORDS 512 /* a page, or a part of one */
#define STACKS_MAX   8
#define SA_RESTORER  0x04000000u

/* What the kernel calls a sigaction. */
struct signal_setting {
    uint64_t handler;
    uint64_t flags;
    uint64_t restorer;
    uint64_t mask;
};

static void add_restorer(struct stack_scan *scan, uint64_t restorer)
{
    for (size_t i = 0; i < scan->restorer_count; i++)
        if (scan->restorers[i] == restorer)
            return;
    if (scan->restorer_count < STACK_SCAN_RESTORERS_MAX)
        scan->restorers[scan->restorer_count++] = restorer;
}

static void add_mapping(void *context, const struct mapping *mapping)
{
    struct stack_scan *scan = context;

    if (mapping->is_readable)
        scan->is_bounded &= interval_map_insert(&scan->mappings, mapping->start, mapping->end, 0) == 0;
}

void stack_scan_init(struct stack_scan *scan, const struct forced_memory *memory)
{
    *scan = (struct stack_scan){.memory = memory, .is_bounded = true};
    interval_map_init(&scan->mappings);
    if (mapping_list_visit(0, UINT64_MAX, add_mapping, scan) != 0)
        scan->is_bounded = false;
    for (int signal = 1; signal <= SIGNALS; signal++) {
        struct signal_setting action = {0};

        if (raw_syscall(__NR_rt_sigaction, signal, 0, (long)&action, sizeof(action.mask), 0, 0) == 0 &&
            (action.flags & SA_RESTORER) != 0 && action.restorer != 0)
            add_restorer(scan, action.restorer);
    }
}

void stack_scan_deinit(struct stack_scan *scan)
{
    interval_map_deinit(&scan->mappings);
}

/* A stack that is being looked at, and those to come. */
struct stacks_walk {
    const struct stack_scan *scan;
    uint64_t starts[STACKS_MAX];
    size_t start_count;
};

bool stack_scan_is_restorer(const struct stack_scan *scan, uint64_t word)
{
    for (size_t i = 0; i < scan->restorer_count; i++)
        if (scan->restorers[i] == word)
            return true;
    return false;
}

/* What lies above on the same stack is met anyway. */
static void follow(struct stacks_walk *walk, uint64_t frame, uint64_t sp)
{
    if (sp > frame && sp - frame < STACK_SCAN_BYTES_MAX)
        return;
    for (size_t i = 0; i < walk->start_count; i++)
        if (walk->starts[i] == sp)
            return;
    if (walk->start_count < STACKS_MAX)
        walk->starts[walk->start_count++] = sp;
}

static void look_at_frame(struct stacks_walk *walk, uint64_t frame)
{
    const struct stack_scan *scan = walk->scan;
    uint64_t pc_at = signal_saved_pc_at(frame), sp_at = signal_saved_sp_at(frame), pc, sp;

    if (pc_at == 0 || forced_memory_read(scan->memory, pc_at, &pc, sizeof(pc)) != sizeof(pc) ||
        forced_memory_read(scan->memory, sp_at, &sp, sizeof(sp)) != sizeof(sp))
        return;
    if (scan->interrupted != NULL)
        scan->interrupted(scan->context, pc_at, pc);
    follow(walk, frame, sp);
}

static void look_at_words(struct stacks_walk *walk, uint64_t place, const uint64_t *words, size_t count)
{
    const struct stack_scan *scan = walk->scan;

    for (size_t i = 0; i < count; i++) {
        if (stack_scan_is_restorer(scan, words[i]))
            look_at_frame(walk, place + i * sizeof(*words));
        if (words[i] >= scan->low && words[i] < scan->high)
            scan->word(scan->context, words[i]);
    }
}

/* Where the system forbids process_vm_readv, guard pages do not end a stack; then less is looked at. */
static size_t read_stack(const struct stack_scan *scan, uint64_t place, void *bytes_out, size_t size_bytes)
{
    struct iovec to = {bytes_out, size_bytes}, from = {(void *)(uintptr_t)place, size_bytes};
    long got =
        raw_syscall(__NR_process_vm_readv, raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0), (long)&to, 1, (long)&from, 1, 0);

    if (got == -ENOSYS || got == -EPERM)
        return forced_memory_read(scan->memory, place, bytes_out, size_bytes);
    return got < 0 ? 0 : (size_t)got;
}

/*
 * With its mapping: what is behind that is something else. There may be pages that a thread of the program has to
 * provide first (userfaultfd), which stands still, so that whoever reads them waits for good.
 */
static uint64_t end_of_stack(const struct stack_scan *scan, uint64_t start)
{
    uint64_t most = start + STACK_SCAN_BYTES_MAX;
    struct interval mapping;

    if (!scan->is_bounded)
        return most;
    if (!interval_map_find(&scan->mappings, start, &mapping))
        return start;
    return mapping.end < most ? mapping.end : most;
}

/* The kernel reads whole pages or nothing of them, so that a block never crosses into one. */
static void look_at_stack(struct stacks_walk *walk, uint64_t start)
{
    uint64_t words[BUFFER_WORDS];
    uint64_t place = start & ~(uint64_t)7, end = end_of_stack(walk->scan, place);
    size_t got = 1;

    while (got > 0 && place < end) {
        size_t wanted = sizeof(words) - place % sizeof(words);

        got = read_stack(walk->scan, place, words, wanted);
        look_at_words(walk, place, words, got / sizeof(words[0]));
        place += got;
    }
}

static void look_at_stacks(struct stacks_walk *walk)
{
    for (size_t i = 0; i < walk->start_count; i++)
        look_at_stack(walk, walk->starts[i]);
}

void stack_scan_run(const struct stack_scan *scan, uint64_t sp)
{
    struct stacks_walk walk = {.scan = scan, .starts = {sp}, .start_count = 1};

    look_at_stacks(&walk);
}

void stack_scan_frame(const struct stack_scan *scan, uint64_t frame)
{
    struct stacks_walk walk = {.scan = scan};

    look_at_frame(&walk, frame);
    look_at_stacks(&walk);
}
