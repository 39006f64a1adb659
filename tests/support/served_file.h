/* SPDX-License-Identifier: MIT */
/*
 * A server of debug information that is a folder: clients of debuginfod take file:// for a server, too. It has one
 * file, and clients keep what they got, or did not get, in a folder beside it. The environment of the process says so.
 */
#ifndef GAIT_TESTS_SERVED_FILE_H
#define GAIT_TESTS_SERVED_FILE_H

#include <stdbool.h>

/* What the server has, and what is in it. */
#define SERVED_FILE_ID    "0123456789abcdef0123456789abcdef01234567"
#define SERVED_FILE_BYTES "no debug information at all"

struct served_file {
    char folder[32];
};

/* For both questions, "debuginfo" and "executable". Given back by the other, which takes the variables away. */
void served_file_init(struct served_file *served);
void served_file_deinit(struct served_file *served);

/* False: the library of the client is not installed. */
bool served_file_has_client(void);

/* Whether that is what is at the path, or behind the descriptor. */
bool served_file_is_at(const char *path);
bool served_file_is_behind(int fd);

#endif
