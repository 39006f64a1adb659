/* SPDX-License-Identifier: MIT */
/* Code that is unmapped or protected while it runs, by itself and by another thread: it faults where it is. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static __thread sigjmp_buf before;
static uint8_t *page;
static volatile uintptr_t fault_pc, fault_address;
static volatile int running;

/* mov %edi, %eax; syscall; mov $7, %eax; ret: called with the number and its arguments where they belong */
static const uint8_t calling[] = {0x89, 0xc8, 0x0f, 0x05, 0xb8, 0x07, 0, 0, 0, 0xc3};

/* movl $1, (%rdi); 1: jmp 1b */
static const uint8_t endless[] = {0xc7, 0x07, 0x01, 0, 0, 0, 0xeb, 0xfe};

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number;
    fault_pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] - (uintptr_t)page;
    fault_address = (uintptr_t)info->si_addr - (uintptr_t)page;
    siglongjmp(before, 1);
}

static void map(const uint8_t *code, size_t size)
{
    page =
        mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (page != NULL ? MAP_FIXED : 0), -1, 0);
    memcpy(page, code, size);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static void by_itself(const char *what, long number, long access)
{
    typedef int (*caller)(const void *, long, long, long);

    map(calling, sizeof(calling));
    if (sigsetjmp(before, 1) == 0)
        printf("%d: nothing happened\n", ((caller)(uintptr_t)page)(page, 4096, access, number));
    printf("%s: pc %lx, address %lx\n", what, (unsigned long)fault_pc, (unsigned long)fault_address);
}

static void *run(void *argument)
{
    typedef void (*runner)(volatile int *);

    if (sigsetjmp(before, 1) == 0)
        ((runner)(uintptr_t)page)(&running);
    return argument;
}

static void by_another(const char *what, int is_gone)
{
    pthread_t thread;

    map(endless, sizeof(endless));
    running = 0;
    pthread_create(&thread, NULL, run, NULL);
    while (!running)
        usleep(100);
    usleep(1000);
    if (is_gone)
        munmap(page, 4096);
    else
        mprotect(page, 4096, PROT_READ);
    pthread_join(thread, NULL);
    printf("%s: pc %lx, address %lx\n", what, (unsigned long)fault_pc, (unsigned long)fault_address);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};

    sigaction(SIGSEGV, &action, NULL);
    for (int i = 0; i < 3; i++) {
        by_itself("unmaps itself", 11, 0);
        by_itself("protects itself", 10, PROT_READ);
        by_another("unmapped", 1);
        by_another("protected", 0);
    }
    return 0;
}
