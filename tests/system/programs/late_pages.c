/* SPDX-License-Identifier: MIT */
/*
 * Memory whose pages a thread provides when it is told to, by a line of input, right behind the stack of that thread:
 * until then nobody can read them, and whoever does waits. The main thread does.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE        4096
#define STACK_BYTES (64 * PAGE)

static char *stack; /* and a page behind it */

static void *serve(void *argument)
{
    static char content[PAGE] __attribute__((aligned(PAGE)));
    int fd = *(int *)argument;
    struct uffdio_copy copy = {.dst = (uintptr_t)stack + STACK_BYTES, .src = (uintptr_t)content, .len = PAGE};
    char character;

    puts("waiting");
    fflush(stdout);
    while (read(0, &character, 1) == 1 && character != '\n')
        ;
    memset(content, 42, PAGE);
    ioctl(fd, UFFDIO_COPY, &copy);
    return NULL;
}

int main(void)
{
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    pthread_attr_t attributes;
    pthread_t thread;

    stack = mmap(NULL, STACK_BYTES + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    range.range.start = (uintptr_t)stack + STACK_BYTES;
    range.range.len = PAGE;
    if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0 || ioctl(fd, UFFDIO_REGISTER, &range) != 0) {
        puts("none here");
        return 77;
    }
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, STACK_BYTES);
    pthread_create(&thread, &attributes, serve, &fd);
    printf("read %d\n", *(volatile char *)(stack + STACK_BYTES));
    pthread_join(thread, NULL);
    return 0;
}
