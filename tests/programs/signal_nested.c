/* SPDX-License-Identifier: MIT */
/* Handlers within handlers: what is blocked there, once-only and re-entered ones, queues, and what sigaction shows. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char order[256];
static volatile int depth, deepest, calls;

static void add(char letter)
{
    size_t length = strlen(order);

    if (length + 1 < sizeof(order))
        order[length] = letter;
}

static void show(const char *what)
{
    printf("%s: %s, %d calls, %d deep\n", what, order, calls, deepest);
    memset(order, 0, sizeof(order));
    calls = deepest = 0;
}

static unsigned blocked_bits(void)
{
    sigset_t set;

    sigprocmask(SIG_BLOCK, NULL, &set);
    return (unsigned)sigismember(&set, SIGUSR1) | (unsigned)sigismember(&set, SIGUSR2) << 1 |
           (unsigned)sigismember(&set, SIGHUP) << 2;
}

static void on_nested(int number)
{
    calls++;
    if (++depth > deepest)
        deepest = depth;
    add(number == SIGUSR1 ? 'a' : 'b');
    add((char)('0' + blocked_bits()));
    if (number == SIGUSR1 && depth == 1)
        raise(SIGUSR2);
    add(number == SIGUSR1 ? 'A' : 'B');
    depth--;
}

static void on_again(int number)
{
    calls++;
    if (++depth > deepest)
        deepest = depth;
    if (depth < 5)
        raise(number);
    depth--;
}

static void on_queued(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    calls++;
    add((char)('a' + info->si_value.sival_int));
}

static void nested(void)
{
    struct sigaction action = {.sa_handler = on_nested};

    sigaddset(&action.sa_mask, SIGHUP);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR1);
    show("nested");
    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    show("one behind the other");
}

static void again(void)
{
    struct sigaction action = {.sa_handler = on_again, .sa_flags = SA_NODEFER}, old;

    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    show("in itself");
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGUSR2, &action, &old);
    printf("before: %s, flags %x\n", old.sa_handler == on_nested ? "the nested one" : "another",
           (unsigned)old.sa_flags & ~0x04000000u);
    sigaction(SIGUSR2, NULL, &old);
    printf("now: %s, flags %x\n", old.sa_handler == on_again ? "the new one" : "another",
           (unsigned)old.sa_flags & ~0x04000000u);
    depth = 10;
    raise(SIGUSR2);
    depth = 0;
    show("once");
    sigaction(SIGUSR2, NULL, &old);
    printf("afterwards: %s\n", old.sa_handler == SIG_DFL ? "default" : "something");
    signal(SIGUSR2, SIG_IGN);
    raise(SIGUSR2);
    printf("ignored: %s\n", signal(SIGUSR2, SIG_DFL) == SIG_IGN ? "yes" : "no");
}

static void queued(void)
{
    struct sigaction action = {.sa_sigaction = on_queued, .sa_flags = SA_SIGINFO};
    union sigval value;
    sigset_t set, old;

    sigaction(SIGRTMIN + 1, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    for (int round = 0; round < 20; round++) {
        sigprocmask(SIG_BLOCK, &set, &old);
        for (value.sival_int = 0; value.sival_int < 10; value.sival_int++)
            sigqueue(getpid(), SIGRTMIN + 1, value);
        sigprocmask(SIG_SETMASK, &old, NULL);
    }
    show("queued");
}

int main(void)
{
    struct sigaction wrong = {.sa_handler = on_again};

    nested();
    again();
    queued();
    printf("SIGKILL %d, number 65 %d, no memory %d\n", sigaction(SIGKILL, &wrong, NULL), sigaction(65, &wrong, NULL),
           (int)syscall(SYS_rt_sigaction, SIGUSR1, 8, NULL, 8));
    return 0;
}
