/* SPDX-License-Identifier: MIT */
/* A process that forks within calls: one child ends there, another one returns from them. */
#include <sys/wait.h>
#include <unistd.h>

#define OUT_OF_LINE __attribute__((noinline, noclone))

static volatile int sum;

OUT_OF_LINE void job(int number)
{
    sum += number;
    sum++;
}

OUT_OF_LINE int loop(int times)
{
    for (int i = 0; i < times; i++) {
        pid_t child;

        job(1);
        child = fork();
        if (child == 0) {
            job(2);
            if (i == 0)
                _exit(0);
            return 7;
        }
        waitpid(child, 0, 0);
    }
    return times;
}

OUT_OF_LINE int serve(int times)
{
    int result = loop(times);

    job(3);
    return result;
}

int main(void)
{
    return serve(2) == 99;
}
