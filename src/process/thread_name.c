/* SPDX-License-Identifier: MIT */
#include "process/thread_name.h"

#include "base/descriptor.h"
#include "base/raw_syscall.h"
#include "base/text_format.h"

#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/prctl.h>

void thread_name_own(char name_out[THREAD_NAME_BYTES])
{
    name_out[0] = '\0';
    (void)raw_syscall(__NR_prctl, PR_GET_NAME, (long)name_out, 0, 0, 0, 0);
    name_out[THREAD_NAME_BYTES - 1] = '\0';
}

void thread_name_of(int tid, char name_out[THREAD_NAME_BYTES])
{
    char path[48];
    struct text_writer text;
    long fd, got;

    text_init(&text, path, sizeof(path));
    text_format(&text, "/proc/self/task/%d/comm", tid);
    fd = descriptor_open(path, O_RDONLY);
    name_out[0] = '\0';
    if (fd < 0)
        return;
    got = raw_syscall(__NR_read, fd, (long)name_out, THREAD_NAME_BYTES, 0, 0, 0);
    /* A line feed follows it. */
    name_out[got > 0 ? got - 1 : 0] = '\0';
    (void)raw_syscall(__NR_close, fd, 0, 0, 0, 0, 0);
}
