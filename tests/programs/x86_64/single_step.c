/* SPDX-License-Identifier: MIT */
/* The trap flag, set by the program itself: a trap behind each instruction, at its address. */
#define _GNU_SOURCE

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>
#include <ucontext.h>

#define FLAG_TRAP 0x100
#define TRAPS_MAX 200

uint64_t stepped(uint64_t value);
uint64_t stepped_until_told(uint64_t value);
extern const char stepped_start[], told_start[];

__asm__(".text\n"
        "stepped:\n"
        "    mov %rdi, %rax\n"
        "    push %rbx\n"
        "    pushfq\n"
        "    orl $0x100, (%rsp)\n"
        "    popfq\n"
        "stepped_start:\n"
        "    nop\n"
        "    add $1, %rax\n"
        "    jmp 1f\n"
        "    ud2\n"
        "1:  imul $3, %rax, %rax\n"
        "    mov %rax, -16(%rsp)\n"
        "    mov stepped_start(%rip), %bl\n"
        "    mov $3, %ecx\n"
        "2:  lea 1(%rax), %rax\n"
        "    loop 2b\n"
        "    lea 5f(%rip), %r11\n"
        "    call 4f\n"
        "    call *%r11\n"
        "    lea 3f(%rip), %rdx\n"
        "    cmp %rax, %rax\n"
        "    jne 1b\n"
        "    jmp *%rdx\n"
        "    ud2\n"
        "3:  mov %rax, %rbx\n"
        "    mov $39, %eax\n" /* getpid */
        "    syscall\n"
        "    mov %rbx, %rax\n"
        "    pushfq\n"
        "    andl $~0x100, (%rsp)\n"
        "    popfq\n"
        "    pop %rbx\n"
        "    ret\n"
        "4:  add $5, %rax\n"
        "    ret\n"
        "5:  add $7, %rax\n"
        "    ret\n"
        "stepped_until_told:\n"
        "    mov %rdi, %rax\n"
        "    pushfq\n"
        "    orl $0x100, (%rsp)\n"
        "    popfq\n"
        "told_start:\n"
        "    nop\n"
        "    inc %rax\n"
        "    inc %rax\n"
        "    inc %rax\n"
        "    ret\n");

static int offsets[TRAPS_MAX];
static volatile int traps, ticks, wrong;
static const char *volatile start;
static volatile int told_at;

static void on_trap(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

    wrong +=
        number != SIGTRAP || info->si_code != TRAP_TRACE || (uintptr_t)info->si_addr != (uintptr_t)registers[REG_RIP];
    if (traps < TRAPS_MAX)
        offsets[traps] = (int)(registers[REG_RIP] - (intptr_t)start);
    if (++traps == told_at)
        registers[REG_EFL] &= ~FLAG_TRAP;
}

static void on_tick(int number)
{
    (void)number;
    ticks++;
}

static void show(const char *what, uint64_t result)
{
    printf("%s: %lu, %d traps, %d wrong, at", what, (unsigned long)result, traps, wrong);
    for (int i = 0; i < traps && i < TRAPS_MAX; i++)
        printf(" %d", offsets[i]);
    puts("");
    traps = 0;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    int odd = 0, expected;

    sigaction(SIGTRAP, &action, NULL);
    start = stepped_start;
    show("all", stepped(13));
    stepped(1);
    expected = traps;
    show("again", 1);
    start = told_start;
    told_at = 2;
    show("until told", stepped_until_told(1));
    told_at = 0;
    start = stepped_start;
    signal(SIGALRM, on_tick);
    setitimer(ITIMER_REAL, &often, NULL);
    while (ticks < 50) {
        traps = 0;
        odd += stepped(13) != 57 || traps != expected;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%d odd with a timer\n", odd);
    return wrong != 0 || odd != 0;
}
