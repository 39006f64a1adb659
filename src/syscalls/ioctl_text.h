/* SPDX-License-Identifier: MIT */
/* ioctl: commands by name, and what they take and answer where that is common. Stateless; callable from any thread. */
#ifndef GAIT_SYSCALLS_IOCTL_TEXT_H
#define GAIT_SYSCALLS_IOCTL_TEXT_H

#include "syscalls/call_text.h"

void ioctl_text_put_command(const struct call_text *text, uint32_t command);

/* Whether the argument of this command is an answer. */
bool ioctl_text_is_answer(uint32_t command);

/* Whether the command takes no argument at all. */
bool ioctl_text_is_alone(uint32_t command);

void ioctl_text_put_argument(const struct call_text *text, uint32_t command, uint64_t argument);

#endif
