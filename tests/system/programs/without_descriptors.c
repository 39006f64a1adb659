/* SPDX-License-Identifier: MIT */
/* A program that may have no descriptors any more, and raise no limit, when it makes code, and runs that. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* lea 1(%rdi), %eax; ret */
static const uint8_t code[] = {0x8d, 0x47, 0x01, 0xc3};

int main(void)
{
    struct rlimit none = {0, 0};
    int sum = 0;
    void *made;

    setrlimit(RLIMIT_NOFILE, &none);
    made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
        return 1;
    memcpy(made, code, sizeof(code));
    mprotect(made, 4096, PROT_READ | PROT_EXEC);
    for (int i = 0; i < 10; i++)
        sum += ((int (*)(int))(uintptr_t)made)(i);
    printf("%d\n", sum);
    return 0;
}
