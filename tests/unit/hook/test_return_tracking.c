/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "hook/return_tracking.h"

#include "arch/host_cpu.h"
#include "base/counters.h"
#include "hook/hook_thread.h"
#include "support/check.h"
#include "support/hook_lab.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)

#define LISTENED (HOOK_STUB_LISTEN | HOOK_STUB_RETURNS)
#define RECORDED (HOOK_STUB_RECORD | HOOK_STUB_RETURNS)

static const unsigned ways[] = {LISTENED, RECORDED, LISTENED | RECORDED};
#define WAYS 3

typedef int one_function(int);

/* What was told, in whichever way. */
static const char *told(unsigned parts)
{
    const char *by_listeners = hook_lab_told(), *by_records = hook_lab_recorded();

    if (parts == (LISTENED | RECORDED))
        CHECK_TEXT(by_listeners, by_records);
    return parts & HOOK_STUB_LISTEN ? by_listeners : by_records;
}

/* All is over. */
static void check_empty(void)
{
    struct hook_thread *thread = hook_thread_current();
    struct invocation_cursor cursor;

    CHECK(invocation_stack_check(&thread->invocations));
    invocation_cursor_begin(&cursor, &thread->invocations);
    CHECK(invocation_cursor_next(&cursor) == NULL);
}

static one_function *volatile hooked_f, *volatile hooked_g, *volatile hooked_h;

static void hook_three(one_function *f, one_function *g, one_function *h, unsigned parts)
{
    hooked_f = (one_function *)hook_lab_hook((void *)f, 'f', parts);
    hooked_g = (one_function *)hook_lab_hook((void *)g, 'g', parts);
    hooked_h = (one_function *)hook_lab_hook((void *)h, 'h', parts);
}

/* ---- depth ------------------------------------------------------------------------------------------------------- */

static __attribute__((noinline)) int recurses(int depth)
{
    return depth == 0 ? 0 : hooked_f(depth - 1) + 1;
}

static void recursion_may_be_deep(void)
{
    hooked_f = (one_function *)hook_lab_hook((void *)recurses, 'f', RECORDED);
    CHECK_EQUAL(hooked_f(3), 3);
    CHECK_TEXT(told(RECORDED), "+f+f+f+f-f-f-f-f");
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(hooked_f(50000), 50000);
        (void)told(RECORDED);
    }
    check_empty();
}

/* ---- long jumps -------------------------------------------------------------------------------------------------- */

static jmp_buf jump;
static volatile bool jumps;

static __attribute__((noinline)) int jumper(int value)
{
    if (jumps)
        longjmp(jump, value);
    return value;
}

static __attribute__((noinline)) int between(int value)
{
    return hooked_h(value) + 1;
}

static __attribute__((noinline)) int catcher(int value)
{
    int caught = setjmp(jump);

    if (caught != 0)
        return caught + 100;
    return hooked_g(value) + 1;
}

static void a_long_jump_past_hooked_functions_unwinds_them(void)
{
    for (unsigned i = 0; i < WAYS; i++) {
        hook_three(catcher, between, jumper, ways[i]);
        jumps = true;
        CHECK_EQUAL(hooked_f(5), 105);
        CHECK_TEXT(told(ways[i]), "+f+g+h!h!g-f");
        jumps = false;
        CHECK_EQUAL(hooked_f(5), 7);
        CHECK_TEXT(told(ways[i]), "+f+g+h-h-g-f");
        check_empty();
    }
}

/* Nothing hooked is outside of the jump: it is noticed when a function is entered again. */
static void long_jumps_in_a_loop_take_no_memory(void)
{
    for (unsigned i = 0; i < WAYS; i++) {
        volatile int count = 0;

        hook_three(catcher, between, jumper, ways[i]);
        jumps = true;
        for (count = 0; count < 3000; count++) {
            if (setjmp(jump) == 0)
                (void)hooked_g(count + 1);
            if (count % 500 == 0)
                (void)told(ways[i]);
        }
        CHECK(hook_thread_current()->invocations.top[-1].depth < 4);
        (void)told(ways[i]);
        jumps = false;
        CHECK_EQUAL(hooked_g(1), 2);
        CHECK_TEXT(told(ways[i]), "!h!g+g+h-h-g");
        check_empty();
    }
}

/* ---- jumps to other functions ------------------------------------------------------------------------------------ */

static __attribute__((noinline)) int last(int value)
{
    return value * 2;
}

/* Both end with a jump, whatever the compiler's options. */
int jumps_to_h(int value);
int jumps_to_g(int value);
int jumps_around(int value);
extern one_function *volatile jump_g, *volatile jump_h, *volatile jump_around;
one_function *volatile jump_g, *volatile jump_h, *volatile jump_around;

__asm__(".text\n"
        "jumps_to_h:\n"
        "        addl $1, %edi\n"
        "        jmpq *jump_h(%rip)\n"
        "jumps_to_g:\n"
        "        addl $10, %edi\n"
        "        jmpq *jump_g(%rip)\n"
        "jumps_around:\n"
        "        subl $1, %edi\n"
        "        jz 1f\n"
        "        jmpq *jump_around(%rip)\n"
        "1:      movl $99, %eax\n"
        "        ret\n");

static void functions_that_jump_to_others_return_with_them(void)
{
    for (unsigned i = 0; i < WAYS; i++) {
        hook_three(jumps_to_g, jumps_to_h, last, ways[i]);
        jump_g = hooked_g;
        jump_h = hooked_h;
        CHECK_EQUAL(hooked_f(1), 24);
        CHECK_TEXT(told(ways[i]), "+f+g+h-h-g-f");
        CHECK_EQUAL(hooked_f(2), 26);
        (void)told(ways[i]);
        check_empty();
    }
}

static void functions_may_jump_to_each_other_forever(void)
{
    for (unsigned i = 0; i < WAYS; i++) {
        const char *text;
        size_t entered = 0, left = 0;

        jump_around = (one_function *)hook_lab_hook((void *)jumps_around, 'j', ways[i]);
        CHECK_EQUAL(jump_around(3000), 99);
        text = told(ways[i]);
        for (; text[0] != '\0'; text += 2) {
            entered += text[0] == '+';
            left += text[0] != '+';
        }
        CHECK_EQUAL(entered, 3000);
        CHECK_EQUAL(left, 3000);
        check_empty();
    }
}

/* Functions of programs do it all the time: two system calls for each would cost more than most of them. */
static void jumps_and_unseen_returns_are_told_quickly(void)
{
    const unsigned quick[] = {LISTENED, RECORDED};

    if (!host_cpu_has_base_insns())
        return; /* nobody finds his thread quickly here */
    for (unsigned i = 0; i < 2; i++) {
        one_function *unseen = (one_function *)hook_lab_hook((void *)last, 'u', quick[i] & ~HOOK_STUB_RETURNS);
        uint64_t before;

        hook_three(jumps_to_g, jumps_to_h, last, quick[i]);
        jump_g = hooked_g;
        jump_h = hooked_h;
        CHECK_EQUAL(hooked_f(1), 24);
        CHECK_EQUAL(unseen(1), 2);
        (void)told(quick[i]);
        before = counter_read(COUNTER_hook_gates_slow);
        CHECK_EQUAL(hooked_f(1), 24);
        CHECK_EQUAL(unseen(1), 2);
        CHECK_EQUAL(counter_read(COUNTER_hook_gates_slow), before);
        CHECK_TEXT(told(quick[i]), quick[i] & HOOK_STUB_RECORD ? "+f+g+h-h-g-f+u-u" : "+f+g+h-h-g-f?u");
        check_empty();
    }
}

static uint64_t seen_return_address;

static void see_return_address(struct gait_invocation *invocation)
{
    seen_return_address = invocation->return_address;
}

static __attribute__((noinline)) uint64_t call_with_address(one_function *function)
{
    function(1);
    __asm__ volatile("behind_call_with_address:");
    return 0;
}

/* The one that would be there without hooks. */
static void listeners_see_original_return_addresses(void)
{
    const struct hook_listener listener = {.enter = see_return_address, .leave = see_return_address};
    uint64_t direct;

    hooked_h = (one_function *)hook_lab_hook_with((void *)last, LISTENED, &listener, 1);
    call_with_address(hooked_h);
    direct = seen_return_address;
    CHECK(direct > (uintptr_t)call_with_address && direct < (uintptr_t)call_with_address + 64);
    hooked_g = (one_function *)hook_lab_hook((void *)jumps_to_h, 'g', LISTENED);
    jump_h = hooked_h;
    seen_return_address = 0;
    call_with_address(hooked_g);
    CHECK_EQUAL(seen_return_address, direct);
    (void)hook_lab_told();
}

/* ---- coroutines -------------------------------------------------------------------------------------------------- */

#define COROUTINES      8
#define COROUTINE_BYTES (64 << 10)

static ucontext_t scheduler, coroutines[COROUTINES];
static volatile unsigned current_coroutine;
static volatile unsigned coroutines_done;
static volatile bool is_done[COROUTINES];

static __attribute__((noinline)) int yields(int value)
{
    swapcontext(&coroutines[current_coroutine], &scheduler);
    return value;
}

static __attribute__((noinline)) int works(int value)
{
    int sum = 0;

    for (int i = 0; i < value; i++)
        sum += hooked_g(i);
    return sum;
}

static void coroutine(int rounds, int number)
{
    int sum = hooked_f(rounds);

    if (sum != rounds * (rounds - 1) / 2)
        abort();
    coroutines_done++;
    is_done[number] = true;
}

static __attribute__((noinline)) int resumes(int which)
{
    current_coroutine = (unsigned)which;
    swapcontext(&scheduler, &coroutines[which]);
    return which;
}

static void begin_coroutines(unsigned char *memory, int rounds)
{
    coroutines_done = 0;
    for (unsigned i = 0; i < COROUTINES; i++) {
        is_done[i] = false;
        getcontext(&coroutines[i]);
        coroutines[i].uc_stack.ss_sp = memory + (size_t)i * COROUTINE_BYTES;
        coroutines[i].uc_stack.ss_size = COROUTINE_BYTES;
        coroutines[i].uc_link = &scheduler;
        makecontext(&coroutines[i], (void (*)(void))coroutine, 2, rounds + (int)i % 3, (int)i);
    }
}

static void count(const char *text, const char *what, size_t expected)
{
    size_t found = 0;

    for (; text[0] != '\0'; text += 2)
        found += text[0] == what[0] && text[1] == what[1];
    CHECK_EQUAL(found, expected);
}

/* Below the thread's stack, above it, and in it; in turn and with a pattern that is never empty. */
static void coroutines_return_to_where_they_were_called(void)
{
    unsigned char here[COROUTINES * COROUTINE_BYTES];
    unsigned char *elsewhere = mmap(NULL, sizeof(here), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static unsigned char fixed[COROUTINES * COROUTINE_BYTES];
    unsigned char *places[3] = {elsewhere, fixed, here};

    for (unsigned place = 0; place < 3; place++)
        for (unsigned i = 0; i < WAYS; i++) {
            uint64_t guessed = counter_read(COUNTER_hook_returns_guessed);
            unsigned long resumed = 0, yielded = 0;
            const char *text;

            hook_three(works, yields, resumes, ways[i]);
            begin_coroutines(places[place], 20);
            for (unsigned j = 0; j < COROUTINES; j++)
                yielded += 20 + j % 3;
            for (; coroutines_done < COROUTINES; resumed++) {
                unsigned which = (unsigned)(resumed * 7 + resumed / 5) % COROUTINES;

                if (!is_done[which])
                    (void)hooked_h((int)which);
            }
            CHECK_EQUAL(counter_read(COUNTER_hook_returns_guessed), guessed);
            text = told(ways[i]);
            count(text, "+g", yielded);
            count(text, "+f", COROUTINES);
            count(text, "-g", yielded);
            count(text, "-f", COROUTINES);
            CHECK(strchr(text, '!') == NULL);
            check_empty();
        }
    munmap(elsewhere, sizeof(here));
}

/* A coroutine that yields on one thread goes on on another one. */
static ucontext_t other_scheduler;
static volatile int mover_result;

static __attribute__((noinline)) int moves(int value)
{
    ucontext_t *back = &scheduler;

    __asm__ volatile("" : "+r"(back));
    swapcontext(&coroutines[0], back);
    return value + 1;
}

static void mover(void)
{
    mover_result = hooked_f(41);
    setcontext(&other_scheduler);
}

static __attribute__((noinline)) int calls_mover(int value)
{
    return hooked_g(value) * 2;
}

static void *go_on_elsewhere(void *unused)
{
    /* It has calls of its own, too. */
    CHECK_EQUAL(hooked_h(3), 6);
    swapcontext(&other_scheduler, &coroutines[0]);
    CHECK_EQUAL(hooked_h(3), 6);
    check_empty();
    return unused;
}

static void a_coroutine_may_go_on_on_another_thread(void)
{
    static unsigned char memory[COROUTINE_BYTES];

    for (unsigned i = 0; i < WAYS; i++) {
        uint64_t guessed = counter_read(COUNTER_hook_returns_guessed);
        pthread_t thread;
        const char *text;

        hook_three(calls_mover, moves, last, ways[i]);
        getcontext(&coroutines[0]);
        coroutines[0].uc_stack.ss_sp = memory;
        coroutines[0].uc_stack.ss_size = sizeof(memory);
        coroutines[0].uc_link = NULL;
        makecontext(&coroutines[0], mover, 0);
        mover_result = 0;
        CHECK_EQUAL(hooked_h(4), 8);
        swapcontext(&scheduler, &coroutines[0]);
        CHECK_EQUAL(hooked_h(5), 10);
        CHECK_EQUAL(pthread_create(&thread, NULL, go_on_elsewhere, NULL), 0);
        CHECK_EQUAL(pthread_join(thread, NULL), 0);
        CHECK_EQUAL(mover_result, 84);
        CHECK_EQUAL(hooked_h(6), 12);
        CHECK_EQUAL(counter_read(COUNTER_hook_returns_guessed), guessed);
        text = told(ways[i] & HOOK_STUB_LISTEN ? LISTENED : RECORDED);
        count(text, "+f", 1);
        count(text, "-f", 1);
        count(text, "-g", 1);
        CHECK(strchr(text, '!') == NULL);
        check_empty();
        (void)hook_lab_recorded();
        (void)hook_lab_told();
    }
}

/* Stacks that are copied away and back, so that several calls have one slot. */
static ucontext_t copier;
static unsigned char *copied_low, *copied_high;
static unsigned char copies[2][16384];
static size_t copied_bytes[2];
static ucontext_t copied[2];
static unsigned char copier_memory[COROUTINE_BYTES];

static __attribute__((noinline)) int copies_stack(int which)
{
    swapcontext(&copied[which], &copier);
    return which;
}

static __attribute__((noinline)) int first_copied(int which)
{
    return hooked_f(which) + 1000;
}

static __attribute__((noinline)) int second_copied(int which)
{
    return hooked_f(which) + 2000;
}

static int copied_results[2];

static void copied_main(int which)
{
    copied_results[which] = which == 0 ? hooked_g(which) : hooked_h(which);
}

static void save_copy(unsigned which)
{
    copied_low = (unsigned char *)(uintptr_t)(copied[which].uc_mcontext.gregs[REG_RSP] - 256);
    copied_high = copier_memory + sizeof(copier_memory);
    copied_bytes[which] = (size_t)(copied_high - copied_low);
    memcpy(copies[which], copied_low, copied_bytes[which]);
}

static void restore_copy(unsigned which)
{
    memcpy(copied_high - copied_bytes[which], copies[which], copied_bytes[which]);
}

static void stacks_may_be_copied_away_and_back(void)
{
    for (unsigned i = 0; i < WAYS; i++) {
        uint64_t guessed = counter_read(COUNTER_hook_returns_guessed);

        hook_three(copies_stack, first_copied, second_copied, ways[i]);
        for (unsigned which = 0; which < 2; which++) {
            ucontext_t start;

            getcontext(&start);
            start.uc_stack.ss_sp = copier_memory;
            start.uc_stack.ss_size = sizeof(copier_memory);
            start.uc_link = &copier;
            makecontext(&start, (void (*)(void))copied_main, 1, (int)which);
            memset(copied_results, 0, sizeof(copied_results));
            swapcontext(&copier, &start);
            save_copy(which);
        }
        for (unsigned which = 2; which-- > 0;) {
            restore_copy(which);
            swapcontext(&copier, &copied[which]);
        }
        CHECK_EQUAL(copied_results[1], 2001);
        CHECK_EQUAL(copied_results[0], 1000);
        CHECK_EQUAL(counter_read(COUNTER_hook_returns_guessed), guessed);
        (void)hook_lab_told();
        (void)hook_lab_recorded();
    }
}

/* ---- signal handlers --------------------------------------------------------------------------------------------- */

static sigjmp_buf signal_jump;
static volatile bool handler_jumps;

static void handler(int number)
{
    (void)number;
    if (hooked_h(2) != 4)
        abort();
    if (handler_jumps)
        siglongjmp(signal_jump, 1);
}

static __attribute__((noinline)) int raises(int value)
{
    raise(SIGUSR1);
    return value;
}

static __attribute__((noinline)) int calls_raiser(int value)
{
    return hooked_g(value) + 1;
}

static __attribute__((noinline)) int catches_jump(int value)
{
    if (sigsetjmp(signal_jump, 1) != 0)
        return value + 50;
    return calls_raiser(value);
}

static void handlers_run_on_any_stack(void)
{
    static unsigned char static_stack[COROUTINE_BYTES];
    unsigned char *high = mmap(NULL, COROUTINE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char here[COROUTINE_BYTES];
    unsigned char *stacks[] = {NULL, static_stack, high, here};

    for (unsigned place = 0; place < 4; place++)
        for (unsigned i = 0; i < WAYS; i++) {
            stack_t stack = {.ss_sp = stacks[place], .ss_size = COROUTINE_BYTES};
            struct sigaction action = {.sa_handler = handler, .sa_flags = stacks[place] != NULL ? SA_ONSTACK : 0};

            if (stacks[place] != NULL)
                CHECK_EQUAL(sigaltstack(&stack, NULL), 0);
            CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
            hook_three(calls_raiser, raises, last, ways[i]);
            handler_jumps = false;
            CHECK_EQUAL(hooked_f(7), 8);
            CHECK_TEXT(told(ways[i]), "+f+g+h-h-g-f");
            check_empty();
            hook_three(catches_jump, raises, last, ways[i]);
            handler_jumps = true;
            CHECK_EQUAL(hooked_f(7), 57);
            CHECK_TEXT(told(ways[i]), "+f+g+h-h!g-f");
            check_empty();
            stack.ss_flags = SS_DISABLE;
            CHECK_EQUAL(sigaltstack(&stack, NULL), 0);
        }
    munmap(high, COROUTINE_BYTES);
}

/* A handler that jumps out of a listener. */
static volatile bool listener_raises;

static void raising_listener(struct gait_invocation *invocation)
{
    (void)invocation;
    if (listener_raises)
        raise(SIGUSR1);
}

static void a_listener_that_is_jumped_out_of_does_not_end_listening(void)
{
    const struct hook_listener listener = {.enter = raising_listener};
    struct sigaction action = {.sa_handler = handler};

    CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
    hook_three(last, last, last, LISTENED);
    hooked_f = (one_function *)hook_lab_hook_with((void *)last, LISTENED, &listener, 1);
    handler_jumps = true;
    listener_raises = true;
    if (sigsetjmp(signal_jump, 1) == 0)
        (void)hooked_f(1);
    listener_raises = false;
    CHECK_TEXT(hook_lab_told(), "");
    CHECK_EQUAL(hooked_g(3), 6);
    CHECK_TEXT(hook_lab_told(), "+g-g");
    CHECK_EQUAL(hooked_f(3), 6);
    check_empty();
}

/* A handler on its own stack is interrupted while a listener runs that it is the reason for. */
static volatile int first_is_whole, second_count;

static void second_handler(int number)
{
    volatile unsigned char room[4096];

    (void)number;
    for (unsigned i = 0; i < sizeof(room); i++)
        room[i] = 0xee;
    second_count++;
}

static void raising_second(struct gait_invocation *invocation)
{
    (void)invocation;
    raise(SIGUSR2);
}

static void first_handler(int number)
{
    volatile unsigned char room[2048];

    (void)number;
    for (unsigned i = 0; i < sizeof(room); i++)
        room[i] = (unsigned char)i;
    first_is_whole = hooked_f(4) == 8;
    for (unsigned i = 0; i < sizeof(room); i++)
        first_is_whole &= room[i] == (unsigned char)i;
}

static void a_signal_during_a_listener_leaves_the_handler_that_called_it_alone(void)
{
    const struct hook_listener listener = {.enter = raising_second, .leave = raising_second};
    static unsigned char memory[COROUTINE_BYTES];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
    struct sigaction first = {.sa_handler = first_handler, .sa_flags = SA_ONSTACK};
    struct sigaction second = {.sa_handler = second_handler, .sa_flags = SA_ONSTACK};

    CHECK_EQUAL(sigaltstack(&stack, NULL), 0);
    CHECK_EQUAL(sigaction(SIGUSR1, &first, NULL), 0);
    CHECK_EQUAL(sigaction(SIGUSR2, &second, NULL), 0);
    hooked_f = (one_function *)hook_lab_hook_with((void *)last, LISTENED, &listener, 1);
    for (int i = 1; i < 20; i++) {
        first_is_whole = false;
        second_count = 0;
        raise(SIGUSR1);
        CHECK(first_is_whole);
        CHECK_EQUAL(second_count, 2);
    }
    stack.ss_flags = SS_DISABLE;
    CHECK_EQUAL(sigaltstack(&stack, NULL), 0);
    check_empty();
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

static volatile pid_t child;

static __attribute__((noinline)) int forks(int value)
{
    child = fork();
    return value;
}

static __attribute__((noinline)) int calls_forker(int value)
{
    return hooked_g(value) + 1;
}

/* In the child: nothing but what it says by its status. */
static int status_of_child(unsigned parts)
{
    const char *text = hook_lab_told();

    if (parts & HOOK_STUB_LISTEN && strcmp(text, "+f+g-g-f+h-h") != 0)
        return 1;
    return hook_thread_current() != NULL && hook_thread_current()->tid == (uint32_t)gettid() ? 42 : 2;
}

static void a_forked_child_returns_from_what_it_was_in(void)
{
    for (unsigned i = 0; i < WAYS; i++) {
        int status;

        hook_three(calls_forker, forks, last, ways[i]);
        CHECK_EQUAL(hooked_f(5), 6);
        CHECK_EQUAL(hooked_h(5), 10);
        if (child == 0)
            _exit(status_of_child(ways[i]));
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 42);
        CHECK_TEXT(told(ways[i]), "+f+g-g-f+h-h");
        check_empty();
    }
}

static void *fork_in_thread(void *unused)
{
    int status;

    (void)hooked_f(5);
    if (child == 0)
        _exit(hooked_h(21));
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 42);
    return unused;
}

static void a_thread_may_fork(void)
{
    for (unsigned i = 0; i < WAYS; i++) {
        pthread_t thread;

        hook_three(calls_forker, forks, last, ways[i]);
        CHECK_EQUAL(pthread_create(&thread, NULL, fork_in_thread, NULL), 0);
        CHECK_EQUAL(pthread_join(thread, NULL), 0);
        CHECK_TEXT(told(ways[i]), "+f+g-g-f");
    }
}

static __attribute__((noinline)) int vforks(int value)
{
    int status;

    child = vfork();
    if (child == 0)
        _exit(hooked_h(value) == 2 * value ? 42 : 1);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 42);
    return value;
}

static void a_vforked_child_may_call_hooked_functions(void)
{
    for (unsigned i = 0; i < WAYS; i++) {
        hook_three(calls_forker, vforks, last, ways[i]);
        CHECK_EQUAL(hooked_f(5), 6);
        CHECK_TEXT(told(ways[i]), "+f+g+h-h-g-f");
        check_empty();
    }
}

#endif

static const struct check_case cases[] = {
#if defined(__x86_64__)
    CHECK_CASE(a_long_jump_past_hooked_functions_unwinds_them),
    CHECK_CASE(long_jumps_in_a_loop_take_no_memory),
    CHECK_CASE(functions_that_jump_to_others_return_with_them),
    CHECK_CASE(functions_may_jump_to_each_other_forever),
    CHECK_CASE(jumps_and_unseen_returns_are_told_quickly),
    CHECK_CASE(listeners_see_original_return_addresses),
    CHECK_CASE(coroutines_return_to_where_they_were_called),
    CHECK_CASE(a_coroutine_may_go_on_on_another_thread),
    CHECK_CASE(stacks_may_be_copied_away_and_back),
    CHECK_CASE(handlers_run_on_any_stack),
    CHECK_CASE(a_listener_that_is_jumped_out_of_does_not_end_listening),
    CHECK_CASE(a_signal_during_a_listener_leaves_the_handler_that_called_it_alone),
    CHECK_CASE(a_forked_child_returns_from_what_it_was_in),
    CHECK_CASE(a_thread_may_fork),
    CHECK_CASE(a_vforked_child_may_call_hooked_functions),
    CHECK_CASE(recursion_may_be_deep),
#endif
};

int main(void)
{
#if defined(__x86_64__)
    hook_lab_begin();
#endif
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
