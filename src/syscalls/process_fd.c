/* SPDX-License-Identifier: MIT */
#include "syscalls/subject_texts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

void process_fd_put(struct text_writer *out, int pid, int fd)
{
    char link[64], path[PATH_MAX];
    ssize_t length;

    if (fd == AT_FDCWD)
        snprintf(link, sizeof(link), "/proc/%d/cwd", pid);
    else
        snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, fd);
    length = readlink(link, path, sizeof(path));
    if (length <= 0)
        return;
    text_put_char(out, '<');
    for (ssize_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)path[i];

        /* Whoever reads it must know where it ends, and keep his terminal. */
        if (byte < ' ' || byte >= 0x7f || byte == '<' || byte == '>' || byte == '\\')
            text_format(out, "\\%c%c%c", '0' + (byte >> 6), '0' + (byte >> 3 & 7), '0' + (byte & 7));
        else
            text_put_char(out, (char)byte);
    }
    text_put_char(out, '>');
}
