/* SPDX-License-Identifier: MIT */
/*
 * Static probes of a session that follows nothing: each is armed by a jump in its place, as functions are hooked. One
 * for the process; the caller sees to it that there is one call at a time.
 */
#ifndef GAIT_AGENT_PROBE_HOOKS_H
#define GAIT_AGENT_PROBE_HOOKS_H

#include <stdint.h>

struct hook_image;
struct probe_search;

/*
 * Adds hooks for probes of a file, which was surveyed; of functions that are planned afterwards none takes their bytes.
 * Returns the patterns that mean some.
 */
uint64_t probe_hooks_add(const struct probe_search *search, struct hook_image *image);

#endif
