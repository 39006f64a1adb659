/* SPDX-License-Identifier: MIT */
/* Memory through gs, in many forms, and its base, changed by the system call and, where that is allowed, by itself. */
#define _GNU_SOURCE
#include <asm/hwcap2.h>
#include <asm/prctl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define WORDS 64

static uint64_t first[WORDS], second[WORDS], seen[40];

/* rdi: where what was seen goes. Flags, and registers that are not named, must stay. */
void use_segment(uint64_t *seen_out);
extern const char faulting[], behind_fault[];

__asm__(".text\n"
        "use_segment:\n"
        "    push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
        "    mov $2, %ebx; mov $3, %r12d; mov $0x11, %ecx; mov $0x22, %edx; mov $0x33, %esi; mov $0x44, %r11d\n"
        "    xor %eax, %eax\n"
        "    stc\n"
        "    mov %gs:8, %rax;                 mov %rax, 0(%rdi)\n"
        "    mov %gs:(%rbx,%rbx,2), %al;      mov %rax, 8(%rdi)\n"
        "    mov %gs:16(%r12,%rbx,8), %r11w;  mov %r11, 16(%rdi)\n"
        "    setc 24(%rdi)\n"
        "    lea -8(,%rbx,8), %rbp\n"
        "    mov %gs:(%rbp), %r15d;           mov %r15, 32(%rdi)\n"
        "    mov %rcx, %gs:64\n"
        "    movl $0x12345678, %gs:72(,%rbx,8)\n"
        "    movw $0x1234, %gs:80(%r12)\n"
        "    lock addq %rdx, %gs:96(%rbx,%rbx)\n"
        "    pushq %gs:24;                    pop 40(%rdi)\n"
        "    pushq %rsi;                      popq %gs:104\n"
        "    movdqu %gs:32, %xmm9;            movdqu %xmm9, 48(%rdi)\n"
        "    movss %xmm9, %gs:112(,%r12,4)\n"
        "    movzbl %gs:3(%rbx), %eax;        mov %rax, 64(%rdi)\n"
        "    xor %eax, %eax; xor %edx, %edx\n"
        "    lock cmpxchg %rsi, %gs:136\n"
        "    setz 72(%rdi)\n"
        "    imul $5, %gs:8, %r9;             mov %r9, 80(%rdi)\n"
        "    mov %rsp, %r13\n"
        "    mov %gs:144, %rsp\n"
        "    xchg %rsp, %r13;                 mov %r13, 88(%rdi)\n"
        "    mov %rcx, 104(%rdi); mov %rbx, 112(%rdi); mov %r12, 120(%rdi)\n"
        "    pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
        "    ret\n"
        "touch_nothing:\n"
        "    mov %rdi, %rcx; mov $0x1234, %eax; mov $0x5678, %edx\n"
        "faulting:\n"
        "    mov %gs:(%rcx,%rax), %rsi\n"
        "behind_fault:\n"
        "    lea (%rax,%rdx), %rax\n"
        "    ret\n");

uint64_t touch_nothing(uint64_t address);

static void show(const char *what)
{
    use_segment(seen);
    printf("%s:", what);
    for (unsigned i = 0; i < 16; i++)
        printf(" %lx", (unsigned long)seen[i]);
    puts("");
}

static volatile int faults, wrong;

static void on_fault(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

    (void)info;
    faults++;
    wrong += number != SIGSEGV || registers[REG_RIP] != (greg_t)faulting || registers[REG_RAX] != 0x1234 ||
             registers[REG_RDX] != 0x5678;
    registers[REG_RIP] = (greg_t)behind_fault;
}

static void change_by_itself(void)
{
    unsigned long base = 0, kernel = 0;

    __asm__ volatile("rdgsbase %0" : "=r"(base));
    printf("%d", base == (uintptr_t)first);
    __asm__ volatile("wrgsbase %0" : : "r"(second));
    syscall(SYS_arch_prctl, ARCH_GET_GS, &kernel);
    printf("%d", kernel == (uintptr_t)second);
    __asm__ volatile("wrgsbase %k1; rdgsbase %0" : "=r"(base) : "r"(0xffffffff87654321ul));
    printf(" %lx\n", base);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    for (unsigned i = 0; i < WORDS; i++) {
        first[i] = 0x1111111111111111ul * (i % 15) + 0x123456789abul * i;
        second[i] = ~first[i];
    }
    first[17] = second[17] = 0;
    syscall(SYS_arch_prctl, ARCH_SET_GS, first);
    show("first");
    for (int i = 0; i < 1000; i++)
        use_segment(seen);
    show("again");
    sigaction(SIGSEGV, &action, NULL);
    printf("%lx", (unsigned long)touch_nothing(1ul << 46));
    printf(", %d faults, %d wrong\n", faults, wrong);
    if (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE)
        change_by_itself();
    syscall(SYS_arch_prctl, ARCH_SET_GS, second);
    show("second");
    for (unsigned i = 0; i < 24; i++)
        printf("%lx %lx\n", (unsigned long)first[i], (unsigned long)second[i]);
    syscall(SYS_arch_prctl, ARCH_SET_GS, 0);
    return 0;
}
