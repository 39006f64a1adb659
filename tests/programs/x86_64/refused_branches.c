/* SPDX-License-Identifier: MIT */
/* Branches to addresses that the CPU refuses, so that the signal comes at the branch; its handler goes on elsewhere. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define ROUNDS 20

/* go(target): branches there, with known values in the registers that an engine could want for itself. */
#define BRANCH(name, prepare, branch)                                                                                  \
    void go_##name(uint64_t target);                                                                                   \
    extern const uint8_t at_##name[];                                                                                  \
    __asm__(".pushsection .text\n"                                                                                     \
            "go_" #name ": mov %rsp, saved_sp(%rip)\n"                                                                 \
            "mov %rdi, %rax\n"                                                                                         \
            "mov %rax, slot(%rip)\n"                                                                                   \
            "mov $0x1111, %ecx\n"                                                                                      \
            "mov $0x2222, %edi\n"                                                                                      \
            "mov $0x3333, %r11d\n" prepare "\n"                                                                        \
            "mov %rsp, branch_sp(%rip)\n"                                                                              \
            "at_" #name ": " branch "\n"                                                                               \
            "ud2\n"                                                                                                    \
            ".popsection\n");

uint64_t saved_sp, branch_sp, slot;

BRANCH(jump_register, "", "jmp *%rax")
BRANCH(jump_memory, "", "jmp *slot(%rip)")
BRANCH(jump_taken_registers, "mov %rax, %rcx", "jmp *%rcx")
BRANCH(call_register, "", "call *%rax")
BRANCH(call_memory, "", "call *slot(%rip)")
BRANCH(call_position, "mov %rax, %r11", "call *%r11")
BRANCH(return, "push %rax", "ret")
BRANCH(return_and_pop, "sub $48, %rsp; push %rax", "ret $40")

void come_back(void);
__asm__(".pushsection .text\n"
        "come_back: mov saved_sp(%rip), %rsp\n"
        "ret\n"
        ".popsection\n");

static const struct way {
    void (*go)(uint64_t target);
    const uint8_t *at;
    const char *name;
    uint64_t rcx, r11; /* 0: the target */
} ways[] = {
    {go_jump_register, at_jump_register, "jump, register", 0x1111, 0x3333},
    {go_jump_memory, at_jump_memory, "jump, memory", 0x1111, 0x3333},
    {go_jump_taken_registers, at_jump_taken_registers, "jump, rcx", 0, 0x3333},
    {go_call_register, at_call_register, "call, register", 0x1111, 0x3333},
    {go_call_memory, at_call_memory, "call, memory", 0x1111, 0x3333},
    {go_call_position, at_call_position, "call, r11", 0x1111, 0},
    {go_return, at_return, "return", 0x1111, 0x3333},
    {go_return_and_pop, at_return_and_pop, "return and pop", 0x1111, 0x3333},
};

static const struct way *volatile current;
static volatile uint64_t current_target;
static volatile int faults, wrong;

static int is(greg_t value, uint64_t expected)
{
    return (uint64_t)value == (expected == 0 ? current_target : expected);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

    (void)number;
    faults++;
    if (!is(registers[REG_RIP], (uintptr_t)current->at) || !is(registers[REG_RSP], branch_sp) ||
        !is(registers[REG_RAX], 0) || !is(registers[REG_RCX], current->rcx) || !is(registers[REG_RDI], 0x2222) ||
        !is(registers[REG_R11], current->r11) || info->si_addr != NULL || info->si_code != SI_KERNEL)
        wrong++;
    registers[REG_RIP] = (greg_t)(uintptr_t)come_back;
}

static void go_all_ways(uint64_t target)
{
    current_target = target;
    for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        wrong = 0;
        current = &ways[i];
        for (unsigned round = 0; round < ROUNDS; round++)
            ways[i].go(target);
        if (wrong != 0)
            printf("%s: %d wrong\n", ways[i].name, wrong);
    }
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    sigaction(SIGSEGV, &action, NULL);
    go_all_ways(0x4141414141414141);
    go_all_ways(UINT64_C(1) << 63);
    go_all_ways(UINT64_C(1) << 60);
    /* Those that share their low bits with code that was there before. */
    go_all_ways((uintptr_t)come_back | UINT64_C(1) << 62);
    go_all_ways((uintptr_t)abs | UINT64_C(1) << 62);
    go_all_ways((uintptr_t)go_all_ways | UINT64_C(1) << 62);
    printf("%d faults\n", faults);
    return 0;
}
