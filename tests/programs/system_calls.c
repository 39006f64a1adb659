/* SPDX-License-Identifier: MIT */
/* System calls in loops: files, memory, pipes, and ones that fail. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static unsigned through_pipe(void)
{
    unsigned char data[512];
    unsigned sum = 0;
    int ends[2];

    if (pipe(ends) != 0)
        return 0;
    for (unsigned i = 0; i < 1000; i++) {
        memset(data, (int)i, sizeof(data));
        if (write(ends[1], data, sizeof(data)) != sizeof(data) || read(ends[0], data, sizeof(data)) != sizeof(data))
            return 0;
        sum = sum * 3 + data[i % sizeof(data)];
    }
    close(ends[0]);
    close(ends[1]);
    return sum;
}

static int failures(void)
{
    const void *volatile nowhere = (const void *)8;
    char byte;
    int count = 0;

    count += read(-1, &byte, 1) == -1 && errno == EBADF;
    count += open("/nonexistent", O_RDONLY) == -1 && errno == ENOENT;
    count += write(1, nowhere, 10) == -1 && errno == EFAULT;
    count += syscall(100000) == -1 && errno == ENOSYS;
    count += mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL;
    return count;
}

static unsigned memory(void)
{
    unsigned sum = 0;
    char *start = sbrk(0);

    for (unsigned i = 1; i < 200; i++) {
        size_t bytes = i * 4096;
        unsigned char *area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        area[bytes - 1] = (unsigned char)i;
        area = mremap(area, bytes, bytes * 2, MREMAP_MAYMOVE);
        sum = sum * 3 + area[bytes - 1] + area[bytes];
        munmap(area, bytes * 2);
    }
    sum += sbrk(8192) == start && brk(start) == 0 ? 1 : 0;
    return sum;
}

int main(void)
{
    struct iovec parts[] = {{"in ", 3}, {"several ", 8}, {"parts\n", 6}};
    struct stat status;

    printf("pipe %08x, failures %d, memory %08x\n", through_pipe(), failures(), memory());
    fflush(stdout);
    printf("%zd written\n", writev(1, parts, 3));
    printf("%d %d\n", fstat(0, &status), getpid() == syscall(SYS_getpid));
    return 0;
}
