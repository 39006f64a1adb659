/* SPDX-License-Identifier: MIT */
/*
 * Hooks as a program uses them: who is told of what, in which order, what listeners can see and change, and what is
 * refused.
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "gait/hook.h"

#include "gait/stalker.h"
#include "support/check.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Compilers know much of functions that they see. */
#if defined(__clang__)
#define NOINLINE __attribute__((noinline, optnone))
#else
#define NOINLINE __attribute__((noinline, noipa))
#endif

static struct gait_hooks *hooks;
static struct gait_error error;

static int executable_mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    char line[1024];
    int count = 0;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        count += strstr(line, " rwxp ") != NULL;
    fclose(file);
    return count;
}

static void begin(void)
{
    CHECK_EQUAL(gait_hooks_acquire(NULL, &hooks, &error), 0);
}

static void end(void)
{
    CHECK_EQUAL(gait_hooks_release(hooks, &error), 0);
}

/* ---- functions to be hooked ---------------------------------------------------------------------------------------
 */

static NOINLINE long add(long first, long second)
{
    __asm__ volatile("");
    return first + second;
}

static NOINLINE long add_more(long a, long b, long c, long d, long e, long f, long g, long h)
{
    __asm__ volatile("");
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

static long factorial(long number);
static long (*volatile again)(long number) = factorial; /* or the compiler makes a loop of it */

static NOINLINE long factorial(long number)
{
    __asm__ volatile("");
    return number <= 1 ? 1 : number * again(number - 1);
}

static NOINLINE double halve(double number)
{
    __asm__ volatile("");
    return number / 2;
}

static NOINLINE int fail_with(int number)
{
    errno = number;
    return -1;
}

/* ---- listeners -----------------------------------------------------------------------------------------------------
 */

struct log {
    int entered;
    int left;
    char order[64];
    size_t order_length;
    struct gait_invocation last; /* cpu and call_data are gone */
    uint64_t arguments[8];
    uint64_t result;
    uint32_t deepest;
};

static struct log logs[4];

static void note_order(char letter)
{
    if (logs[0].order_length + 1 < sizeof(logs[0].order))
        logs[0].order[logs[0].order_length++] = letter;
}

static void log_enter(struct gait_invocation *invocation)
{
    struct log *log = invocation->data;

    log->entered++;
    log->last = *invocation;
    if (invocation->depth > log->deepest)
        log->deepest = invocation->depth;
    for (unsigned i = 0; i < 8; i++)
        log->arguments[i] = gait_invocation_argument(invocation, i);
    note_order((char)('a' + (log - logs)));
    if (invocation->call_data != NULL)
        *(int *)invocation->call_data = log->entered;
}

static void log_leave(struct gait_invocation *invocation)
{
    struct log *log = invocation->data;

    log->left++;
    log->last = *invocation;
    log->result = gait_invocation_return_value(invocation);
    note_order((char)('A' + (log - logs)));
}

static struct gait_listener listener_for(unsigned number)
{
    memset(&logs[number], 0, sizeof(logs[number]));
    return (struct gait_listener){
        .size_bytes = sizeof(struct gait_listener), .enter = log_enter, .leave = log_leave, .data = &logs[number]};
}

static struct gait_hook *attach(void *function, unsigned number)
{
    struct gait_listener listener = listener_for(number);
    struct gait_hook *hook = NULL;
    int result = gait_hook_attach(hooks, (uintptr_t)function, &listener, &hook, &error);

    if (result != 0)
        printf("%s\n", error.text);
    CHECK_EQUAL(result, 0);
    return hook;
}

static void detach(struct gait_hook *hook)
{
    CHECK_EQUAL(gait_hook_detach(hooks, hook, &error), 0);
}

/* ---- being told ---------------------------------------------------------------------------------------------------
 */

static void a_listener_is_told_of_calls_and_returns(void)
{
    struct gait_hook *hook;

    begin();
    hook = attach(add, 0);
    CHECK_EQUAL(gait_hook_method_of(hooks, (uintptr_t)add), GAIT_HOOK_JUMP);
    CHECK_EQUAL(add(2, 3), 5);
    CHECK_EQUAL(logs[0].entered, 1);
    CHECK_EQUAL(logs[0].left, 1);
    CHECK_EQUAL(logs[0].arguments[0], 2);
    CHECK_EQUAL(logs[0].arguments[1], 3);
    CHECK_EQUAL(logs[0].result, 5);
    CHECK_EQUAL(logs[0].last.function, (uintptr_t)add);
    CHECK_EQUAL(logs[0].last.thread_id, syscall(SYS_gettid));
    detach(hook);
    CHECK_EQUAL(gait_hook_method_of(hooks, (uintptr_t)add), GAIT_HOOK_NONE);
    CHECK_EQUAL(add(2, 3), 5);
    CHECK_EQUAL(logs[0].entered, 1);
    end();
}

static void the_code_and_the_memory_are_what_they_were_afterwards(void)
{
    uint8_t before[32], after[32];
    int mappings = executable_mappings();
    struct gait_hook *hook;

    begin();
    memcpy(before, (void *)add, sizeof(before));
    hook = attach(add, 0);
    memcpy(after, (void *)add, sizeof(after));
    CHECK(memcmp(before, after, sizeof(before)) != 0);
    detach(hook);
    memcpy(after, (void *)add, sizeof(after));
    CHECK(memcmp(before, after, sizeof(before)) == 0);
    end();
    CHECK_EQUAL(executable_mappings(), mappings);
}

static void several_listeners_are_told_in_their_order(void)
{
    struct gait_hook *attached[4];

    begin();
    for (unsigned i = 0; i < 4; i++)
        attached[i] = attach(add, i);
    CHECK_EQUAL(add(1, 1), 2);
    CHECK_EQUAL(logs[0].order_length, 8);
    CHECK(memcmp(logs[0].order, "abcd", 4) == 0);
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQUAL(logs[i].left, 1);
    detach(attached[1]);
    detach(attached[0]);
    CHECK_EQUAL(add(1, 1), 2);
    CHECK_EQUAL(logs[0].entered, 1);
    CHECK_EQUAL(logs[1].entered, 1);
    CHECK_EQUAL(logs[2].entered, 2);
    CHECK_EQUAL(logs[3].left, 2);
    detach(attached[3]);
    detach(attached[2]);
    CHECK_EQUAL(gait_hook_method_of(hooks, (uintptr_t)add), GAIT_HOOK_NONE);
    end();
}

static void recursion_is_told_with_its_depth(void)
{
    struct gait_hook *hook;

    begin();
    hook = attach(factorial, 0);
    CHECK_EQUAL(factorial(5), 120);
    CHECK_EQUAL(logs[0].entered, 5);
    CHECK_EQUAL(logs[0].left, 5);
    CHECK_EQUAL(logs[0].deepest, 4);
    detach(hook);
    end();
}

static void double_first_argument(struct gait_invocation *invocation)
{
    gait_invocation_argument_set(invocation, 0, 2 * gait_invocation_argument(invocation, 0));
}

static void negate_result(struct gait_invocation *invocation)
{
    gait_invocation_return_value_set(invocation, -gait_invocation_return_value(invocation));
}

static void arguments_and_results_can_be_changed(void)
{
    struct gait_listener listener = {
        .size_bytes = sizeof(listener), .enter = double_first_argument, .leave = negate_result};
    struct gait_hook *hook;

    begin();
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)add, &listener, &hook, &error), 0);
    CHECK_EQUAL(add(10, 1), -21);
    detach(hook);
    CHECK_EQUAL(add(10, 1), 11);
    end();
}

static void arguments_on_the_stack_are_found(void)
{
    struct gait_hook *hook;

    begin();
    hook = attach(add_more, 0);
    CHECK_EQUAL(add_more(1, 2, 3, 4, 5, 6, 7, 8), 204);
    for (unsigned i = 0; i < 8; i++)
        CHECK_EQUAL(logs[0].arguments[i], i + 1);
    detach(hook);
    end();
}

static void spoil_vectors(struct gait_invocation *invocation)
{
    volatile double spoiled = (double)invocation->depth + 1.5;

    spoiled = spoiled * 3.25;
    __asm__ volatile("pcmpeqd %%xmm0, %%xmm0; movdqa %%xmm0, %%xmm1; movdqa %%xmm0, %%xmm15" ::
                         : "xmm0", "xmm1", "xmm15");
}

static void vector_registers_are_what_they_were(void)
{
    struct gait_listener listener = {.size_bytes = sizeof(listener), .enter = spoil_vectors, .leave = spoil_vectors};
    struct gait_hook *hook;

    begin();
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)halve, &listener, &hook, &error), 0);
    CHECK(halve(5.0) == 2.5);
    detach(hook);
    end();
}

static int seen_errno;

static void see_errno(struct gait_invocation *invocation)
{
    seen_errno = invocation->error_number;
    errno = ENOTDIR; /* a listener's own calls must not show */
    invocation->error_number = seen_errno == EAGAIN ? EINTR : seen_errno;
}

static void errno_is_seen_changed_and_kept(void)
{
    struct gait_listener listener = {.size_bytes = sizeof(listener), .leave = see_errno};
    struct gait_hook *hook;

    begin();
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)fail_with, &listener, &hook, &error), 0);
    CHECK_EQUAL(fail_with(EBADF), -1);
    CHECK_EQUAL(errno, EBADF);
    CHECK_EQUAL(seen_errno, EBADF);
    fail_with(EAGAIN);
    CHECK_EQUAL(errno, EINTR);
    detach(hook);
    end();
}

static void check_call_data(struct gait_invocation *invocation)
{
    const struct log *log = invocation->data;

    CHECK(invocation->call_data != NULL);
    CHECK(*(int *)invocation->call_data > 0 && *(int *)invocation->call_data <= log->entered);
    logs[1].left += *(int *)invocation->call_data;
}

static void data_of_a_call_is_kept_from_enter_to_leave(void)
{
    struct gait_listener listener = listener_for(0);
    struct gait_hook *hook;

    memset(&logs[1], 0, sizeof(logs[1]));
    listener.leave = check_call_data;
    begin();
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)factorial, &listener, &hook, &error), 0);
    CHECK_EQUAL(factorial(4), 24);
    CHECK_EQUAL(logs[1].left, 1 + 2 + 3 + 4);
    detach(hook);
    end();
}

/* ---- functions of all kinds ---------------------------------------------------------------------------------------
 */

__asm__("        .text\n"
        "        .p2align 4\n"
        "        .type   only_return, @function\n"
        "only_return:\n"
        "        ret\n"
        "        .size   only_return, . - only_return\n"
        "        .p2align 4\n"
        "        .type   repeated_return, @function\n"
        "repeated_return:\n"
        "        rep ret\n"
        "        .size   repeated_return, . - repeated_return\n"
        "        .p2align 4\n"
        "        .type   marked_one, @function\n"
        "marked_one:\n"
        "        endbr64\n"
        "        movl    $1, %eax\n"
        "        ret\n"
        "        .size   marked_one, . - marked_one\n"
        "        .type   crowded_first, @function\n"
        "crowded_first:\n" /* nothing but functions, for more than a short jump reaches */
        "        .rept   200\n"
        "        ret\n"
        "        .endr\n"
        "        .size   crowded_first, 1\n"
        "        .type   crowded_middle, @function\n"
        "        .set    crowded_middle, crowded_first + 100\n"
        "        .size   crowded_middle, 1\n"
        "        .p2align 4\n"
        "        .type   early_call, @function\n"
        "early_call:\n"
        "        call    marked_one\n"
        "        addl    $1, %eax\n"
        "        ret\n"
        "        .size   early_call, . - early_call\n"
        "        .p2align 4\n"
        "        .type   early_indirect_call, @function\n"
        "early_indirect_call:\n"
        "        call    *pointer_to_marked_one(%rip)\n"
        "        addl    $2, %eax\n"
        "        ret\n"
        "        .size   early_indirect_call, . - early_indirect_call\n"
        "        .p2align 4\n"
        "        .type   near_proxy, @function\n"
        "near_proxy:\n"
        "        jmp     marked_one\n"
        "        .size   near_proxy, . - near_proxy\n"
        "        .p2align 4\n"
        "        .type   indirect_proxy, @function\n"
        "indirect_proxy:\n"
        "        jmp     *pointer_to_near_proxy(%rip)\n"
        "        .size   indirect_proxy, . - indirect_proxy\n"
        "        .p2align 4\n"
        "        .type   early_branch, @function\n"
        "early_branch:\n"
        "        testl   %edi, %edi\n"
        "        jz      1f\n"
        "        movl    $7, %eax\n"
        "        ret\n"
        "1:      movl    $8, %eax\n"
        "        ret\n"
        "        .size   early_branch, . - early_branch\n"
        "        .p2align 4\n"
        "        .type   early_loop, @function\n"
        "early_loop:\n" /* goes back into its first bytes */
        "        xorl    %eax, %eax\n"
        "1:      addl    %edi, %eax\n"
        "        decl    %edi\n"
        "        jnz     1b\n"
        "        ret\n"
        "        .size   early_loop, . - early_loop\n"
        "        .data\n"
        "        .p2align 3\n"
        "pointer_to_marked_one: .quad marked_one\n"
        "pointer_to_near_proxy: .quad near_proxy\n"
        "        .text\n");

int only_return(void), repeated_return(void), marked_one(int), crowded_middle(void), early_call(int);
int early_indirect_call(int), near_proxy(int), indirect_proxy(int), early_branch(int), early_loop(int);

static void hook_and_call(int (*function)(int), int argument, int expected)
{
    struct gait_hook *hook;

    hook = attach((void *)function, 0);
    CHECK_EQUAL(function(argument), expected);
    CHECK_EQUAL(function(argument), expected);
    CHECK_EQUAL(logs[0].entered, 2);
    CHECK_EQUAL(logs[0].left, 2);
    detach(hook);
    CHECK_EQUAL(function(argument), expected);
    CHECK_EQUAL(logs[0].entered, 2);
}

static void functions_of_any_shape_are_hooked(void)
{
    begin();
    hook_and_call(marked_one, 0, 1);
    hook_and_call(early_call, 0, 2);
    hook_and_call(early_indirect_call, 0, 3);
    hook_and_call(near_proxy, 0, 1);
    hook_and_call(indirect_proxy, 0, 1);
    hook_and_call(early_branch, 0, 8);
    hook_and_call(early_branch, 1, 7);
    hook_and_call(early_loop, 4, 10);
    end();
}

static void a_function_behind_two_proxies_is_told_once_for_each_that_is_hooked(void)
{
    struct gait_hook *attached[3];

    begin();
    attached[0] = attach((void *)indirect_proxy, 0);
    attached[1] = attach((void *)near_proxy, 1);
    attached[2] = attach((void *)marked_one, 2);
    CHECK_EQUAL(indirect_proxy(0), 1);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQUAL(logs[i].entered, 1);
        CHECK_EQUAL(logs[i].left, 1);
    }
    CHECK_EQUAL(marked_one(0), 1);
    CHECK_EQUAL(logs[0].entered, 1);
    CHECK_EQUAL(logs[2].left, 2);
    for (unsigned i = 0; i < 3; i++)
        detach(attached[i]);
    end();
}

static void hook_short(int (*function)(void), bool may_be_trap)
{
    struct gait_hook *hook = attach((void *)function, 0);
    enum gait_hook_method method = gait_hook_method_of(hooks, (uintptr_t)function);

    CHECK(method != GAIT_HOOK_NONE && (may_be_trap || method != GAIT_HOOK_TRAP));
    for (int i = 0; i < 3; i++)
        (void)function();
    CHECK_EQUAL(logs[0].entered, 3);
    CHECK_EQUAL(logs[0].left, 3);
    detach(hook);
    (void)function();
    CHECK_EQUAL(logs[0].entered, 3);
}

static void the_shortest_functions_are_hooked(void)
{
    begin();
    hook_short(only_return, false);
    hook_short(repeated_return, false);
    end();
}

static void what_has_room_for_nothing_gets_a_trap(void)
{
    struct gait_listener listener = listener_for(0);

    begin();
    listener.without_traps = true;
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)crowded_middle, &listener, NULL, &error), -EOPNOTSUPP);
    hook_short(crowded_middle, true);
    hook_short(crowded_middle, true);
    end();
}

static void the_landing_mark_survives(void)
{
    struct gait_hook *hook;

    begin();
    hook = attach((void *)marked_one, 0);
    CHECK(memcmp((void *)marked_one, "\xf3\x0f\x1e\xfa\xe9", 5) == 0);
    CHECK_EQUAL(marked_one(0), 1);
    detach(hook);
    end();
}

/* All registers and flags, before and behind a call of a function that changes none. */
struct machine {
    uint64_t registers[16]; /* as instructions number them */
    uint64_t flags;
};

__asm__("        .text\n"
        "call_with_machine:\n" /* rdi: function, rsi: before, rdx: after */
        "        pushq   %rbx\n        pushq   %rbp\n        pushq   %r12\n        pushq   %r13\n"
        "        pushq   %r14\n        pushq   %r15\n"
        "        pushq   %rdx\n        pushq   %rdi\n        subq $8, %rsp\n"
        "        pushq   128(%rsi)\n        popfq\n"
        "        movq    0(%rsi), %rax\n        movq    8(%rsi), %rcx\n        movq    16(%rsi), %rdx\n"
        "        movq    24(%rsi), %rbx\n        movq    40(%rsi), %rbp\n        movq    56(%rsi), %rdi\n"
        "        movq    64(%rsi), %r8\n        movq    72(%rsi), %r9\n        movq    80(%rsi), %r10\n"
        "        movq    88(%rsi), %r11\n        movq    96(%rsi), %r12\n        movq    104(%rsi), %r13\n"
        "        movq    112(%rsi), %r14\n        movq    120(%rsi), %r15\n        movq    48(%rsi), %rsi\n"
        "        call    *8(%rsp)\n"
        "        movq    %rsi, (%rsp)\n        movq    16(%rsp), %rsi\n"
        "        pushfq\n        popq    128(%rsi)\n"
        "        movq    %rax, 0(%rsi)\n        movq    %rcx, 8(%rsi)\n        movq    %rdx, 16(%rsi)\n"
        "        movq    %rbx, 24(%rsi)\n        movq    %rbp, 40(%rsi)\n        movq    %rdi, 56(%rsi)\n"
        "        movq    %r8, 64(%rsi)\n        movq    %r9, 72(%rsi)\n        movq    %r10, 80(%rsi)\n"
        "        movq    %r11, 88(%rsi)\n        movq    %r12, 96(%rsi)\n        movq    %r13, 104(%rsi)\n"
        "        movq    %r14, 112(%rsi)\n        movq    %r15, 120(%rsi)\n"
        "        movq    (%rsp), %rax\n        movq    %rax, 48(%rsi)\n"
        "        addq    $24, %rsp\n        cld\n"
        "        popq    %r15\n        popq    %r14\n        popq    %r13\n        popq    %r12\n"
        "        popq    %rbp\n        popq    %rbx\n        ret\n");

void call_with_machine(int (*function)(void), const struct machine *before, struct machine *after);

static void registers_and_flags_are_what_they_were(void)
{
    static const uint64_t flags[] = {0x202,        0x202 | 0x8d5, 0x202 | 0x400 | 0x1,
                                     0x202 | 0x40, 0x202 | 0x10,  0x202 | 0x880};
    struct gait_hook *hook;

    begin();
    hook = attach((void *)only_return, 0);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        struct machine before, after = {0};

        for (unsigned number = 0; number < 16; number++)
            before.registers[number] = 0x1111111111111111u * (number + 1) + i;
        before.flags = flags[i];
        call_with_machine(only_return, &before, &after);
        after.registers[4] = before.registers[4];
        CHECK(memcmp(before.registers, after.registers, sizeof(before.registers)) == 0);
        CHECK_EQUAL(after.flags, before.flags);
    }
    CHECK_EQUAL(logs[0].entered, sizeof(flags) / sizeof(flags[0]));
    detach(hook);
    end();
}

/* ---- libc ---------------------------------------------------------------------------------------------------------
 */

static atomic_long calls;

static void count_call(struct gait_invocation *invocation)
{
    (void)invocation;
    atomic_fetch_add(&calls, 1);
}

static void allocate_in_listener(struct gait_invocation *invocation)
{
    void *memory = malloc(100);

    (void)invocation;
    atomic_fetch_add(&calls, 1);
    free(memory);
}

static void *exit_with_memory(void *context)
{
    free(malloc(10));
    return context;
}

static void the_heap_can_be_listened_to_also_by_who_uses_it(void)
{
    struct gait_listener listener = {
        .size_bytes = sizeof(listener), .enter = allocate_in_listener, .leave = allocate_in_listener};
    void *volatile memory;
    pthread_t thread;

    begin();
    atomic_store(&calls, 0);
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)malloc, &listener, NULL, &error), 0);
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)free, &listener, NULL, &error), 0);
    memory = malloc(20);
    free(memory);
    CHECK_EQUAL(atomic_load(&calls), 4);
    CHECK_EQUAL(pthread_create(&thread, NULL, exit_with_memory, NULL), 0);
    pthread_join(thread, NULL);
    CHECK(atomic_load(&calls) >= 8);
    CHECK_EQUAL(gait_hook_unhook(hooks, (uintptr_t)malloc, &error), 0);
    CHECK_EQUAL(gait_hook_unhook(hooks, (uintptr_t)free, &error), 0);
    end();
}

static void functions_that_threads_begin_and_end_with_can_be_hooked(void)
{
    static const char *const names[] = {"pthread_key_create", "pthread_create",     "pthread_exit",
                                        "pthread_self",       "pthread_mutex_lock", "pthread_mutex_unlock"};
    struct gait_listener listener = {.size_bytes = sizeof(listener), .enter = count_call};
    pthread_key_t key;
    pthread_t thread;

    begin();
    atomic_store(&calls, 0);
    CHECK_EQUAL(gait_hooks_begin(hooks, &error), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)dlsym(RTLD_DEFAULT, names[i]), &listener, NULL, &error), 0);
    CHECK_EQUAL(gait_hooks_commit(hooks, &error), 0);
    CHECK_EQUAL(pthread_key_create(&key, free), 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, exit_with_memory, NULL), 0);
    pthread_join(thread, NULL);
    CHECK(atomic_load(&calls) >= 2);
    pthread_key_delete(key);
    end();
}

/* ---- who is ignored -----------------------------------------------------------------------------------------------
 */

static void *add_in_thread(void *context)
{
    add(1, 2);
    return context;
}

static void call_in_thread(void)
{
    pthread_t thread;

    CHECK_EQUAL(pthread_create(&thread, NULL, add_in_thread, NULL), 0);
    pthread_join(thread, NULL);
}

static void a_thread_can_be_ignored(void)
{
    struct gait_hook *hook;

    begin();
    hook = attach(add, 0);
    gait_hooks_ignore_me(hooks);
    gait_hooks_ignore_me(hooks);
    add(1, 2);
    gait_hooks_listen_to_me(hooks);
    add(1, 2);
    CHECK_EQUAL(logs[0].entered, 0);
    call_in_thread();
    CHECK_EQUAL(logs[0].entered, 1);
    gait_hooks_listen_to_me(hooks);
    add(1, 2);
    CHECK_EQUAL(logs[0].entered, 2);
    CHECK_EQUAL(gait_hooks_ignore_others(hooks, &error), 0);
    call_in_thread();
    add(1, 2);
    CHECK_EQUAL(logs[0].entered, 3);
    gait_hooks_listen_to_others(hooks);
    call_in_thread();
    CHECK_EQUAL(logs[0].entered, 4);
    detach(hook);
    end();
}

static void call_factorial(struct gait_invocation *invocation)
{
    (void)invocation;
    CHECK_EQUAL(factorial(3), 6);
}

static void what_a_listener_calls_is_not_told(void)
{
    struct gait_listener listener = {.size_bytes = sizeof(listener), .enter = call_factorial, .leave = call_factorial};
    struct gait_hook *hook, *inner;

    begin();
    inner = attach(factorial, 1);
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)add, &listener, &hook, &error), 0);
    CHECK_EQUAL(add(1, 1), 2);
    CHECK_EQUAL(logs[1].entered, 0);
    detach(hook);
    detach(inner);
    end();
}

/* ---- detaching in the middle --------------------------------------------------------------------------------------
 */

static struct gait_hook *own_hook;

static void detach_oneself(struct gait_invocation *invocation)
{
    atomic_fetch_add(&calls, 1);
    CHECK_EQUAL(gait_hook_detach(hooks, own_hook, &error), 0);
    (void)invocation;
}

static void a_listener_can_detach_itself(void)
{
    struct gait_listener listener = {.size_bytes = sizeof(listener), .enter = detach_oneself, .leave = count_call};

    begin();
    atomic_store(&calls, 0);
    for (int i = 0; i < 20; i++) {
        CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)add, &listener, &own_hook, &error), 0);
        CHECK_EQUAL(add(20, 22), 42);
        CHECK_EQUAL(add(20, 22), 42);
    }
    CHECK_EQUAL(atomic_load(&calls), 20);
    end();
}

static atomic_int waiting, may_return;

static NOINLINE int wait_long(int number)
{
    atomic_fetch_add(&waiting, 1);
    while (!atomic_load(&may_return))
        usleep(200);
    return number + 1;
}

static void *wait_in_thread(void *context)
{
    return (void *)(intptr_t)wait_long((int)(intptr_t)context);
}

static void unhooking_during_a_call_leaves_the_call_alone(void)
{
    struct gait_hooks_statistics before = {.size_bytes = sizeof(before)}, statistics = before;
    pthread_t thread;
    void *result;

    begin();
    CHECK_EQUAL(gait_hooks_collect(hooks, &before, &error), 0);
    atomic_store(&waiting, 0);
    atomic_store(&may_return, 0);
    detach(attach(add, 1));
    (void)attach(wait_long, 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, wait_in_thread, (void *)41), 0);
    while (atomic_load(&waiting) == 0)
        usleep(200);
    CHECK_EQUAL(gait_hook_unhook(hooks, (uintptr_t)wait_long, &error), 0);
    CHECK_EQUAL(gait_hooks_collect(hooks, &statistics, &error), 0);
    CHECK(statistics.retired >= 1);
    CHECK(statistics.chunks >= 1);
    atomic_store(&may_return, 1);
    pthread_join(thread, &result);
    CHECK_EQUAL((intptr_t)result, 42);
    CHECK_EQUAL(logs[0].entered, 1);
    CHECK_EQUAL(logs[0].left, 0);
    CHECK_EQUAL(gait_hooks_collect(hooks, &statistics, &error), 0);
    CHECK_EQUAL(gait_hooks_collect(hooks, &statistics, &error), 0);
    CHECK_EQUAL(statistics.hooked, before.hooked);
    CHECK_EQUAL(statistics.retired, 0);
    end();
}

static void everything_can_be_released_during_a_call_that_returns_much_later(void)
{
    pthread_t thread;
    void *result;

    begin();
    atomic_store(&waiting, 0);
    atomic_store(&may_return, 0);
    (void)attach(wait_long, 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, wait_in_thread, (void *)6), 0);
    while (atomic_load(&waiting) == 0)
        usleep(200);
    end();
    atomic_store(&may_return, 1);
    pthread_join(thread, &result);
    CHECK_EQUAL((intptr_t)result, 7);
}

static void *add_forever(void *context)
{
    long wrong = 0;

    while (!atomic_load((atomic_bool *)context))
        wrong += add(1, 2) != 3 || factorial(5) != 120;
    return (void *)wrong;
}

static void attaching_and_detaching_while_threads_call_does_no_harm(void)
{
    atomic_bool ended = false;
    pthread_t threads[8];

    begin();
    for (int i = 0; i < 8; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, add_forever, &ended), 0);
    for (int i = 0; i < 150; i++) {
        struct gait_hook *first = attach(add, 0), *second = attach(factorial, 1);

        if (i % 3 == 0)
            usleep(100);
        detach(first);
        detach(second);
        if (i % 10 == 0)
            CHECK_EQUAL(gait_hooks_collect(hooks, NULL, &error), 0);
    }
    atomic_store(&ended, true);
    for (int i = 0; i < 8; i++) {
        void *wrong;

        pthread_join(threads[i], &wrong);
        CHECK_EQUAL((intptr_t)wrong, 0);
    }
    end();
}

/* ---- replacing ----------------------------------------------------------------------------------------------------
 */

static long (*original_add)(long first, long second);

static NOINLINE long multiply(long first, long second)
{
    return first * second;
}

static NOINLINE long add_and_double(long first, long second)
{
    return 2 * original_add(first, second);
}

static NOINLINE long call_itself(long first, long second)
{
    return add(first, second) + 1000;
}

static int replace(void *function, void *replacement, void *original)
{
    return gait_hook_replace(hooks, (uintptr_t)function, (uintptr_t)replacement, (void **)original, &error);
}

static int replace_in_place(void *function, void *replacement, void *original)
{
    return gait_hook_replace_in_place(hooks, (uintptr_t)function, (uintptr_t)replacement, (void **)original, &error);
}

static void revert(void *function)
{
    CHECK_EQUAL(gait_hook_revert(hooks, (uintptr_t)function, &error), 0);
}

static void a_function_can_be_replaced_and_its_original_called(void)
{
    begin();
    CHECK_EQUAL(replace(add, multiply, NULL), 0);
    CHECK_EQUAL(add(6, 7), 42);
    CHECK_EQUAL(replace(add, multiply, NULL), -EEXIST);
    revert(add);
    CHECK_EQUAL(add(6, 7), 13);
    CHECK_EQUAL(gait_hook_revert(hooks, (uintptr_t)add, &error), -ENOENT);
    CHECK_EQUAL(replace(add, add_and_double, &original_add), 0);
    CHECK_EQUAL(add(6, 7), 26);
    revert(add);
    CHECK_EQUAL(original_add(6, 7), 13);
    CHECK_EQUAL(add(6, 7), 13);
    end();
}

static void a_replacement_that_calls_the_function_gets_the_original(void)
{
    begin();
    CHECK_EQUAL(replace(add, call_itself, NULL), 0);
    CHECK_EQUAL(add(1, 2), 1003);
    CHECK_EQUAL(add(1, 2), 1003);
    revert(add);
    end();
}

static void a_function_can_be_replaced_and_listened_to(void)
{
    struct gait_hook *hook;

    begin();
    CHECK_EQUAL(replace(add, add_and_double, &original_add), 0);
    hook = attach(add, 0);
    CHECK_EQUAL(add(3, 4), 14);
    CHECK_EQUAL(logs[0].entered, 1);
    CHECK_EQUAL(logs[0].result, 14);
    revert(add);
    CHECK_EQUAL(add(3, 4), 7);
    CHECK_EQUAL(logs[0].entered, 2);
    CHECK_EQUAL(replace(add, multiply, NULL), 0);
    CHECK_EQUAL(add(3, 4), 12);
    CHECK_EQUAL(logs[0].left, 3);
    detach(hook);
    CHECK_EQUAL(add(3, 4), 12);
    CHECK_EQUAL(logs[0].left, 3);
    revert(add);
    end();
}

static void a_replacement_in_place_has_nothing_in_between(void)
{
    struct gait_listener listener = listener_for(0);
    struct gait_hook *hook;

    begin();
    CHECK_EQUAL(replace_in_place(add, add_and_double, &original_add), 0);
    CHECK_EQUAL(add(3, 4), 14);
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)add, &listener, NULL, &error), -EBUSY);
    CHECK_EQUAL(replace(add, multiply, NULL), -EEXIST);
    CHECK_EQUAL(replace_in_place(add, multiply, NULL), -EEXIST);
    revert(add);
    CHECK_EQUAL(add(3, 4), 7);
    hook = attach(add, 0);
    CHECK_EQUAL(replace_in_place(add, multiply, NULL), -EBUSY);
    CHECK_EQUAL(add(3, 4), 7);
    CHECK_EQUAL(logs[0].entered, 1);
    detach(hook);
    CHECK_EQUAL(replace(add, multiply, NULL), 0);
    CHECK_EQUAL(replace_in_place(add, multiply, NULL), -EEXIST);
    revert(add);
    end();
}

static void a_replacement_in_place_may_be_far_away(void)
{
    /* mov eax, 77; ret */
    static const uint8_t code[] = {0xb8, 77, 0, 0, 0, 0xc3};
    void *far =
        mmap((void *)0x10000000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memcpy(far, code, sizeof(code));
    begin();
    CHECK_EQUAL(replace_in_place(add, far, NULL), 0);
    CHECK_EQUAL(add(1, 2), 77);
    revert(add);
    CHECK_EQUAL(replace(add, far, NULL), 0);
    CHECK_EQUAL(add(1, 2), 77);
    revert(add);
    CHECK_EQUAL(add(1, 2), 3);
    end();
    munmap(far, 4096);
}

static void a_replacement_is_a_function_like_others(void)
{
    struct gait_hook *hook;

    begin();
    CHECK_EQUAL(replace(add, multiply, NULL), 0);
    hook = attach(multiply, 0);
    CHECK_EQUAL(add(6, 7), 42);
    CHECK_EQUAL(logs[0].entered, 1);
    CHECK_EQUAL(replace(multiply, add_and_double, &original_add), 0);
    CHECK_EQUAL(add(6, 7), 84);
    revert(multiply);
    revert(add);
    detach(hook);
    end();
}

/* ---- probes -------------------------------------------------------------------------------------------------------
 */

__asm__("        .text\n"
        "        .p2align 4\n"
        "        .type   steps, @function\n"
        "steps:\n"
        "        movq    $1, %rax\n"
        "        movq    %rdi, -8(%rsp)\n" /* in the red zone */
        "steps_middle:\n"
        "        addq    $10, %rax\n"
        "        addq    -8(%rsp), %rax\n"
        "        leaq    100(%rax), %rax\n"
        "        ret\n"
        "        .size   steps, . - steps\n");

long steps(long number);
extern const char steps_middle[];

static void add_to_rax(struct gait_invocation *invocation)
{
    CHECK_EQUAL(invocation->point, GAIT_INVOCATION_PROBE);
    CHECK_EQUAL(invocation->cpu->pc, (uintptr_t)steps_middle);
    CHECK_EQUAL(invocation->cpu->rax, 1);
    atomic_fetch_add(&calls, 1);
    invocation->cpu->rax += 5000;
}

static void an_instruction_in_the_middle_can_be_probed(void)
{
    struct gait_listener listener = {.size_bytes = sizeof(listener), .enter = add_to_rax};
    struct gait_hook *hook;

    begin();
    atomic_store(&calls, 0);
    CHECK_EQUAL(gait_hook_probe(hooks, (uintptr_t)steps_middle, &listener, &hook, &error), 0);
    CHECK_EQUAL(steps(1000), 6111);
    CHECK_EQUAL(steps(1000), 6111);
    CHECK_EQUAL(atomic_load(&calls), 2);
    CHECK_EQUAL(gait_hook_probe(hooks, (uintptr_t)steps_middle + 1, &listener, NULL, &error), -EILSEQ);
    listener.leave = count_call;
    CHECK_EQUAL(gait_hook_probe(hooks, (uintptr_t)steps_middle, &listener, NULL, &error), -EINVAL);
    detach(hook);
    CHECK_EQUAL(steps(1000), 1111);
    end();
}

/* ---- transactions -------------------------------------------------------------------------------------------------
 */

static void nothing_happens_before_the_commit(void)
{
    struct gait_hook *hook;

    begin();
    CHECK_EQUAL(gait_hooks_begin(hooks, &error), 0);
    hook = attach(add, 0);
    CHECK_EQUAL(gait_hooks_begin(hooks, &error), 0);
    (void)attach(factorial, 1);
    CHECK_EQUAL(gait_hooks_commit(hooks, &error), 0);
    add(1, 2);
    CHECK_EQUAL(factorial(3), 6);
    CHECK_EQUAL(logs[0].entered + logs[1].entered, 0);
    CHECK_EQUAL(gait_hooks_commit(hooks, &error), 0);
    CHECK_EQUAL(gait_hooks_commit(hooks, &error), -EINVAL);
    add(1, 2);
    factorial(3);
    CHECK_EQUAL(logs[0].entered, 1);
    CHECK_EQUAL(logs[1].entered, 3);
    CHECK_EQUAL(gait_hooks_begin(hooks, &error), 0);
    detach(hook);
    (void)attach(add, 2);
    gait_hooks_abort(hooks);
    add(1, 2);
    CHECK_EQUAL(logs[0].entered, 2);
    CHECK_EQUAL(logs[2].entered, 0);
    CHECK_EQUAL(gait_hooks_begin(hooks, &error), 0);
    detach(hook);
    hook = attach(add, 3);
    CHECK_EQUAL(gait_hooks_commit(hooks, &error), 0);
    add(1, 2);
    CHECK_EQUAL(logs[0].entered, 2);
    CHECK_EQUAL(logs[3].left, 1);
    end();
}

static void a_failure_undoes_the_whole_transaction(void)
{
    /* mov eax, 77; ret */
    static const uint8_t code[] = {0xb8, 77, 0, 0, 0, 0xc3};
    uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct gait_listener listener = listener_for(1);
    int result;

    memcpy(page, code, sizeof(code));
    begin();
    CHECK_EQUAL(gait_hooks_begin(hooks, &error), 0);
    (void)attach(add, 0);
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)page, &listener, NULL, &error), 0);
    page[1] = 78;
    result = gait_hooks_commit(hooks, &error);
    CHECK_EQUAL(result, -ESTALE);
    CHECK_EQUAL(add(1, 2), 3);
    CHECK_EQUAL(logs[0].entered, 0);
    CHECK_EQUAL(gait_hook_method_of(hooks, (uintptr_t)add), GAIT_HOOK_NONE);
    CHECK_EQUAL(((int (*)(void))(void *)page)(), 78);
    (void)attach(add, 0);
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)page, &listener, NULL, &error), 0);
    CHECK_EQUAL(((int (*)(void))(void *)page)(), 78);
    CHECK_EQUAL(logs[1].entered, 1);
    CHECK_EQUAL(gait_hook_unhook(hooks, (uintptr_t)page, &error), 0);
    end();
    munmap(page, 4096);
}

/* ---- what is refused ----------------------------------------------------------------------------------------------
 */

static int attach_result(void *address)
{
    struct gait_listener listener = listener_for(0);

    return gait_hook_attach(hooks, (uintptr_t)address, &listener, NULL, &error);
}

static void what_cannot_be_hooked_is_refused(void)
{
    static int number;
    void *const unmapped = (void *)0x20000000000;
    int fd = memfd_create("shared", 0);
    void *shared;

    CHECK_EQUAL(ftruncate(fd, 4096), 0);
    shared = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    begin();
    CHECK_EQUAL(attach_result(&number), -EACCES);
    CHECK_EQUAL(attach_result(unmapped), -EFAULT);
    CHECK_EQUAL(attach_result(NULL), -EFAULT);
    CHECK_EQUAL(attach_result((void *)UINT64_C(0xffffffffff600000)), -EACCES);
    CHECK_EQUAL(attach_result(shared), -EACCES);
    CHECK_EQUAL(attach_result((uint8_t *)steps + 2), -EILSEQ);
    CHECK_EQUAL(replace(add, add, NULL), -EINVAL);
    CHECK_EQUAL(replace(add, NULL, NULL), -EINVAL);
    CHECK(strlen(error.text) > 10);
    CHECK_EQUAL(gait_hook_attach(NULL, (uintptr_t)add, NULL, NULL, NULL), -EINVAL);
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)add, NULL, NULL, &error), -EINVAL);
    end();
    munmap(shared, 4096);
    close(fd);
}

/* The core's own functions; by way of one that the internal headers declare. */
void hook_thread_ignore(void);

static void our_own_code_is_not_hooked(void)
{
    struct gait_hook *hook;

    begin();
    CHECK_EQUAL(attach_result((void *)hook_thread_ignore), -EPERM);
    /* What the program calls of us is as good as any function. */
    hook = attach((void *)gait_hook_method_of, 0);
    CHECK(gait_hook_method_of(hooks, (uintptr_t)gait_hook_method_of) != GAIT_HOOK_NONE);
    CHECK_EQUAL(logs[0].entered, 1);
    detach(hook);
    end();
}

static void overlapping_hooks_are_refused(void)
{
    struct gait_listener listener = {.size_bytes = sizeof(listener), .enter = count_call};
    struct gait_hook *hook;

    begin();
    hook = attach((void *)steps, 0);
    CHECK_EQUAL(gait_hook_probe(hooks, (uintptr_t)steps, &listener, NULL, &error), -EBUSY);
    detach(hook);
    CHECK_EQUAL(gait_hook_probe(hooks, (uintptr_t)steps, &listener, &hook, &error), 0);
    CHECK_EQUAL(attach_result((void *)steps), -EBUSY);
    CHECK_EQUAL(steps(0), 111);
    detach(hook);
    end();
}

static void hooks_of_an_unloaded_library_are_forgotten(void)
{
    static const uint8_t code[] = {0xb8, 77, 0, 0, 0, 0xc3};
    uint8_t *page;

    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof(code));
    begin();
    (void)attach(page, 0);
    CHECK_EQUAL(((int (*)(void))(void *)page)(), 77);
    munmap(page, 4096);
    CHECK_EQUAL(gait_hooks_forget(hooks, (uintptr_t)page, 4096), 1);
    CHECK_EQUAL(gait_hooks_forget(hooks, (uintptr_t)page, 4096), 0);
    CHECK_EQUAL(gait_hook_unhook(hooks, (uintptr_t)page, &error), -ENOENT);
    page = mmap(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    memcpy(page, code, sizeof(code));
    (void)attach(page, 0);
    (void)attach(add, 1);
    munmap(page, 4096);
    /* Nobody said so: all hooks can be taken away even so. */
    end();
    CHECK_EQUAL(add(1, 2), 3);
    CHECK_EQUAL(logs[1].entered, 0);
}

static void a_forked_child_changes_its_own_hooks_only(void)
{
    int status = -1;
    pid_t child;

    begin();
    (void)attach(add, 0);
    child = fork();
    if (child == 0) {
        bool is_right = add(1, 2) == 3 && logs[0].entered == 1;

        is_right = is_right && gait_hook_unhook(hooks, (uintptr_t)add, &error) == 0;
        is_right = is_right && add(1, 2) == 3 && logs[0].entered == 1;
        is_right = is_right && replace(factorial, multiply, NULL) == 0 && factorial(5) != 120;
        _exit(is_right ? 0 : 1);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(add(1, 2), 3);
    CHECK_EQUAL(logs[0].entered, 1);
    CHECK_EQUAL(factorial(5), 120);
    end();
}

/* ---- with the stalker ---------------------------------------------------------------------------------------------
 */

static void a_hooked_function_is_hooked_in_followed_threads(void)
{
    struct gait_stalker *stalker;
    struct gait_hook *hook;
    long sum = 0;

    begin();
    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, &error), 0);
    CHECK_EQUAL(gait_stalker_follow_me(stalker, NULL, &error), 0);
    for (int i = 0; i < 10; i++)
        sum += add(i, 1);
    hook = attach(add, 0);
    for (int i = 0; i < 10; i++)
        sum += add(i, 1);
    detach(hook);
    for (int i = 0; i < 10; i++)
        sum += add(i, 1);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, &error), 0);
    CHECK_EQUAL(sum, 3 * 55);
    CHECK_EQUAL(logs[0].entered, 10);
    CHECK_EQUAL(logs[0].left, 10);
    gait_stalker_destroy(stalker);
    end();
}

/* ---- a whole module -----------------------------------------------------------------------------------------------
 */

static bool is_wanted(void *context, const char *name, size_t name_length, uint64_t function)
{
    (void)context;
    (void)function;
    return name_length > 3 && memcmp(name, "str", 3) == 0;
}

static void the_functions_of_a_module_are_hooked_by_choice(void)
{
    struct gait_listener listener = {.size_bytes = sizeof(listener), .enter = count_call, .general_only = false};
    char *(*volatile duplicate)(const char *) = strdup;
    size_t count = 0;

    begin();
    atomic_store(&calls, 0);
    CHECK_EQUAL(gait_hook_attach_module(hooks, (uintptr_t)dlsym(RTLD_DEFAULT, "qsort"), is_wanted, NULL, &listener,
                                        &count, &error),
                0);
    CHECK(count > 20);
    free(duplicate("words"));
    CHECK(atomic_load(&calls) >= 1);
    end();
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(a_listener_is_told_of_calls_and_returns),
        CHECK_CASE(the_code_and_the_memory_are_what_they_were_afterwards),
        CHECK_CASE(several_listeners_are_told_in_their_order),
        CHECK_CASE(recursion_is_told_with_its_depth),
        CHECK_CASE(arguments_and_results_can_be_changed),
        CHECK_CASE(arguments_on_the_stack_are_found),
        CHECK_CASE(vector_registers_are_what_they_were),
        CHECK_CASE(errno_is_seen_changed_and_kept),
        CHECK_CASE(data_of_a_call_is_kept_from_enter_to_leave),
        CHECK_CASE(functions_of_any_shape_are_hooked),
        CHECK_CASE(a_function_behind_two_proxies_is_told_once_for_each_that_is_hooked),
        CHECK_CASE(the_shortest_functions_are_hooked),
        CHECK_CASE(what_has_room_for_nothing_gets_a_trap),
        CHECK_CASE(the_landing_mark_survives),
        CHECK_CASE(registers_and_flags_are_what_they_were),
        CHECK_CASE(the_heap_can_be_listened_to_also_by_who_uses_it),
        CHECK_CASE(functions_that_threads_begin_and_end_with_can_be_hooked),
        CHECK_CASE(a_thread_can_be_ignored),
        CHECK_CASE(what_a_listener_calls_is_not_told),
        CHECK_CASE(a_listener_can_detach_itself),
        CHECK_CASE(unhooking_during_a_call_leaves_the_call_alone),
        CHECK_CASE(everything_can_be_released_during_a_call_that_returns_much_later),
        CHECK_CASE(attaching_and_detaching_while_threads_call_does_no_harm),
        CHECK_CASE(a_function_can_be_replaced_and_its_original_called),
        CHECK_CASE(a_replacement_that_calls_the_function_gets_the_original),
        CHECK_CASE(a_function_can_be_replaced_and_listened_to),
        CHECK_CASE(a_replacement_in_place_has_nothing_in_between),
        CHECK_CASE(a_replacement_in_place_may_be_far_away),
        CHECK_CASE(a_replacement_is_a_function_like_others),
        CHECK_CASE(an_instruction_in_the_middle_can_be_probed),
        CHECK_CASE(nothing_happens_before_the_commit),
        CHECK_CASE(a_failure_undoes_the_whole_transaction),
        CHECK_CASE(what_cannot_be_hooked_is_refused),
        CHECK_CASE(our_own_code_is_not_hooked),
        CHECK_CASE(overlapping_hooks_are_refused),
        CHECK_CASE(hooks_of_an_unloaded_library_are_forgotten),
        CHECK_CASE(a_forked_child_changes_its_own_hooks_only),
        CHECK_CASE(a_hooked_function_is_hooked_in_followed_threads),
        CHECK_CASE(the_functions_of_a_module_are_hooked_by_choice),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
