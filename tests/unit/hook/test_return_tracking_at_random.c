/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/*
 * Coroutines that call each other's functions, yield in the midst of them and jump out of them, all at random, with
 * signals on top: they come to the same result with these functions hooked as without, and what was entered was left or
 * unwound.
 */
#define _GNU_SOURCE
#include "hook/return_tracking.h"

#include "base/counters.h"
#include "hook/hook_thread.h"
#include "support/check.h"
#include "support/hook_lab.h"
#include "support/random.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>

#if defined(__x86_64__)

#define LISTENED    (HOOK_STUB_LISTEN | HOOK_STUB_RETURNS)
#define RECORDED    (HOOK_STUB_RECORD | HOOK_STUB_RETURNS)
#define COROUTINES  6
#define STACK_BYTES (256 << 10)
#define CATCHES     16
#define DEPTH_MOST  40
#define STEPS       3000

struct coroutine {
    ucontext_t context;
    struct random random;
    uint64_t result;
    unsigned steps;
    unsigned catch_count;
    jmp_buf catches[CATCHES];
    bool is_done;
};

typedef uint64_t work_function(struct coroutine *coroutine, unsigned depth);

#define VARIANTS 4
static work_function *variants[VARIANTS];
static struct coroutine coroutines[COROUTINES];
static unsigned char stacks[COROUTINES][STACK_BYTES] __attribute__((aligned(64)));
static ucontext_t scheduler;

static __attribute__((noinline)) void yield(struct coroutine *coroutine)
{
    swapcontext(&coroutine->context, &scheduler);
}

static __attribute__((noinline)) uint64_t call_variant(struct coroutine *coroutine, unsigned depth)
{
    return variants[random_below(&coroutine->random, VARIANTS)](coroutine, depth + 1) + depth;
}

/* Whoever jumps here goes on behind it. */
static __attribute__((noinline)) uint64_t call_and_catch(struct coroutine *coroutine, unsigned depth)
{
    volatile unsigned own = coroutine->catch_count;
    volatile uint64_t result = 7;

    if (own == CATCHES)
        return 5;
    coroutine->catch_count++;
    if (setjmp(coroutine->catches[own]) == 0)
        result = call_variant(coroutine, depth);
    coroutine->catch_count = own;
    return result;
}

static __attribute__((noinline)) uint64_t work(struct coroutine *coroutine, unsigned depth)
{
    uint64_t sum = depth;

    for (unsigned i = 0; i < 4 && coroutine->steps > 0; i++) {
        uint64_t choice = random_below(&coroutine->random, 16);

        coroutine->steps--;
        if (choice < 3)
            yield(coroutine);
        else if (choice < 5 && coroutine->catch_count > 0)
            longjmp(coroutine->catches[random_below(&coroutine->random, coroutine->catch_count)], 1);
        else if (depth < DEPTH_MOST)
            sum = sum * 31 + (choice < 8 ? call_and_catch(coroutine, depth) : call_variant(coroutine, depth));
    }
    return sum;
}

/* Different, so that they have frames of different sizes; the last one ends with a jump. */
static __attribute__((noinline)) uint64_t small(struct coroutine *coroutine, unsigned depth)
{
    return work(coroutine, depth) + 1;
}

static __attribute__((noinline)) uint64_t large(struct coroutine *coroutine, unsigned depth)
{
    volatile uint64_t room[40];

    room[depth % 40] = depth;
    return work(coroutine, depth) + room[depth % 40];
}

static __attribute__((noinline)) uint64_t twice(struct coroutine *coroutine, unsigned depth)
{
    uint64_t first = work(coroutine, depth + 8);

    return first * 3 + work(coroutine, depth + 8);
}

uint64_t jumping(struct coroutine *coroutine, unsigned depth);
extern work_function *volatile jumping_to;
work_function *volatile jumping_to;

__asm__(".text\n"
        "jumping:\n"
        "        addl $1, %esi\n"
        "        jmpq *jumping_to(%rip)\n");

static void run_coroutine(int which)
{
    struct coroutine *coroutine = &coroutines[which];

    coroutine->catch_count = 0;
    coroutine->result = call_and_catch(coroutine, 0);
    coroutine->is_done = true;
}

static __attribute__((noinline)) void begin_coroutine(int which, uint64_t seed)
{
    struct coroutine *coroutine = &coroutines[which];

    random_init(&coroutine->random, seed * 100 + (uint64_t)which);
    coroutine->steps = STEPS;
    coroutine->is_done = false;
    getcontext(&coroutine->context);
    coroutine->context.uc_stack.ss_sp = stacks[which];
    coroutine->context.uc_stack.ss_size = STACK_BYTES;
    coroutine->context.uc_link = &scheduler;
    makecontext(&coroutine->context, (void (*)(void))run_coroutine, 1, which);
}

static uint64_t run_all(uint64_t seed)
{
    struct random random;
    uint64_t result = 0;
    unsigned left = COROUTINES;

    random_init(&random, seed);
    for (int i = 0; i < COROUTINES; i++)
        begin_coroutine(i, seed);
    while (left > 0) {
        unsigned which = (unsigned)random_below(&random, COROUTINES);

        if (coroutines[which].is_done)
            continue;
        swapcontext(&scheduler, &coroutines[which].context);
        left -= coroutines[which].is_done;
    }
    for (unsigned i = 0; i < COROUTINES; i++)
        result = result * 1000003 + coroutines[i].result;
    return result;
}

static void use_natives(void)
{
    variants[0] = small;
    variants[1] = large;
    variants[2] = twice;
    variants[3] = jumping;
    jumping_to = large;
}

static void use_hooks(void)
{
    static work_function *hooked[VARIANTS + 1];

    if (hooked[0] == NULL) {
        hooked[0] = (work_function *)hook_lab_hook((void *)small, 's', LISTENED);
        hooked[1] = (work_function *)hook_lab_hook((void *)large, 'l', RECORDED);
        hooked[2] = (work_function *)hook_lab_hook((void *)twice, 't', LISTENED | RECORDED);
        hooked[3] = (work_function *)hook_lab_hook((void *)jumping, 'j', LISTENED);
        hooked[4] = (work_function *)hook_lab_hook((void *)small, 'k', RECORDED);
    }
    memcpy(variants, hooked, sizeof(variants));
    jumping_to = hooked[1];
}

/* As many of each function were entered as were left and unwound. */
static void check_balance(const char *text, char name)
{
    long balance = 0;

    for (; text[0] != '\0'; text += 2)
        if (text[1] == name)
            balance += text[0] == '+' ? 1 : -1;
    CHECK_EQUAL(balance, 0);
}

/* Drops what is over: on stacks of coroutines only what was overwritten is known to be. */
static void drop_all(void)
{
    struct hook_thread *thread = hook_thread_current();
    struct invocation_cursor cursor;
    uint64_t mask = hook_signals_block(), here = 0;

    memset(stacks, 0, sizeof(stacks));
    for (unsigned i = 0; i < 200; i++)
        return_tracking_settle(thread, (uintptr_t)&here);
    hook_signals_unblock(mask);
    invocation_cursor_begin(&cursor, &thread->invocations);
    CHECK(invocation_cursor_next(&cursor) == NULL);
    CHECK(invocation_stack_check(&thread->invocations));
}

static void compare(uint64_t first_seed, unsigned count)
{
    uint64_t guessed = counter_read(COUNTER_hook_returns_guessed);

    for (uint64_t seed = first_seed; seed < first_seed + count; seed++) {
        uint64_t expected;

        use_natives();
        expected = run_all(seed);
        use_hooks();
        CHECK_EQUAL(run_all(seed), expected);
    }
    CHECK_EQUAL(counter_read(COUNTER_hook_returns_guessed), guessed);
}

static void hooked_coroutines_do_what_others_do(void)
{
    for (uint64_t seed = 1; seed < 30; seed++) {
        const char *text;

        compare(seed, 1);
        drop_all();
        text = hook_lab_told();
        if (strlen(text) < 60000) {
            check_balance(text, 's');
            check_balance(text, 't');
            check_balance(text, 'j');
        }
        (void)hook_lab_recorded();
    }
}

static volatile unsigned tick_count;

static void tick(int number)
{
    static struct coroutine nobody;

    (void)number;
    tick_count++;
    if (small(&nobody, 3) != 4 || variants[0](&nobody, 3) != 4 || variants[1](&nobody, 3) != 6)
        abort();
}

static void signals_do_not_change_that(void)
{
    const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = tick};

    sigaction(SIGALRM, &action, NULL);
    use_hooks();
    setitimer(ITIMER_REAL, &often, NULL);
    for (uint64_t seed = 100; seed < 160; seed++) {
        compare(seed, 1);
        (void)hook_lab_told();
        (void)hook_lab_recorded();
    }
    setitimer(ITIMER_REAL, &never, NULL);
    CHECK(tick_count > 20);
}

#endif

static const struct check_case cases[] = {
#if defined(__x86_64__)
    CHECK_CASE(hooked_coroutines_do_what_others_do),
    CHECK_CASE(signals_do_not_change_that),
#endif
};

int main(void)
{
#if defined(__x86_64__)
    hook_lab_begin();
#endif
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
