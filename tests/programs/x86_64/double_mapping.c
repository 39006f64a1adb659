/* SPDX-License-Identifier: MIT */
/* Code in a file in memory, written through one mapping and executed through another, also while it runs. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUNDS 300

typedef int (*function)(int);

static uint8_t *written;
static const uint8_t *executed;

/* add $value, %edi; mov %edi, %eax; ret */
static void put(uint8_t *place, int value)
{
    uint8_t code[] = {0x81, 0xc7, 0, 0, 0, 0, 0x89, 0xf8, 0xc3};

    memcpy(code + 2, &value, 4);
    memcpy(place, code, sizeof(code));
    __builtin___clear_cache((char *)place, (char *)place + sizeof(code));
}

/* xor %eax, %eax; 1: add $1, %eax; jmp 1b; where the jump is made a ret; nop by somebody else */
static const uint8_t endless[] = {0x31, 0xc0, 0x83, 0xc0, 0x01, 0xeb, 0xfb};

static void *stop(void *argument)
{
    usleep(2000);
    __atomic_store_n((uint16_t *)(written + 2048 + 6), 0x90c3, __ATOMIC_RELEASE);
    return argument;
}

int main(void)
{
    int fd = memfd_create("code", 0), sum = 0, stopped = 0;

    if (ftruncate(fd, 4096) != 0)
        return 1;
    written = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    executed = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    for (int i = 0; i < ROUNDS; i++) {
        put(written + i % 3 * 64, i);
        sum += ((function)(uintptr_t)(executed + i % 3 * 64))(1000);
        sum += ((function)(uintptr_t)executed)(1);
    }
    for (int i = 0; i < 20; i++) {
        pthread_t thread;

        /* The jump is in an aligned word. */
        memcpy(written + 2048 + 1, endless, sizeof(endless));
        pthread_create(&thread, NULL, stop, NULL);
        stopped += ((function)(uintptr_t)(executed + 2048 + 1))(0) > 0;
        pthread_join(thread, NULL);
    }
    printf("%d, stopped %d times\n", sum, stopped);
    return 0;
}
