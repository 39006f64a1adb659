/* SPDX-License-Identifier: MIT */
/*
 * How calls are to be written: how much of what they point at, and how it is spelled. One struct for all texts of
 * calls; what depends on the call is turned into what holds for this one by call_text_options_for. Plain values.
 */
#ifndef GAIT_SYSCALLS_CALL_TEXT_OPTIONS_H
#define GAIT_SYSCALLS_CALL_TEXT_OPTIONS_H

#include "syscalls/quoted_text.h"
#include "syscalls/system_call_set.h"

struct call_memory;
struct text_writer;

/* How constants and flags are spelled. The value is what text_writer.style is while calls are written. */
enum call_text_constants {
    CALL_TEXT_NAMES,   /* O_RDONLY */
    CALL_TEXT_NUMBERS, /* 0 */
    CALL_TEXT_BOTH,    /* the number, and its name in a comment */
};

/* Of which calls there is to be more or less. */
struct call_text_sets {
    struct system_call_set whole;   /* structs are written whole */
    struct system_call_set shallow; /* of structs, only where they are */
    struct system_call_set numbers; /* all arguments are numbers */
};

/* What is told of descriptors. */
enum fd_detail {
    FD_DETAIL_PATH = 1,
    FD_DETAIL_SOCKET = 2, /* its protocol and addresses */
    FD_DETAIL_DEVICE = 4, /* numbers of devices */
    FD_DETAIL_PIDFD = 8,  /* the process */
    FD_DETAIL_ALL = 15,
};

/* A descriptor that a call has to do with. */
struct call_fd {
    int pid;
    int fd;                           /* AT_FDCWD: the process's folder */
    unsigned details;                 /* enum fd_detail */
    enum quoted_text_hex hex;         /* how names are spelled */
    const struct call_memory *memory; /* of the call: sources that keep what a descriptor was have it there */
};

struct call_text_options {
    unsigned string_bytes; /* how much of strings and buffers is shown */
    bool is_verbose;       /* whole structs */
    bool is_shallow;       /* structs are not looked at: where they are is shown */
    bool is_raw;           /* arguments and results are numbers in hexadecimal */
    enum quoted_text_hex hex;
    enum call_text_constants constants;
    const struct call_text_sets *sets; /* NULL: the above holds for all calls */
    /* Writes what a descriptor of the process is: "<file>", or nothing. NULL: not wanted. */
    void (*put_fd)(struct text_writer *out, const struct call_fd *fd);
    unsigned fd_details; /* enum fd_detail */
    /* Writes which program a process runs: "<cat>", or nothing. NULL: not wanted. */
    void (*put_pid)(struct text_writer *out, int pid);
    /* Which of netlink's protocols a descriptor of the process speaks; -1: none. NULL: that is not to be known. */
    int (*netlink_protocol)(int pid, int fd);
};

/* What holds for calls of that number. */
static inline struct call_text_options call_text_options_for(const struct call_text_options *options, uint64_t number)
{
    struct call_text_options own = *options;

    if (options->sets == NULL)
        return own;
    own.is_verbose |= system_call_set_has(&options->sets->whole, number);
    own.is_shallow |= system_call_set_has(&options->sets->shallow, number);
    own.is_raw |= system_call_set_has(&options->sets->numbers, number);
    return own;
}

#endif
