/* SPDX-License-Identifier: MIT */
/*
 * What descriptors of this thread are right now, as values of a record (ring/detail_descriptor.h). No descriptor is
 * opened for that: the program might notice. Callable in signal handlers.
 */
#ifndef GAIT_AGENT_DESCRIPTOR_NOTE_H
#define GAIT_AGENT_DESCRIPTOR_NOTE_H

#include "ring/detail_value.h"

/* Notes that descriptors are told of: what is not there is not known. */
void descriptor_note_begin(struct detail_value_writer *writer);

/* Notes one; nothing, if it is not open. AT_FDCWD is the folder of the thread. */
void descriptor_note_put(struct detail_value_writer *writer, int fd);

#endif
