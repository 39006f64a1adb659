/* SPDX-License-Identifier: MIT */
#include "cli/reading_status.h"

#include "trace/stream_reader.h"

enum command_status reading_status(const struct command_call *call, int result)
{
    if (stream_error_is_cut_off(call->error))
        return COMMAND_DONE;
    return result == 0 && call->error->code == 0 ? COMMAND_DONE : COMMAND_FAILED;
}
