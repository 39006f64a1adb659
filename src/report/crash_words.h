/* SPDX-License-Identifier: MIT */
/* How a process died, in words: names of places and of registers. One thread at a time. */
#ifndef GAIT_REPORT_CRASH_WORDS_H
#define GAIT_REPORT_CRASH_WORDS_H

#include <stddef.h>
#include <stdint.h>

struct crash_signal;
struct function_names;
struct trace_report;

/* What a register of the record is called. */
const char *report_register_name(const struct crash_signal *signal, uint32_t number);

/* "function+0x12", or the address if it has no name; at some time from `first` to `last`. Returns the text. */
struct report_place {
    const struct trace_report *report;
    size_t process;
    struct function_names *names;
};
const char *report_place_write(const struct report_place *place, uint64_t address, uint64_t first, uint64_t last,
                               char *text, size_t text_bytes);

#endif
