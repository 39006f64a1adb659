/* SPDX-License-Identifier: MIT */
/* System calls as people know them from strace. Stateless; callable from anywhere. */
#ifndef GAIT_VIEW_SYSTEM_CALL_WORDS_H
#define GAIT_VIEW_SYSTEM_CALL_WORDS_H

#include <stdint.h>

struct view_system_call;

#define SYSTEM_CALL_NAME_BYTES 32

/* Its name: "openat", or "syscall_0x1ff" where there is none. */
const char *system_call_name(uint64_t number, char name_out[SYSTEM_CALL_NAME_BYTES]);

/* All of it, "close(3) = 0"; the caller frees it. NULL: no memory. */
char *system_call_words(const struct view_system_call *call);

#endif
