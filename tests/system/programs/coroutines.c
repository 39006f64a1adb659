/* SPDX-License-Identifier: MIT */
/*
 * Two coroutines that take turns with what resumes them. Arguments: where their stacks are ("frame": in main's;
 * "heap"), and how they are switched to ("context": by the C library; "own": by hand).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define STACK_BYTES 65536
#define OUT_OF_LINE __attribute__((noinline, noclone))

static ucontext_t context, contexts[2];
static void *stack_pointer, *stack_pointers[2];
static int current, is_own;
static volatile int sum;

void switch_stacks(void **from, void *to);

__asm__(".text\n"
        "switch_stacks:\n"
        "        push %rbp\n"
        "        push %rbx\n"
        "        push %r12\n"
        "        push %r13\n"
        "        push %r14\n"
        "        push %r15\n"
        "        mov %rsp, (%rdi)\n"
        "        mov %rsi, %rsp\n"
        "        pop %r15\n"
        "        pop %r14\n"
        "        pop %r13\n"
        "        pop %r12\n"
        "        pop %rbx\n"
        "        pop %rbp\n"
        "        ret\n");

OUT_OF_LINE void helper(void)
{
    sum++;
    sum++;
}

OUT_OF_LINE void yield(void)
{
    sum++;
    if (is_own)
        switch_stacks(&stack_pointers[current], stack_pointer);
    else
        swapcontext(&contexts[current], &context);
    sum++;
}

OUT_OF_LINE void counts(int times)
{
    for (int i = 0; i < times; i++) {
        helper();
        yield();
    }
    sum++;
}

OUT_OF_LINE void body(void)
{
    counts(2);
    sum++;
    if (is_own)
        switch_stacks(&stack_pointers[current], stack_pointer);
}

OUT_OF_LINE void resume(int which)
{
    current = which;
    if (is_own)
        switch_stacks(&stack_pointer, stack_pointers[which]);
    else
        swapcontext(&context, &contexts[which]);
    sum++;
}

OUT_OF_LINE void between(void)
{
    helper();
    sum++;
}

static void prepare(int which, char *stack)
{
    void **top = (void **)(stack + STACK_BYTES - 64);

    getcontext(&contexts[which]);
    contexts[which].uc_stack.ss_sp = stack;
    contexts[which].uc_stack.ss_size = STACK_BYTES;
    contexts[which].uc_link = &context;
    makecontext(&contexts[which], body, 0);
    if (!is_own)
        return;
    memset(stack, 0, STACK_BYTES);
    top[-2] = (void *)(uintptr_t)body;
    stack_pointers[which] = top - 8;
}

OUT_OF_LINE void run(char *first, char *second)
{
    prepare(0, first);
    prepare(1, second);
    resume(0);
    between();
    resume(1);
    resume(0);
    resume(1);
    between();
    resume(0);
    resume(1);
    sum++;
}

int main(int count, char **arguments)
{
    char stacks[2][STACK_BYTES];
    int is_heap = count > 1 && strcmp(arguments[1], "heap") == 0;

    is_own = count > 2 && strcmp(arguments[2], "own") == 0;
    if (is_heap)
        run(malloc(STACK_BYTES), malloc(STACK_BYTES));
    else
        run(stacks[0], stacks[1]);
    return sum == 0;
}
