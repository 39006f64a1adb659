/* SPDX-License-Identifier: MIT */
/* The part of a report that says how processes died: where, with which registers, and what threads did last. */
#ifndef GAIT_CLI_REPORT_CRASH_H
#define GAIT_CLI_REPORT_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crash_signal;
struct function_names;
struct screen;
struct trace_report;

/* Shows nothing if no process was ended by a signal. */
void report_crash(struct screen *screen, const struct trace_report *report, struct function_names *names);

/* Whether a process was ended by one, or said how it died. */
bool report_has_crash(const struct trace_report *report, size_t process);

/* What a register of the record is called. */
const char *report_register_name(const struct crash_signal *signal, uint32_t number);

/* "function+0x12", or the address if nobody knows; at some time from `first` to `last`. Returns the text. */
struct report_place {
    const struct trace_report *report;
    size_t process;
    struct function_names *names;
};
const char *report_place_write(const struct report_place *place, uint64_t address, uint64_t first, uint64_t last,
                               char *text, size_t text_bytes);

#endif
