/* SPDX-License-Identifier: MIT */
/*
 * Memory transactions, as programs have to use them: any may be aborted, for reasons of the CPU's too, so there is
 * another way. What was done in one that is aborted has not been done; why is told.
 */
#include <cpuid.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BEGUN (~0u)
#define TRIES 5

static volatile unsigned long value;
static void (*volatile chosen)(void);
static volatile sig_atomic_t handled;
static volatile int *volatile nowhere = NULL;

static inline unsigned begin(void)
{
    unsigned status = BEGUN;

    __asm__ volatile("xbegin 1f\n1:" : "+a"(status) : : "memory");
    return status;
}

static inline void end(void)
{
    __asm__ volatile("xend" : : : "memory");
}

static bool is_in_one(void)
{
    unsigned char in;

    __asm__ volatile("xtest; setnz %0" : "=q"(in) : : "cc", "memory");
    return in;
}

__attribute__((noinline)) static void add_one(void)
{
    value += 1;
}

__attribute__((noinline)) static void add_two(void)
{
    value += 2;
}

static void with_calls(void)
{
    add_one();
    chosen();
    add_two();
}

static void with_loop(void)
{
    for (unsigned i = 0; i < 100; i++)
        value = value * 31 + i;
}

static void nested(void)
{
    if (begin() == BEGUN) {
        value += 3;
        end();
    }
}

static void make(void (*what)(void))
{
    for (unsigned i = 0; i < TRIES; i++)
        if (begin() == BEGUN) {
            what();
            end();
            return;
        }
    what();
}

static void show(const char *name, void (*what)(void))
{
    value = 0;
    for (unsigned i = 0; i < 1000; i++) {
        chosen = i & 1 ? add_one : add_two;
        make(what);
    }
    printf("%s: %lu\n", name, what == nested ? value % 3 : value);
}

/* One that gets as far as its xabort, or was aborted before: registers, flags and memory are as they were. */
static void abort_one(void)
{
    unsigned long first = 0x1111, second = 0x2222, before = value, flags_before, flags;
    unsigned status;

    __asm__ volatile("stc\n pushfq\n pop %[flags_before]\n mov $-1, %%eax\n"
                     "xbegin 1f\n movq $99, %[value]\n mov $3, %[first]\n mov $4, %[second]\n clc\n xabort $0x5a\n"
                     "1: pushfq\n pop %[flags]\n"
                     : "=&a"(status), [first] "+&r"(first), [second] "+&r"(second), [value] "+m"(value),
                       [flags_before] "=&r"(flags_before), [flags] "=&r"(flags)
                     :
                     : "cc", "memory");
    if (status & 1 && status >> 24 != 0x5a)
        printf("another reason: %x\n", status);
    if (first != 0x1111 || second != 0x2222 || value != before || flags != flags_before)
        printf("not undone: %lx %lx %lu %lx %lx\n", first, second, value, flags_before, flags);
}

static void with_system_call(void)
{
    unsigned made = 0;

    for (unsigned i = 0; i < 100; i++)
        if (begin() == BEGUN) {
            (void)syscall(SYS_getppid);
            made++;
            end();
        }
    printf("with a system call: %u\n", made);
}

static void handler(int number)
{
    (void)number;
    handled += is_in_one() ? 100 : 1;
}

static void with_fault(void)
{
    unsigned made = 0;

    for (unsigned i = 0; i < 100; i++)
        if (begin() == BEGUN) {
            *nowhere = 1;
            made++;
            end();
        }
    printf("with a fault: %u, handled %d\n", made, (int)handled);
}

int main(void)
{
    unsigned eax, ebx, ecx, edx;

    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || !(ebx >> 11 & 1)) {
        printf("no transactions\n");
        return 0;
    }
    signal(SIGSEGV, handler);
    printf("outside: %d\n", is_in_one());
    show("with calls", with_calls);
    show("with a loop", with_loop);
    show("nested", nested);
    for (unsigned i = 0; i < 1000; i++)
        abort_one();
    with_system_call();
    with_fault();
    __asm__ volatile("xabort $1");
    printf("outside: %d\n", is_in_one());
    return 0;
}
