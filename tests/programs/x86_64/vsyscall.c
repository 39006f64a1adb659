/* SPDX-License-Identifier: MIT */
/* The functions in the vsyscall page, which can be executed but not read. Where there is none: SIGSEGV. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

static sigjmp_buf back;

static void fault(int signal)
{
    siglongjmp(back, signal);
}

int main(void)
{
    time_t (*volatile get_time)(time_t *) = (time_t(*)(time_t *))0xffffffffff600400;
    int (*volatile get_time_of_day)(struct timeval *, void *) = (int (*)(struct timeval *, void *))0xffffffffff600000;
    int (*volatile get_cpu)(unsigned *, unsigned *, void *) =
        (int (*)(unsigned *, unsigned *, void *))0xffffffffff600800;
    struct timeval now;
    unsigned cpu = 12345, node = 12345;
    time_t seconds = 0;

    signal(SIGSEGV, fault);
    if (sigsetjmp(back, 1) != 0) {
        puts("none");
        return 0;
    }
    for (int i = 0; i < 100; i++) {
        time_t got = get_time(&seconds);
        int result = get_time_of_day(&now, NULL);

        if (got != seconds || result != 0 || now.tv_sec - got > 5 || get_cpu(&cpu, &node, NULL) != 0 || cpu == 12345)
            printf("%d: %ld %ld %d %u\n", i, (long)got, (long)now.tv_sec, result, cpu);
    }
    puts("done");
    return 0;
}
