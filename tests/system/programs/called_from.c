/* SPDX-License-Identifier: MIT */
/*
 * Calls s_leaf in many ways, and says who called it as backtrace() sees it, a line each time: functions of this program
 * by their names and how far behind their beginning they go on, "?" for those of libraries, up to main or s_thread.
 * Recorded with --stack s_leaf; exported names are needed (-rdynamic).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define CALLED     __attribute__((noinline, noclone, noipa))
#define FRAMES_MAX 200

static volatile int sink;
static ucontext_t main_context, other_context;

int main(void);
void *s_thread(void *unused);

/* Whether the frame is the last one that counts. */
static int print_frame(void *address)
{
    Dl_info own, info;

    dladdr((void *)main, &own);
    if (dladdr((char *)address - 1, &info) == 0 || info.dli_fbase != own.dli_fbase) {
        printf("\t?");
        return 0;
    }
    printf("\t%s+0x%zx", info.dli_sname, (size_t)((char *)address - (char *)info.dli_saddr));
    return strcmp(info.dli_sname, "main") == 0 || strcmp(info.dli_sname, "s_thread") == 0;
}

CALLED void s_leaf(int number)
{
    void *frames[FRAMES_MAX];
    int count = backtrace(frames, FRAMES_MAX);

    printf("stack");
    for (int i = 1; i < count && !print_frame(frames[i]); i++)
        ;
    printf("\n");
    sink += number;
}

/* Without a frame of its own but for its callers'. */
CALLED void s_one(int number)
{
    s_leaf(number);
    sink++;
}

/* With one that is large and of no fixed size. */
CALLED void s_large(int number)
{
    volatile char bytes[(unsigned)number + 100];

    bytes[number] = 1;
    s_one(bytes[number]);
    sink += bytes[number];
}

CALLED int s_recursive(int depth)
{
    int result;

    if (depth == 0)
        s_one(depth);
    result = depth == 0 ? 0 : s_recursive(depth - 1);
    sink++;
    return result + depth;
}

CALLED int s_compare(const void *left, const void *right)
{
    s_leaf(1);
    return *(const int *)left - *(const int *)right;
}

CALLED void s_handler(int signal)
{
    s_one(signal);
    sink++;
}

CALLED void s_coroutine(void)
{
    s_large(3);
    sink++;
}

/* Its last instruction is a jump, so it is nobody's caller. */
CALLED void s_tail(int number)
{
    sink++;
    s_leaf(number + 1);
}

CALLED void s_all(void)
{
    void (*volatile pointer)(int) = s_one;
    int numbers[] = {3, 1, 2};

    s_leaf(0);
    pointer(1);
    s_large(2000);
    s_tail(2);
    s_recursive(10);
    s_recursive(25);
    qsort(numbers, 3, sizeof(numbers[0]), s_compare);
    raise(SIGUSR1);
    sink++;
}

void *s_thread(void *unused)
{
    (void)unused;
    s_all();
    return NULL;
}

static void switch_stacks(void)
{
    static char stack[256 << 10];

    getcontext(&other_context);
    other_context.uc_stack.ss_sp = stack;
    other_context.uc_stack.ss_size = sizeof(stack);
    other_context.uc_link = &main_context;
    makecontext(&other_context, s_coroutine, 0);
    swapcontext(&main_context, &other_context);
}

int main(void)
{
    pthread_t thread;
    pid_t child;

    signal(SIGUSR1, s_handler);
    s_all();
    switch_stacks();
    pthread_create(&thread, NULL, s_thread, NULL);
    pthread_join(thread, NULL);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        s_all();
        exit(0);
    }
    waitpid(child, NULL, 0);
    return 0;
}
