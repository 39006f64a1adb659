/* SPDX-License-Identifier: MIT */
/*
 * How a command ends that has read a trace, the same for all: one that is cut off, since it is still recorded or the
 * recording was killed, is read as far as it goes, with a warning; what is damaged or cannot be read is a failure,
 * though all the rest was shown.
 */
#ifndef GAIT_CLI_READING_STATUS_H
#define GAIT_CLI_READING_STATUS_H

#include "cli/command.h"

/* After all was shown, with its result; call->error says what could not be read. What stays in it is a warning. */
enum command_status reading_status(const struct command_call *call, int result);

#endif
