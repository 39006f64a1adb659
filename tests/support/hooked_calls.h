/* SPDX-License-Identifier: MIT */
/*
 * Calls of hooked functions for the example of trace_folder.h, out of text: "<0@2000 <1@2010 >1@2030 !0@2050" enters
 * the functions of blocks 0 and 1, leaves the second and unwinds the first, with their times. The functions are called
 * example+0x1000, example+0x1100 and example+0x1200.
 */
#ifndef GAIT_TESTS_HOOKED_CALLS_H
#define GAIT_TESTS_HOOKED_CALLS_H

#include "support/trace_folder.h"

/* Replaces what the thread did: 100 or 101. */
void hooked_calls_put(const struct trace_folder *folder, uint32_t tid, const char *calls);

#endif
