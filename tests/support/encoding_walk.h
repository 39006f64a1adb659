/* SPDX-License-Identifier: MIT */
/*
 * A systematic walk through the x86-64 encodings: every opcode of every map, legacy, 3DNow!, VEX, XOP and EVEX, each
 * with all values of the fields that decide what it is. Divided into independent parts of similar size.
 */
#ifndef GAIT_TESTS_ENCODING_WALK_H
#define GAIT_TESTS_ENCODING_WALK_H

#include <stddef.h>
#include <stdint.h>

#define ENCODING_WALK_BYTES 32

/* One part for each opcode of four legacy maps, of 3DNow!, of 32 VEX, 24 XOP and 8 EVEX maps. */
#define ENCODING_WALK_PARTS (256u * (4 + 1 + 32 + 24 + 8))

/* Calls visit for each encoding of the part. No state; any thread. */
void encoding_walk(size_t part, void (*visit)(void *context, const uint8_t bytes[ENCODING_WALK_BYTES]), void *context);

#endif
