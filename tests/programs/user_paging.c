/* SPDX-License-Identifier: MIT */
/* Pages that a thread of the program provides when they are touched: by userfaultfd, and by a handler of SIGSEGV. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGES 64
#define PAGE  4096

static char *lazy;
static volatile int served;

static void *serve(void *argument)
{
    int fd = *(int *)argument;
    static char page[PAGE] __attribute__((aligned(PAGE)));
    struct uffd_msg message;

    while (served < PAGES && read(fd, &message, sizeof(message)) == sizeof(message)) {
        uint64_t place = message.arg.pagefault.address & ~(uint64_t)(PAGE - 1);
        struct uffdio_copy copy = {.dst = place, .src = (uintptr_t)page, .len = PAGE};

        memset(page, (int)((place - (uintptr_t)lazy) / PAGE + 1), PAGE);
        ioctl(fd, UFFDIO_COPY, &copy);
        served++;
    }
    return NULL;
}

static long sum_pages(void)
{
    long sum = 0;

    for (int i = 0; i < PAGES; i++)
        sum += lazy[i * PAGE + i] * (i + 1);
    return sum;
}

static void by_descriptor(void)
{
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register range = {.range = {0, PAGES * PAGE}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    pthread_t thread;

    lazy = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    range.range.start = (uintptr_t)lazy;
    if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0 || ioctl(fd, UFFDIO_REGISTER, &range) != 0) {
        puts("none here");
        return;
    }
    pthread_create(&thread, NULL, serve, &fd);
    printf("by descriptor: %ld\n", sum_pages());
    pthread_join(thread, NULL);
    printf("served %d\n", served);
    close(fd);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    char *page = (char *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1));

    (void)number;
    (void)context;
    if (page < lazy || page >= lazy + PAGES * PAGE)
        _exit(9);
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
    memset(page, (int)((page - lazy) / PAGE + 1), PAGE);
    served++;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    by_descriptor();
    served = 0;
    sigaction(SIGSEGV, &action, NULL);
    lazy = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("by signal: %ld\n", sum_pages());
    printf("served %d\n", served);
    return 0;
}
