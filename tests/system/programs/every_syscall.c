/* SPDX-License-Identifier: MIT */
/*
 * Makes each system call that strace 6.1 knows, with -DVALUE=... as all arguments. Only to be run where all of them are
 * made to fail, so that none does anything; without libc, which would miss its own. x86_64.
 */
#define LAST 450

static long make_call(long number, long value)
{
    register long fourth __asm__("r10") = value;
    register long fifth __asm__("r8") = value;
    register long sixth __asm__("r9") = value;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(value), "S"(value), "d"(value), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return result;
}

void _start(void);
void _start(void)
{
    for (long number = 0; number <= LAST; number++) {
        /* Returning from a handler; programs and exits, which are not made to fail; and there are none behind 334. */
        if (number == 15 || number == 59 || number == 60 || number == 231 || number == 322 ||
            (number > 334 && number < 424))
            continue;
        (void)make_call(number, VALUE);
    }
    (void)make_call(231, 0);
}
