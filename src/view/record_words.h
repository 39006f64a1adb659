/* SPDX-License-Identifier: MIT */
/* What probes and system calls of a trace are called. Nothing is kept; any thread. */
#ifndef GAIT_VIEW_RECORD_WORDS_H
#define GAIT_VIEW_RECORD_WORDS_H

#include "trace/manifest.h"

#include <stddef.h>
#include <stdint.h>

struct view_system_call;
struct view_trace;

/* The probe with that number in records of a process; NULL: the manifest does not have it. */
const struct manifest_probe *probe_names_find(const struct view_trace *trace, size_t process, uint64_t number);

/* "provider:name"; of one that is not known, "probe 7". */
void probe_names_put(const struct view_trace *trace, size_t process, uint64_t number, char *text, size_t text_bytes);

#define SYSTEM_CALL_NAME_BYTES 32

/* The name of a system call: "openat", or "syscall_0x1ff" where there is none. */
const char *system_call_name(uint64_t number, char name_out[SYSTEM_CALL_NAME_BYTES]);

/* All of a call as people know it from strace, "close(3) = 0"; the caller frees it. NULL: no memory. */
char *system_call_words(const struct view_system_call *call);

#endif
