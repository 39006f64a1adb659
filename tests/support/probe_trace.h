/* SPDX-License-Identifier: MIT */
/* Adds probes that were passed to a small trace. Ends the program if that fails. */
#ifndef GAIT_TESTS_PROBE_TRACE_H
#define GAIT_TESTS_PROBE_TRACE_H

#include "support/trace_folder.h"

/*
 * The process gets the probes shop:order (a number with a sign and a string) and shop:idle (no arguments); its first
 * thread passes order with -7 and "tea", idle, order with 8 and "milk", and one that the manifest does not have; at
 * times 2000, 3000, 4000 and 5000, at the address `place` + 16 times the number of the probe.
 */
void probe_trace_put(const struct trace_folder *folder, uint32_t pid, uint64_t place);

#endif
