/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "ring/detail_descriptor.h"
#include "support/check.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char buffer[PATH_MAX + 16];
static struct text_writer out;

static const char *details_of(int fd, unsigned details)
{
    const struct call_fd about = {.pid = getpid(), .fd = fd, .details = details};

    text_init(&out, buffer, sizeof(buffer));
    process_fd_put(&out, &about);
    return buffer;
}

static const char *name_of(int fd)
{
    return details_of(fd, FD_DETAIL_PATH);
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
    char path[] = "/tmp/a\033[31m>-XXXXXX";
    int fd = mkstemp(path);

    CHECK_EQUAL(fd >= 0, 1);
    CHECK_EQUAL(strncmp(name_of(fd), "</tmp/a\\33[31m\\76", 17), 0);
    unlink(path);
    CHECK_EQUAL(strcmp(name_of(fd) + strlen(name_of(fd)) - strlen(">(deleted)"), ">(deleted)"), 0);
    close(fd);
}

static void details_are_those_that_are_asked_for(void)
{
    int fd = open("/dev/null", O_RDONLY), process = (int)syscall(SYS_pidfd_open, getpid(), 0), pair[2];
    char expected[64];

    CHECK_TEXT(details_of(fd, FD_DETAIL_ALL), "</dev/null<char 1:3>>");
    CHECK_TEXT(details_of(fd, FD_DETAIL_SOCKET), "");
    snprintf(expected, sizeof(expected), "<pid:%d>", getpid());
    CHECK_TEXT(details_of(process, FD_DETAIL_ALL), expected);
    CHECK_TEXT(details_of(process, FD_DETAIL_PATH), "<anon_inode:[pidfd]>");
    CHECK_EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    CHECK_EQUAL(strncmp(details_of(pair[0], FD_DETAIL_PATH), "<socket:[", 9), 0);
    CHECK_EQUAL(strncmp(details_of(pair[0], FD_DETAIL_ALL), "<UNIX-STREAM:[", 14), 0);
    CHECK_EQUAL(strstr(buffer, "->") != NULL, 1);
    close(pair[0]);
    close(pair[1]);
    close(process);
    close(fd);
}

/* Memory of a call in which its source has kept descriptors. */
struct kept {
    struct detail_descriptor facts;
    char link[16];
};

static size_t read_kept(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    const struct kept *kept = context;
    uint64_t at = detail_descriptor_at(kept->facts.fd);

    if (address == DETAIL_DESCRIPTORS_AT) {
        memset(bytes_out, 0, size_bytes);
        return size_bytes;
    }
    if (address < at || address + size_bytes > at + sizeof(*kept))
        return 0;
    memcpy(bytes_out, (const char *)kept + (address - at), size_bytes);
    return size_bytes;
}

static void what_was_kept_is_told_and_nothing_else(void)
{
    struct kept kept = {.facts = {.fd = 1, .link_bytes = 9, .mode = S_IFREG}, .link = "/tmp/kept"};
    const struct call_memory memory = {read_kept, &kept};
    struct call_fd fd = {.pid = getpid(), .fd = 1, .details = FD_DETAIL_ALL, .memory = &memory};

    text_init(&out, buffer, sizeof(buffer));
    process_fd_put(&out, &fd);
    CHECK_TEXT(buffer, "</tmp/kept>");
    fd.fd = 2;
    text_init(&out, buffer, sizeof(buffer));
    process_fd_put(&out, &fd);
    CHECK_TEXT(buffer, "");
}

static void processes_have_names(void)
{
    text_init(&out, buffer, sizeof(buffer));
    process_name_put(&out, getpid());
    CHECK_EQUAL(buffer[0] == '<' && buffer[strlen(buffer) - 1] == '>', 1);
    text_init(&out, buffer, sizeof(buffer));
    process_name_put(&out, 67108863);
    CHECK_TEXT(buffer, "");
}

static const struct check_case cases[] = {
    CHECK_CASE(descriptors_are_files_folders_or_nothing),
    CHECK_CASE(names_cannot_move_the_cursor),
    CHECK_CASE(details_are_those_that_are_asked_for),
    CHECK_CASE(what_was_kept_is_told_and_nothing_else),
    CHECK_CASE(processes_have_names),
};

CHECK_MAIN(cases)
