/* SPDX-License-Identifier: MIT */
/* Code that changes although no mapping of it can be written: through /proc/self/mem, its file, or by pages given up.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUNDS 50

typedef int (*function)(void);

__attribute__((noinline, aligned(64))) static int changed(void)
{
    __asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop");
    return 1;
}

/* mov $value, %eax; ret */
static const uint8_t *code_of(int value)
{
    static uint8_t code[] = {0xb8, 0, 0, 0, 0, 0xc3};

    memcpy(code + 1, &value, sizeof(value));
    return code;
}

static int write_memory(const char *path, function volatile called)
{
    int fd = open(path, O_RDWR), sum = 0;

    for (int i = 0; i < ROUNDS; i++) {
        if (pwrite(fd, code_of(i), 6, (off_t)(uintptr_t)called) != 6)
            return -1;
        sum = sum * 3 + called();
    }
    close(fd);
    return sum;
}

static int write_file(int fd, int flags)
{
    function mapped = (function)mmap(NULL, 4096, PROT_READ | PROT_EXEC, flags, fd, 0);
    int sum = 0;

    for (int i = 0; i < ROUNDS; i++) {
        if (pwrite(fd, code_of(i + 1000), 6, 0) != 6)
            return -1;
        sum = sum * 3 + mapped();
    }
    return sum;
}

/* What was written in pages of our own is gone with them: the file's come instead. */
static int give_up(int fd, int value)
{
    uint8_t *mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    int sum;

    memcpy(mapped, code_of(value), 6);
    mprotect(mapped, 4096, PROT_READ | PROT_EXEC);
    sum = ((function)mapped)();
    madvise(mapped, 4096, MADV_DONTNEED);
    return sum * 3 + ((function)mapped)();
}

int main(void)
{
    int fd = memfd_create("code", 0), sum = 0;
    char path[64];

    if (ftruncate(fd, 4096) != 0)
        return 1;
    printf("%d\n", changed());
    printf("%d\n", write_file(fd, MAP_SHARED));
    for (int i = 0; i < ROUNDS; i++)
        sum = sum * 3 + give_up(fd, i);
    printf("%d\n", sum);
    printf("%d\n", write_memory("/proc/self/mem", changed));
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)getpid());
    printf("%d\n", write_memory(path, changed));
    return 0;
}
