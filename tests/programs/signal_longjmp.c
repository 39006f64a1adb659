/* SPDX-License-Identifier: MIT */
/* Long jumps out of a signal handler, which restore what was blocked. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf signal_place;

static void on_signal(int number)
{
    siglongjmp(signal_place, number);
}

static unsigned from_handlers(void)
{
    static volatile unsigned rounds, sum;
    sigset_t blocked;

    signal(SIGUSR1, on_signal);
    while (rounds < 200) {
        rounds++;
        if (sigsetjmp(signal_place, 1) == 0) {
            raise(SIGUSR1);
            puts("not reached");
        }
        sigprocmask(SIG_BLOCK, NULL, &blocked);
        sum += 1 + (unsigned)sigismember(&blocked, SIGUSR1) * 1000;
    }
    return sum;
}

int main(void)
{
    printf("from handlers %u\n", from_handlers());
    return 0;
}
