/* SPDX-License-Identifier: MIT */
/* Coroutines made by hand: stacks swapped by a few instructions, in heap memory, in turns. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define COROUTINES  5
#define STACK_BYTES 16384

void stack_switch(void **save, void *load);
void coroutine_entry(void);

__asm__(".text\n"
        ".globl stack_switch\n"
        "stack_switch:\n"
        "    push %rbx\n    push %rbp\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %rbp\n    pop %rbx\n"
        "    ret\n"
        ".globl coroutine_entry\n"
        "coroutine_entry:\n"
        "    mov %r12, %rdi\n"
        "    call *%r13\n"
        "    ud2\n");

static void *scheduler_stack, *coroutine_stacks[COROUTINES];
static unsigned current;

static void yield(void)
{
    stack_switch(&coroutine_stacks[current], scheduler_stack);
}

static unsigned climb(unsigned depth, unsigned step)
{
    yield();
    return depth == 0 ? step : climb(depth - 1, step * 3 + 1) + 1;
}

static void body(uintptr_t number)
{
    for (unsigned round = 0;; round++) {
        printf("%lu begins round %u\n", (unsigned long)number, round);
        printf("%lu got %u\n", (unsigned long)number, climb(3 + (unsigned)number, round));
    }
}

static void *make_stack(uintptr_t number)
{
    uintptr_t *memory = malloc(STACK_BYTES), *top = memory + STACK_BYTES / sizeof(*memory) - 8;

    top = (uintptr_t *)((uintptr_t)top & ~15ul);
    top[2] = (uintptr_t)body;            /* r13 */
    top[3] = number;                     /* r12 */
    top[6] = (uintptr_t)coroutine_entry; /* where the return goes; r15, r14, rbp and rbx do not matter */
    return top;
}

int main(void)
{
    for (unsigned i = 0; i < COROUTINES; i++)
        coroutine_stacks[i] = make_stack(i);
    for (unsigned turn = 0; turn < 200; turn++) {
        current = turn * 7 % COROUTINES;
        stack_switch(&scheduler_stack, coroutine_stacks[current]);
    }
    return 0;
}
