/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "support/check.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static char buffer[PATH_MAX + 16];
static struct text_writer out;

static const char *name_of(int fd)
{
    text_init(&out, buffer, sizeof(buffer));
    process_fd_put(&out, getpid(), fd);
    return buffer;
}

static void descriptors_are_files_folders_or_nothing(void)
{
    int fd = open("/dev/null", O_RDONLY);
    char folder[PATH_MAX], expected[PATH_MAX + 2];

    CHECK_TEXT(name_of(fd), "</dev/null>");
    close(fd);
    CHECK_TEXT(name_of(fd), "");
    CHECK_EQUAL(getcwd(folder, sizeof(folder)) != NULL, 1);
    snprintf(expected, sizeof(expected), "<%s>", folder);
    CHECK_TEXT(name_of(AT_FDCWD), expected);
}

static void names_cannot_move_the_cursor(void)
{
    char path[] = "/tmp/a\033[31m>XXXXXX";
    int fd = mkstemp(path);

    CHECK_EQUAL(fd >= 0, 1);
    CHECK_EQUAL(strncmp(name_of(fd), "</tmp/a\\033[31m\\076", 19), 0);
    unlink(path);
    close(fd);
}

static const struct check_case cases[] = {
    CHECK_CASE(descriptors_are_files_folders_or_nothing),
    CHECK_CASE(names_cannot_move_the_cursor),
};

CHECK_MAIN(cases)
