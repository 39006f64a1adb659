/* SPDX-License-Identifier: MIT */
/* A program that locks all of its memory, and may lock not much more than it has. */
#define _GNU_SOURCE
#include "../support/locking_limit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define MIB (1 << 20)

static int is_present(void *page)
{
    unsigned char present = 0;

    return mincore(page, 4096, &present) == 0 && present & 1;
}

static void limit(void)
{
    struct rlimit most = {256 * MIB, 256 * MIB};

    if (setrlimit(RLIMIT_MEMLOCK, &most) != 0 && getrlimit(RLIMIT_MEMLOCK, &most) == 0) {
        most.rlim_cur = most.rlim_max;
        setrlimit(RLIMIT_MEMLOCK, &most);
    }
    (void)locking_limit_obey();
}

static void say(const char *what, int result)
{
    printf("%s: %s\n", what, result == 0 ? "done" : strerror(errno));
}

int main(void)
{
    char *before = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *after;

    setvbuf(stdout, NULL, _IOLBF, 0);
    limit();
    say("nothing", mlockall(0));
    say("what is there", mlockall(MCL_CURRENT));
    printf("%d, %d\n", is_present(before + MIB / 2), locked_kib() > 1024);
    say("nothing any more", munlockall());
    printf("%lu KiB\n", locked_kib());
    say("all", mlockall(MCL_CURRENT | MCL_FUTURE));
    after = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("%d\n", after != MAP_FAILED && is_present(after + MIB / 2));
    say("nothing any more", munlockall());
    printf("%lu KiB\n", locked_kib());
    return 0;
}
