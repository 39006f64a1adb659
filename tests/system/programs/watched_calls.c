/* SPDX-License-Identifier: MIT */
/*
 * Calls functions in every way there is, and says how often each was entered and left, for --detail: directly, by a
 * pointer, by a jump at the end of another one; in loops, recursions, threads, coroutines and handlers; and leaves them
 * by returns and by long jumps. Lines are "function calls returns left last-argument".
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define WATCHED __attribute__((noinline, noclone, noipa))

static ucontext_t main_context, contexts[4];
static jmp_buf back;
static volatile int sink;

WATCHED long w_leaf(long a, long b)
{
    sink += (int)a;
    return a + b;
}

/* Goes on with a jump. */
WATCHED long w_tail(long a, long b)
{
    sink++;
    return w_leaf(a + 1, b);
}

WATCHED long w_recursive(long a)
{
    return a == 0 ? 0 : w_recursive(a - 1) + a;
}

/* Begins with a loop that leads back to its first instruction. */
long w_loop(long a);
__asm__(".text\n.globl w_loop\n.type w_loop, @function\nw_loop: subq $1, %rdi\njnz w_loop\nmovl $7, %eax\nret\n"
        ".size w_loop, .-w_loop");

WATCHED void w_jumps(long a)
{
    if (a % 3 == 0)
        longjmp(back, 1);
    sink++;
}

WATCHED void w_between(long a)
{
    w_jumps(a);
    sink++;
}

WATCHED void w_handler(int signal)
{
    sink += signal;
}

/* Leaves its stack for another one, and comes back later. */
WATCHED void w_yield(int which)
{
    swapcontext(&contexts[which], &main_context);
}

WATCHED long w_step(int which, long i)
{
    if (i % 2 != 0)
        w_yield(which);
    return i + sink;
}

static void run_steps(int which)
{
    for (long i = 0; i < 100; i++)
        w_step(which, i);
}

static void run_coroutines(void)
{
    for (int i = 0; i < 4; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_size = 1 << 20;
        contexts[i].uc_stack.ss_sp = malloc(1 << 20);
        contexts[i].uc_link = &main_context;
        makecontext(&contexts[i], (void (*)(void))run_steps, 1, i);
    }
    for (int i = 0; i < 4 * 51; i++)
        swapcontext(&main_context, &contexts[i % 4]);
}

/* Takes arguments on the stack. */
WATCHED long w_many(long a, long b, long c, long d, long e, long f, long g, long h)
{
    return a + b + c + d + e + f + g * h;
}

static void *run(void *argument)
{
    for (long i = 0; i < 1000; i++)
        w_leaf(i, (long)argument);
    return NULL;
}

int main(void)
{
    long (*volatile by_pointer)(long, long) = w_leaf;
    pthread_t threads[3];

    for (long i = 0; i < 500; i++) {
        w_leaf(i, 1);
        by_pointer(i, 2);
        w_tail(i, 3);
        w_loop(5);
        sink += (int)w_many(1, 2, 3, 4, 5, 6, 7, i);
    }
    w_recursive(100);
    for (volatile long i = 0; i < 30; i++)
        if (setjmp(back) == 0)
            w_between(i);
    run_coroutines();
    signal(SIGUSR1, w_handler);
    for (int i = 0; i < 20; i++)
        raise(SIGUSR1);
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    /* So that what the last long jump left is noticed. */
    w_leaf(1234, 0);
    printf("w_between 30 20 10 29\nw_handler 20 20 0 10\nw_jumps 30 20 10 29\nw_leaf 4501 4501 0 1234\n"
           "w_loop 500 500 0 5\nw_many 500 500 0 1\nw_recursive 101 101 0 0\nw_step 400 400 0 3\n"
           "w_tail 500 500 0 499\nw_yield 200 200 0 3\n");
    return 0;
}
