/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/*
 * While real libraries work, followed, the stack is walked at instructions everywhere in them, and compared with what
 * libunwind says. EVERY=1 in the environment does so at every instruction (minutes); else it is every 199th.
 */
#define _GNU_SOURCE
#define UNW_LOCAL_ONLY
#include "unwind/stack_walk.h"

#include "arch/arch.h"
#include "gait/stalker.h"
#include "support/check.h"
#include "support/followed_call.h"
#include "support/workload.h"

#include <libunwind.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

#define FRAMES_MAX 200u

static struct unwind_modules modules;
static struct stack_walker walker;
static unsigned every = 199;
static uint64_t instructions, compared, different, frames_seen;

static int add_module(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    uint64_t low = UINT64_MAX;
    int result;

    (void)size_bytes;
    (void)context;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_vaddr < low)
            low = info->dlpi_phdr[i].p_vaddr;
    result = unwind_modules_add(&modules, info->dlpi_addr + (low & ~(uint64_t)4095));
    if (result != 0)
        printf("%s: %d\n", info->dlpi_name, result);
    CHECK_EQUAL(result, 0);
    return 0;
}

static void begin(void)
{
    CHECK_EQUAL(unwind_modules_init(&modules, &arch_host()->frame_registers), 0);
    stack_walker_init(&walker, (uintptr_t)__builtin_frame_address(0), (uintptr_t)__builtin_thread_pointer(), true);
    unwind_modules_add_reader(&modules, &walker.reader);
    dl_iterate_phdr(add_module, NULL);
    instructions = compared = different = frames_seen = 0;
    if (getenv("EVERY") != NULL && atoi(getenv("EVERY")) > 0)
        every = (unsigned)atoi(getenv("EVERY"));
}

static void end(void)
{
    unwind_modules_remove_reader(&modules, &walker.reader);
    unwind_modules_deinit(&modules);
}

/* Registers by number in .eh_frame, and where libunwind and the engine have them. */
static const struct {
    unsigned ours;
    unsigned theirs;
} numbers[] = {
    {0, REG_RAX},  {2, REG_RCX},  {1, REG_RDX},  {3, REG_RBX},  {7, REG_RSP},  {6, REG_RBP},
    {4, REG_RSI},  {5, REG_RDI},  {8, REG_R8},   {9, REG_R9},   {10, REG_R10}, {11, REG_R11},
    {12, REG_R12}, {13, REG_R13}, {14, REG_R14}, {15, REG_R15},
};

static size_t walk_theirs(const struct gait_cpu_context *cpu, uint64_t *pcs)
{
    static ucontext_t context;
    unw_cursor_t cursor;
    unw_word_t pc;
    size_t count = 0;

    for (unsigned i = 0; i < GAIT_CPU_REGISTER_COUNT; i++)
        context.uc_mcontext.gregs[numbers[i].theirs] = (greg_t)cpu->registers[i];
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)cpu->pc;
    if (unw_init_local2(&cursor, &context, UNW_INIT_SIGNAL_FRAME) != 0)
        return 0;
    do {
        if (unw_get_reg(&cursor, UNW_REG_IP, &pc) != 0 || pc == 0)
            break;
        pcs[count++] = pc;
    } while (count < FRAMES_MAX && unw_step(&cursor) > 0);
    return count;
}

static size_t walk_ours(const struct gait_cpu_context *cpu, uint64_t *pcs)
{
    struct unwind_registers registers = {.known = 0};
    const struct stack_start start = {cpu->pc, cpu->registers[4], cpu->registers[5], false, &registers};
    struct stack_addresses addresses = {pcs, FRAMES_MAX, 0};

    for (unsigned i = 0; i < GAIT_CPU_REGISTER_COUNT; i++)
        unwind_registers_set(&registers, numbers[i].ours, cpu->registers[i]);
    unwind_registers_set(&registers, 16, cpu->pc);
    CHECK_EQUAL(stack_walk(&modules, &walker, &start, &addresses), 0);
    return addresses.count;
}

static void show(const char *who, const uint64_t *pcs, size_t count)
{
    printf("%s:", who);
    for (size_t i = 0; i < count && i < 8; i++)
        printf(" %lx", (unsigned long)pcs[i]);
    printf("%s\n", count > 8 ? " ..." : "");
}

static void compare(struct gait_cpu_context *cpu, void *data)
{
    static uint64_t ours[FRAMES_MAX], theirs[FRAMES_MAX];
    size_t our_count, their_count;

    (void)data;
    if (instructions++ % every != 0)
        return;
    our_count = walk_ours(cpu, ours);
    their_count = walk_theirs(cpu, theirs);
    compared++;
    frames_seen += our_count;
    if (our_count == their_count && memcmp(ours, theirs, our_count * sizeof(ours[0])) == 0)
        return;
    if (different++ < 5) {
        show("ours", ours, our_count);
        show("theirs", theirs, their_count);
    }
}

static void call_everywhere(void *context, struct gait_iterator *iterator)
{
    (void)context;
    while (gait_iterator_next(iterator, NULL)) {
        gait_iterator_put_callout(iterator, compare, NULL, GAIT_CALLOUT_ANY);
        gait_iterator_keep(iterator);
    }
}

static const struct gait_transformer calling = {call_everywhere, NULL};

static void follow(uint64_t (*function)(uint64_t a, uint64_t b), uint64_t a, uint64_t b)
{
    struct gait_follow_options options = followed_options();
    struct gait_stalker *stalker = followed_call_stalker();

    options.transformer = &calling;
    followed_call(stalker, &options, (uintptr_t)function, a, b);
    gait_stalker_destroy(stalker);
}

static uint64_t run_workload(uint64_t run, uint64_t state)
{
    return ((uint64_t(*)(void *))(uintptr_t)run)((void *)(uintptr_t)state);
}

static void libraries_at_work(void)
{
    for (size_t i = 0; i < WORKLOAD_COUNT; i++) {
        void *state;

        begin();
        CHECK_EQUAL(workload_prepare(workloads[i], 1, &state), 0);
        follow(run_workload, (uintptr_t)workloads[i]->run, (uintptr_t)state);
        workloads[i]->discard(state);
        if (different != 0)
            printf("%s: %lu of %lu stacks are others\n", workloads[i]->name, (unsigned long)different,
                   (unsigned long)compared);
        CHECK(compared > 100);
        CHECK(frames_seen > 3 * compared);
        CHECK_EQUAL(different, 0);
        end();
    }
}

/* ---- frames of unusual kinds ------------------------------------------------------------------------------------- */

static volatile int sink;

static void handle(int signal)
{
    sink += signal;
}

static uint64_t run_handler(uint64_t signal_number, uint64_t unused)
{
    (void)unused;
    return (uint64_t)raise((int)signal_number);
}

static int compare_numbers(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

/* A frame whose size is not known beforehand, with a stack that is aligned anew. */
static __attribute__((noinline)) uint64_t use_odd_frames(uint64_t count, uint64_t depth)
{
    char aligned[64] __attribute__((aligned(64)));
    char sized[count];
    int numbers_to_sort[] = {3, 1, 2};

    memset(aligned, (int)depth, sizeof(aligned));
    memset(sized, (int)depth, count);
    __asm__ volatile("" : : "r"(aligned), "r"(sized) : "memory");
    qsort(numbers_to_sort, 3, sizeof(int), compare_numbers);
    return depth == 0 ? 0 : use_odd_frames(count + 40, depth - 1) + (uint64_t)sized[0] + (uint64_t)aligned[1];
}

static void expect_same(uint64_t (*function)(uint64_t a, uint64_t b), uint64_t a, uint64_t b)
{
    unsigned before = every;

    begin();
    every = 1;
    follow(function, a, b);
    every = before;
    CHECK(compared > 50);
    CHECK_EQUAL(different, 0);
    end();
}

static void signal_frames_are_undone(void)
{
    struct sigaction action = {.sa_handler = handle};

    CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
    expect_same(run_handler, SIGUSR1, 0);
}

static void handlers_on_other_stacks_are_undone(void)
{
    static char storage[64 << 10];
    stack_t stack = {.ss_sp = storage, .ss_size = sizeof(storage)};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};

    CHECK_EQUAL(sigaltstack(&stack, NULL), 0);
    CHECK_EQUAL(sigaction(SIGUSR2, &action, NULL), 0);
    expect_same(run_handler, SIGUSR2, 0);
}

static void frames_of_odd_sizes_are_undone(void)
{
    expect_same(use_odd_frames, 100, 6);
}

/* ---- what cannot be walked --------------------------------------------------------------------------------------- */

static size_t walk_from(uint64_t pc, uint64_t sp, uint64_t fp, size_t capacity)
{
    uint64_t pcs[8];
    struct stack_addresses addresses = {pcs, capacity, 77};

    CHECK(stack_walk(&modules, &walker, &(struct stack_start){pc, sp, fp, false, NULL}, &addresses) <= 0);
    return addresses.count;
}

static void registers_without_a_stack_give_no_callers(void)
{
    uint64_t pc = (uintptr_t)registers_without_a_stack_give_no_callers;
    uint64_t sp = (uintptr_t)__builtin_frame_address(0) & ~(uint64_t)7;

    begin();
    CHECK_EQUAL(walk_from(pc, 16, 0, 8), 1);
    CHECK_EQUAL(walk_from(pc, UINT64_MAX - 7, 0, 8), 1);
    CHECK_EQUAL(walk_from(pc, UINT64_MAX - 3, UINT64_MAX, 8), 0);
    CHECK_EQUAL(walk_from(0, 8, 8, 8), 1);
    CHECK(walk_from(pc, sp, sp, 8) >= 1);
    CHECK_EQUAL(walk_from(pc, sp, sp, 0), 0);
    CHECK_EQUAL(walk_from(pc, sp, sp, 1), 1);
    /* At the very end of the stack. */
    CHECK(walker.own.high != 0);
    CHECK(walk_from(pc, walker.own.high - 8, 0, 8) <= 2);
    CHECK_EQUAL(walk_from(pc, walker.own.high, walker.own.high, 8), 1);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(registers_without_a_stack_give_no_callers),
    CHECK_CASE(signal_frames_are_undone),
    CHECK_CASE(handlers_on_other_stacks_are_undone),
    CHECK_CASE(frames_of_odd_sizes_are_undone),
    CHECK_CASE(libraries_at_work),
};

CHECK_MAIN(cases)
