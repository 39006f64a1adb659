/* SPDX-License-Identifier: MIT */
/* The kernel's part of a trace, for tests. */
#ifndef GAIT_TESTS_KERNEL_TRACE_H
#define GAIT_TESTS_KERNEL_TRACE_H

#include "support/trace_folder.h"
#include "trace/kernel_events.h"

/* Definitions, one behind the other. */
void kernel_trace_put_source(struct trace_bytes *bytes, uint32_t id, const char *spec, const char *name,
                             const struct kernel_field *fields, uint32_t field_count);
void kernel_trace_put_thread(struct trace_bytes *bytes, uint32_t tid, uint64_t time, const char *name);
void kernel_trace_put_function(struct trace_bytes *bytes, uint64_t start, uint64_t end, const char *name);
void kernel_trace_put_total(struct trace_bytes *bytes, uint32_t id, uint64_t events, uint64_t lost);

/* An event as it is. */
void kernel_trace_put_record(struct trace_bytes *bytes, const struct kernel_event *event);

/* An event of thread 100 with a number as its only field; of the kernel's stack an address, if it is not 0. */
void kernel_trace_put_event(struct trace_bytes *bytes, uint16_t source, uint64_t time, uint64_t number, uint64_t frame);

/*
 * Two sources, "tick" with the fields number and text, "tock" without a total; events on CPUs 0 and 1 at 1100, 1200,
 * 1300 and 1400, in turns; 5 were lost of tick.
 */
void kernel_trace_put_example(const struct trace_folder *folder);

/*
 * On CPU 0, thread 100 runs from 1100 to 1200, where it waits until thread 200 wakes it at 1250, and from 1300 to 1400,
 * where it is pushed aside. The profile "profile:hz:100" samples it at 1150 and 1160, in the kernel's function
 * "ticking" (0x1000 to 0x2000), at 0x401104 and, behind a call, 0x401205 of the program.
 */
void kernel_trace_put_run(const struct trace_folder *folder);

#endif
