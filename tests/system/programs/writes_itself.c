/* SPDX-License-Identifier: MIT */
/* Opens its own memory, says so, and rewrites a function by it for a while: how often that returned what it was before.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define ROUNDS 1500

__attribute__((noinline, aligned(64))) static int rewritten(void)
{
    __asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop");
    return 1;
}

int main(void)
{
    /* mov $value, %eax; ret */
    unsigned char code[] = {0xb8, 0, 0, 0, 0, 0xc3};
    int (*volatile called)(void) = rewritten;
    int fd = open("/proc/self/mem", O_RDWR), wrong = 0;

    printf("ready\n");
    fflush(stdout);
    for (int i = 0; i < ROUNDS; i++) {
        code[1] = (unsigned char)(i % 100);
        if (pwrite(fd, code, sizeof(code), (off_t)(uintptr_t)called) != sizeof(code))
            return 1;
        for (int k = 0; k < 20; k++)
            wrong += called() != i % 100;
        usleep(1000);
    }
    printf("wrong %d times\n", wrong);
    return 0;
}
