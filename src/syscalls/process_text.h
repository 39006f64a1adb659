/* SPDX-License-Identifier: MIT */
/* Structs about processes and the machine. Stateless; callable from any thread. */
#ifndef GAIT_SYSCALLS_PROCESS_TEXT_H
#define GAIT_SYSCALLS_PROCESS_TEXT_H

#include "syscalls/call_text.h"

/* {WIFEXITED(s) && WEXITSTATUS(s) == 0} */
void process_text_put_status(const struct call_text *text, const void *status);

void process_text_put_rusage(const struct call_text *text, const void *rusage);
void process_text_put_rlimit(const struct call_text *text, const void *rlimit);
void process_text_put_rlimit64(const struct call_text *text, const void *rlimit);
void process_text_put_utsname(const struct call_text *text, const void *utsname);
void process_text_put_sysinfo(const struct call_text *text, const void *sysinfo);
void process_text_put_cap_header(const struct call_text *text, const void *header);
void process_text_put_cap_data(const struct call_text *text, const void *data);

/* Structs of as many bytes as the program says. */
void process_text_put_clone_args(const struct call_text *text, uint64_t address, uint64_t size_bytes);
void process_text_put_sched_attr(const struct call_text *text, uint64_t address, uint64_t size_bytes);

/* The arguments of clone, by name: those that are known when it begins, and what comes behind them when it has ended.
 */
void process_text_put_clone(const struct call_text *text);
void process_text_put_clone_end(const struct call_text *text);

/* What clone3 has put where its arguments say. */
void process_text_put_clone3_end(const struct call_text *text, uint64_t address, uint64_t size_bytes);

#endif
