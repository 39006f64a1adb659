/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/raw_syscall.h"

#include "support/check.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATTERN_COUNT 6

/* rbx rbp r12 r13 r14 r15, as the program had them after the call. */
struct saved_registers {
    uint64_t values[PATTERN_COUNT];
};

static const uint64_t patterns[PATTERN_COUNT] = {
    0x1111111111111111, 0x2222222222222222, 0x3333333333333333,
    0x4444444444444444, 0x5555555555555555, 0x6666666666666666,
};

/*
 * Calls raw_syscall(number, 0...) with patterns in all registers that a function must preserve, and hands back what is
 * in them afterwards, and the change of the stack pointer.
 */
__asm__("        .text\n"
        "call_with_patterns:\n" /* rdi number, rsi patterns, rdx saved_registers */
        "        push    %rbx\n"
        "        push    %rbp\n"
        "        push    %r12\n"
        "        push    %r13\n"
        "        push    %r14\n"
        "        push    %r15\n"
        "        push    %rdx\n"
        "        movq    0(%rsi), %rbx\n"
        "        movq    8(%rsi), %rbp\n"
        "        movq    16(%rsi), %r12\n"
        "        movq    24(%rsi), %r13\n"
        "        movq    32(%rsi), %r14\n"
        "        movq    40(%rsi), %r15\n"
        "        xorl    %esi, %esi\n"
        "        xorl    %edx, %edx\n"
        "        xorl    %ecx, %ecx\n"
        "        xorl    %r8d, %r8d\n"
        "        xorl    %r9d, %r9d\n"
        "        push    $0\n"
        "        push    $0\n"
        "        movq    %rsp, %rax\n"
        "        movq    %rax, 8(%rsp)\n"
        "        call    raw_syscall\n"
        "        cmpq    %rsp, 8(%rsp)\n"
        "        jne     1f\n"
        "        addq    $16, %rsp\n"
        "        pop     %rdx\n"
        "        movq    %rbx, 0(%rdx)\n"
        "        movq    %rbp, 8(%rdx)\n"
        "        movq    %r12, 16(%rdx)\n"
        "        movq    %r13, 24(%rdx)\n"
        "        movq    %r14, 32(%rdx)\n"
        "        movq    %r15, 40(%rdx)\n"
        "        pop     %r15\n"
        "        pop     %r14\n"
        "        pop     %r13\n"
        "        pop     %r12\n"
        "        pop     %rbp\n"
        "        pop     %rbx\n"
        "        ret\n"
        "1:      ud2\n");

long call_with_patterns(long number, const uint64_t *values, struct saved_registers *saved);

static void results_are_what_the_kernel_returns(void)
{
    CHECK_EQUAL(raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0), getpid());
}

static void errors_are_negative_and_leave_errno_alone(void)
{
    errno = 12345;
    CHECK_EQUAL(raw_syscall(__NR_close, -1, 0, 0, 0, 0, 0), -EBADF);
    CHECK_EQUAL(raw_syscall(__NR_munmap, 1, 1, 0, 0, 0, 0), -EINVAL);
    CHECK_EQUAL(errno, 12345);
}

static void all_six_arguments_reach_the_kernel(void)
{
    /* A file's second page, mapped where we say: each of mmap's arguments shows in the result. */
    long page = sysconf(_SC_PAGESIZE);
    int fd = memfd_create("raw_syscall", 0);
    char *place = mmap(NULL, (size_t)page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(fd >= 0 && place != MAP_FAILED);
    CHECK_EQUAL(pwrite(fd, "second", 7, page), 7);
    CHECK_EQUAL(raw_syscall(__NR_mmap, (long)place, page, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, page), place);
    CHECK_TEXT(place, "second");
    munmap(place, (size_t)page);
    close(fd);
}

static void preserved_registers_and_the_stack_pointer_survive(void)
{
    struct saved_registers saved = {{0}};

    CHECK_EQUAL(call_with_patterns(__NR_getpid, patterns, &saved), getpid());
    for (int i = 0; i < PATTERN_COUNT; i++)
        CHECK_EQUAL(saved.values[i], patterns[i]);
}

static const struct check_case cases[] = {
    CHECK_CASE(results_are_what_the_kernel_returns),
    CHECK_CASE(errors_are_negative_and_leave_errno_alone),
    CHECK_CASE(all_six_arguments_reach_the_kernel),
    CHECK_CASE(preserved_registers_and_the_stack_pointer_survive),
};

CHECK_MAIN(cases)
