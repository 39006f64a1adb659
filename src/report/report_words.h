/* SPDX-License-Identifier: MIT */
/* What reports say of processes, crashes, calls and probes, in words. One thread at a time. */
#ifndef GAIT_REPORT_REPORT_WORDS_H
#define GAIT_REPORT_REPORT_WORDS_H

#include "symbolize/call_arguments.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crash_signal;
struct detail_count;
struct function_names;
struct manifest_process;
struct manifest_thread;
struct probe_count;
struct trace_report;
struct view_process;
struct view_thread;
struct view_trace;

/* ---- processes and threads, by the manifest: how long, how they ended, why they were left ------------------------ */

/* NULL: the manifest does not know them. */
const struct manifest_process *report_listed_process(const struct view_trace *trace,
                                                     const struct view_process *process);
const struct manifest_thread *report_listed_thread(const struct view_trace *trace, const struct view_thread *thread);

/* From the first to the last moment that is known; 0: that is not known. */
uint64_t report_duration_ns(const struct trace_report *report);

/* "exit status 3", "killed by signal 9 (SIGKILL)", or nothing if that is not known. Returns the text. */
const char *report_status_write(int status, char *text, size_t text_bytes);

/* Whether a process was ended by a signal, or said how it died. */
bool report_has_crash(const struct trace_report *report, size_t process);

/* Why a thread was not followed any further, in words: of enum ring_left_reason. */
const char *report_left_explain(uint32_t reason);

/* ---- how a process died: names of places and of registers -------------------------------------------------------- */

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

/* ---- functions whose calls were looked at closely, and probes ---------------------------------------------------- */

struct report_details {
    const struct trace_report *report;
    struct function_names *names;
    struct call_arguments arguments; /* what is known of them */
    double tick_ns;                  /* how long a tick of the counter is */
};

/* One function's, in words. What is in them is printable but for the name. */
struct report_detail {
    char name[512];
    char arguments[DETAIL_TEXT_BYTES]; /* of the last call */
    char result[DETAIL_TEXT_BYTES];    /* of the last one that returned; empty: none did */
};

/* Both must outlive it. -ENOMEM. */
MUST_USE int report_details_init(struct report_details *details, const struct trace_report *report,
                                 struct function_names *names);
void report_details_deinit(struct report_details *details);

/* Puts what is known of a function of that process into words. */
void report_detail_write(struct report_details *details, size_t process, const struct detail_count *count,
                         struct report_detail *detail_out);

/* What a probe was given when it was passed the last time. */
void report_probe_write_arguments(const struct probe_count *count, char bytes[DETAIL_TEXT_BYTES]);

#endif
