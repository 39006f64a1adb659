/* SPDX-License-Identifier: MIT */
/* What a system call returned. Stateless; callable from any thread. */
#ifndef GAIT_SYSCALLS_RESULT_TEXT_H
#define GAIT_SYSCALLS_RESULT_TEXT_H

#include "syscalls/call_text.h"

/* "3", "0x7f0000", "-1 ENOENT (No such file or directory)", "1 ([{fd=3, revents=POLLIN}])", "?". */
void result_text_put(const struct call_text *text, const struct system_call *call, unsigned flags);

#endif
