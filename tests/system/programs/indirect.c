/* SPDX-License-Identifier: MIT */
/* Calls functions of which libc has several, one for each kind of CPU; with an argument for three seconds. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **words)
{
    volatile int total = 0;

    for (int i = 0; i < (count > 1 ? 300 : 1); i++) {
        total += strcmp(words[0], "something else");
        if (count > 1)
            usleep(10000);
    }
    puts("done");
    return total == 0;
}
