/* SPDX-License-Identifier: MIT */
/*
 * Functions whose return address must be the true one, since they look at it: how long they take is seen by nobody who
 * puts another one there. They take long, so that a time that somebody makes up shows.
 */
#include <stdio.h>
#include <unistd.h>

static const void *volatile caller;

__attribute__((noinline)) void asks(void)
{
    caller = __builtin_return_address(0);
    usleep(2000);
}

__attribute__((noinline)) void plain(void)
{
    asks();
    asks();
    __asm__ volatile("");
}

int main(void)
{
    for (int i = 0; i < 3; i++)
        plain();
    printf("%d\n", caller != NULL);
    return 0;
}
