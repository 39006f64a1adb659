/* SPDX-License-Identifier: MIT */
/* Keys of memory, where the CPU has them: rights are a register of the thread's, also in handlers. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static int key;
static volatile int faults, strange;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    strange += info->si_code != SEGV_PKUERR;
    if (++faults > 1000)
        _exit(9);
    /* The rights of the interrupted code are in the frame; without the key there is nothing to fault. */
    pkey_mprotect(info->si_addr, 4096, PROT_READ | PROT_WRITE, 0);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    volatile int *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    key = pkey_alloc(0, 0);
    if (key < 0) {
        puts("none here");
        return 0;
    }
    sigaction(SIGSEGV, &action, NULL);
    for (int i = 0; i < 100; i++) {
        pkey_mprotect((void *)page, 4096, PROT_READ | PROT_WRITE, key);
        pkey_set(key, PKEY_DISABLE_ACCESS);
        *page += i;
        pkey_set(key, 0);
        *page += 1;
    }
    printf("%d, %d faults, %d strange\n", *page, faults, strange);
    return strange != 0;
}
