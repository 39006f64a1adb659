/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/*
 * Functions put addresses that belong to nobody in the place of their return addresses, as hooks do. Stacks must be as
 * if they had not, also when the same address stands for another caller the next time.
 */
#define _GNU_SOURCE
#include "unwind/hooked_frames.h"

#include "arch/arch.h"
#include "support/check.h"
#include "support/random.h"
#include "unwind/stack_walk.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#define DEPTH_MAX  60u
#define FRAMES_MAX 200u
/* How many stand-ins there are: fewer than callers, so that each stands for several. */
#define STAND_INS 3u

static struct unwind_modules modules;
static struct stack_walker walker;
static uint8_t *stand_ins; /* memory that no module has */

static struct hidden {
    uint64_t slot;
    uint64_t stand_in;
    uint64_t original;
} hidden[DEPTH_MAX * 4];
static unsigned hidden_count, undo_count;

static bool undo(void *context, struct hooked_place *place)
{
    CHECK(context == &modules);
    undo_count++;
    for (unsigned i = hidden_count; i-- > 0;) {
        if (place->is_exact || hidden[i].slot != place->sp - sizeof(uint64_t) || hidden[i].stand_in != place->pc)
            continue;
        place->pc = hidden[i].original;
        return true;
    }
    return false;
}

static const struct hooked_frames hooked = {&modules, undo};

static void begin(void)
{
    CHECK_EQUAL(unwind_modules_init(&modules, &arch_host()->frame_registers), 0);
    stack_walker_init(&walker, (uintptr_t)__builtin_frame_address(0), (uintptr_t)__builtin_thread_pointer(), true);
    unwind_modules_add_reader(&modules, &walker.reader);
    CHECK_EQUAL(unwind_modules_refresh(&modules, true), 0);
    unwind_modules_set_hooked(&modules, &hooked);
    stand_ins = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    hidden_count = undo_count = 0;
}

static void end(void)
{
    munmap(stand_ins, 4096);
    unwind_modules_remove_reader(&modules, &walker.reader);
    unwind_modules_deinit(&modules);
}

static void hide(uint64_t *slot, unsigned which)
{
    hidden[hidden_count++] =
        (struct hidden){(uintptr_t)slot, (uintptr_t)stand_ins + 16 + which % STAND_INS * 16, *slot};
    *slot = hidden[hidden_count - 1].stand_in;
}

static void unhide(void)
{
    hidden_count--;
    *(uint64_t *)(uintptr_t)hidden[hidden_count].slot = hidden[hidden_count].original;
}

static __attribute__((noinline)) size_t walk_here(uint64_t *pcs, size_t capacity)
{
    uint64_t *frame = __builtin_frame_address(0);
    const struct stack_start start = {frame[1], (uintptr_t)(frame + 2), frame[0], true, NULL};
    struct stack_addresses addresses = {pcs, capacity, 0};

    CHECK_EQUAL(stack_walk(&modules, &walker, &start, &addresses), 0);
    return addresses.count;
}

/* What the stack is, and what it looks like with hooks: all but the first address, that of the walk's own call. */
static uint64_t plain[FRAMES_MAX], seen[FRAMES_MAX];
static size_t plain_count, seen_count;
static size_t capacity = FRAMES_MAX;
static bool is_compared;
static void (*innermost)(void);

static void compare_stacks(void)
{
    struct hidden kept[DEPTH_MAX * 4];
    unsigned count = hidden_count;

    seen_count = walk_here(seen, capacity);
    memcpy(kept, hidden, sizeof(kept));
    while (hidden_count > 0)
        unhide();
    unwind_modules_set_hooked(&modules, NULL);
    plain_count = walk_here(plain, capacity);
    unwind_modules_set_hooked(&modules, &hooked);
    memcpy(hidden, kept, sizeof(kept));
    for (; hidden_count < count; hidden_count++)
        *(uint64_t *)(uintptr_t)hidden[hidden_count].slot = hidden[hidden_count].stand_in;

    CHECK_EQUAL(seen_count, plain_count);
    for (size_t i = 1; i < seen_count && i < plain_count; i++)
        CHECK_EQUAL(seen[i], plain[i]);
    is_compared = true;
}

/* Each of them calls the next at two places, so that who returns there is not told by the slot. */
static unsigned descend(unsigned depth, uint64_t path, uint64_t hooks);

#define LEVEL(name, words)                                                                                             \
    static __attribute__((noinline)) unsigned name(unsigned depth, uint64_t path, uint64_t hooks)                      \
    {                                                                                                                  \
        uint64_t *frame = __builtin_frame_address(0);                                                                  \
        volatile uint64_t room[words];                                                                                 \
        unsigned result;                                                                                               \
                                                                                                                       \
        room[0] = path;                                                                                                \
        for (unsigned i = 0; i < hooks % 4 / 2 * (1 + hooks % 2); i++)                                                 \
            hide(frame + 1, (unsigned)hooks + i);                                                                      \
        if (path % 2)                                                                                                  \
            result = descend(depth, path / 2, hooks / 4) + (unsigned)(room[0] - path);                                 \
        else                                                                                                           \
            result = descend(depth, path / 2, hooks / 4) * 2 + (unsigned)(room[0] - path);                             \
        for (unsigned i = 0; i < hooks % 4 / 2 * (1 + hooks % 2); i++)                                                 \
            unhide();                                                                                                  \
        __asm__ volatile("" : "+r"(result));                                                                           \
        return result;                                                                                                 \
    }

LEVEL(small, 1)
LEVEL(large, 90)

static __attribute__((noinline)) unsigned descend(unsigned depth, uint64_t path, uint64_t hooks)
{
    unsigned result;

    if (depth == 0) {
        innermost();
        return 0;
    }
    result = path % 3 == 0 ? small(depth - 1, path, hooks) : large(depth - 1, path, hooks);
    __asm__ volatile("" : "+r"(result));
    return result;
}

static void stacks_are_as_without_hooks(void)
{
    struct random random;

    random_init(&random, 7);
    begin();
    innermost = compare_stacks;
    for (unsigned i = 0; i < 3000; i++) {
        is_compared = false;
        /* Often the same way with other callers, or with other hooks. */
        descend((unsigned)random_below(&random, 30), random_u64(&random) % 64, random_u64(&random));
        CHECK(is_compared);
        CHECK_EQUAL(hidden_count, 0);
    }
    CHECK(undo_count > 3000);
    end();
}

static void callers_that_change_behind_the_same_address_are_noticed(void)
{
    begin();
    innermost = compare_stacks;
    for (unsigned i = 0; i < 64; i++) {
        /* All hooked by a single stand-in, at the same depth. */
        descend(6, i, 0x222222222222u);
        descend(6, i, 0x222222222222u);
    }
    end();
}

static void the_last_address_that_there_is_room_for_is_no_hook(void)
{
    begin();
    innermost = compare_stacks;
    for (capacity = 2; capacity < 20; capacity++) {
        descend(16, 0, 0x2222222222222222u);
        CHECK_EQUAL(seen_count, capacity);
    }
    capacity = FRAMES_MAX;
    end();
}

static void handle(int number)
{
    (void)number;
    compare_stacks();
}

static void raise_signal(void)
{
    raise(SIGUSR1);
}

static void frames_behind_a_signal_are_undone(void)
{
    struct sigaction action = {.sa_handler = handle};

    begin();
    CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
    innermost = raise_signal;
    for (unsigned i = 0; i < 10; i++) {
        is_compared = false;
        descend(12, i, 0x2323232323232323u);
        CHECK(is_compared);
    }
    end();
}

/* A thread that is interrupted in the code of a hook itself: the program would be at its function's beginning. */
static uint64_t function_start;

static bool undo_exact(void *context, struct hooked_place *place)
{
    (void)context;
    if (!place->is_exact || place->pc != (uintptr_t)stand_ins)
        return false;
    place->pc = function_start;
    place->sp += 24;
    return true;
}

static void code_of_hooks_is_undone_with_its_frame(void)
{
    static const struct hooked_frames exact = {NULL, undo_exact};
    struct unwind_registers registers = {.known = 0};
    uint64_t *frame = __builtin_frame_address(0);
    uint64_t words[4] = {1, 2, 3, frame[1]}, found[2];

    begin();
    unwind_modules_set_hooked(&modules, &exact);
    function_start = (uintptr_t)&code_of_hooks_is_undone_with_its_frame;
    for (unsigned is_full = 0; is_full < 2; is_full++) {
        struct stack_addresses addresses = {found, 2, 0};
        const struct stack_start start = {(uintptr_t)stand_ins, (uintptr_t)words, 0, false,
                                          is_full ? &registers : NULL};

        CHECK_EQUAL(stack_walk(&modules, &walker, &start, &addresses), 0);
        CHECK_EQUAL(addresses.count, 2);
        CHECK_EQUAL(found[0], function_start);
        CHECK_EQUAL(found[1], frame[1]);
    }
    end();
}

static bool undo_always(void *context, struct hooked_place *place)
{
    (void)context;
    (void)place;
    undo_count++;
    return true;
}

static void who_never_comes_to_an_end_is_not_asked_forever(void)
{
    static const struct hooked_frames endless = {NULL, undo_always};
    struct stack_addresses addresses = {seen, FRAMES_MAX, 0};
    const struct stack_start start = {(uintptr_t)&addresses, (uintptr_t)__builtin_frame_address(0), 0, true, NULL};

    begin();
    unwind_modules_set_hooked(&modules, &endless);
    CHECK_EQUAL(stack_walk(&modules, &walker, &start, &addresses), 0);
    CHECK(undo_count < 1000);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(stacks_are_as_without_hooks),
    CHECK_CASE(callers_that_change_behind_the_same_address_are_noticed),
    CHECK_CASE(the_last_address_that_there_is_room_for_is_no_hook),
    CHECK_CASE(frames_behind_a_signal_are_undone),
    CHECK_CASE(code_of_hooks_is_undone_with_its_frame),
    CHECK_CASE(who_never_comes_to_an_end_is_not_asked_forever),
};

CHECK_MAIN(cases)
