/* SPDX-License-Identifier: MIT */
/*
 * The agent as part of the file that this program was started from. A program that is about to begin can map it from
 * there, which is quicker than to have it copied.
 */
#ifndef GAIT_INJECT_AGENT_FILE_H
#define GAIT_INJECT_AGENT_FILE_H

#include "base/attributes.h"
#include "inject/remote.h"

#include <stdint.h>

extern const uint8_t agent_image[], agent_image_end[];

/*
 * Maps the first size_bytes of the image, whole pages, at `start` in the process of a fresh tracee, in the place of
 * what is there, for reading and executing. Where it is open there comes back in *fd_out, if it is: to be closed before
 * the program begins. Any error: nothing else has changed, and the image can only be copied. It cannot be opened there,
 * it is another file by now, or the system does not want it.
 */
MUST_USE int agent_file_map(struct tracee *tracee, const struct remote_place *place, uint64_t start,
                            uint64_t size_bytes, int *fd_out);

#endif
