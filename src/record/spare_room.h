/* SPDX-License-Identifier: MIT */
/*
 * Room on the disk that a recording holds from its beginning on, in a file without a name, so that on a full disk there
 * is some for what it has to say at its end. Where files must have names, or room cannot be held, there is none.
 */
#ifndef GAIT_RECORD_SPARE_ROOM_H
#define GAIT_RECORD_SPARE_ROOM_H

/* Holds room in an open folder; a descriptor, or -1: there is none. */
int spare_room_hold(int folder);

/* Gives it back; -1 is fine. Always -1. */
int spare_room_release(int spare);

#endif
