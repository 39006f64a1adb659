/* SPDX-License-Identifier: MIT */
/*
 * Functions of all shapes and sizes are hooked, those of libc that everything needs among them, and whole modules.
 *
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "gait/hook.h"

#include "support/check.h"
#include "support/hook_log.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    enum gait_hook_obstacle obstacle = GAIT_HOOK_NO_OBSTACLE;

    begin();
    listener.without_traps = true;
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)crowded_middle, &listener, NULL, &error), -EOPNOTSUPP);
    CHECK_EQUAL(gait_hook_find_obstacle(hooks, (uintptr_t)crowded_middle, &obstacle, &error), 0);
    CHECK_EQUAL(obstacle, GAIT_HOOK_TOO_SHORT);
    CHECK(strstr(error.text, "it is too short") != NULL);
    CHECK_EQUAL(gait_hook_find_obstacle(hooks, 8, &obstacle, &error), -EFAULT);
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
        CHECK_CASE(functions_of_any_shape_are_hooked),
        CHECK_CASE(a_function_behind_two_proxies_is_told_once_for_each_that_is_hooked),
        CHECK_CASE(the_shortest_functions_are_hooked),
        CHECK_CASE(what_has_room_for_nothing_gets_a_trap),
        CHECK_CASE(the_landing_mark_survives),
        CHECK_CASE(registers_and_flags_are_what_they_were),
        CHECK_CASE(the_heap_can_be_listened_to_also_by_who_uses_it),
        CHECK_CASE(functions_that_threads_begin_and_end_with_can_be_hooked),
        CHECK_CASE(the_functions_of_a_module_are_hooked_by_choice),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
