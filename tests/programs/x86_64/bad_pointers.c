/* SPDX-License-Identifier: MIT */
/* System calls that the engine takes part in, with addresses where nothing is: the kernel's errors, and no others. */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BAD       ((void *)0x10)
#define TOO_LARGE (~0ul)

static void tell(const char *what, long result)
{
    printf("%s: %ld, %d\n", what, result, result < 0 ? errno : 0);
}

int main(void)
{
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned long base = 7;

    mprotect(page + 4096, 4096, PROT_NONE);
    tell("clone3, nowhere", syscall(SYS_clone3, BAD, sizeof(struct clone_args)));
    tell("clone3, null", syscall(SYS_clone3, NULL, sizeof(struct clone_args)));
    tell("clone3, across the end", syscall(SYS_clone3, page + 4096 - 16, sizeof(struct clone_args)));
    tell("clone3, too small", syscall(SYS_clone3, page, 8));
    tell("arch_prctl, nowhere", syscall(SYS_arch_prctl, ARCH_GET_GS, BAD));
    tell("arch_prctl, across the end", syscall(SYS_arch_prctl, ARCH_GET_GS, page + 4096 - 4));
    tell("arch_prctl, no base", syscall(SYS_arch_prctl, ARCH_SET_GS, TOO_LARGE));
    tell("arch_prctl", syscall(SYS_arch_prctl, ARCH_GET_GS, &base));
    printf("base %lx\n", base);
    tell("sigaltstack, nowhere", syscall(SYS_sigaltstack, BAD, NULL));
    tell("rt_sigaction, nowhere", syscall(SYS_rt_sigaction, SIGUSR1, BAD, NULL, 8));
    tell("rt_sigaction to nowhere", syscall(SYS_rt_sigaction, SIGUSR1, NULL, BAD, 8));
    return 0;
}
