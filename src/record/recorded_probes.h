/* SPDX-License-Identifier: MIT */
/* The probes that a process has announced, put into the list that the manifest has of them. The recorder's thread. */
#ifndef GAIT_RECORD_RECORDED_PROBES_H
#define GAIT_RECORD_RECORDED_PROBES_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

struct manifest_process;
struct ring_reader;

/*
 * Takes what is new since *place_inout, which is 0 at first. Whether there was anything. -ENOMEM: not all of it was
 * taken, and will be the next time.
 */
MUST_USE int recorded_probes_take(const struct ring_reader *ring, uint64_t *place_inout,
                                  struct manifest_process *process, bool *has_new_out);

#endif
