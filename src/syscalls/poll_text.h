/* SPDX-License-Identifier: MIT */
/* What programs wait for: poll, select, epoll. Stateless; callable from any thread. */
#ifndef GAIT_SYSCALLS_POLL_TEXT_H
#define GAIT_SYSCALLS_POLL_TEXT_H

#include "syscalls/call_text.h"

void poll_text_put_pollfd(const struct call_text *text, const void *pollfd);
void poll_text_put_epoll_event(const struct call_text *text, const void *event);

/* [3 5]: the descriptors below count that are in the set. */
void poll_text_put_fd_set(const struct call_text *text, uint64_t address, uint64_t count);

/* The same for CPUs: runs of them are written as ranges are by strace, that is, each. */
void poll_text_put_cpu_set(const struct call_text *text, uint64_t address, uint64_t size_bytes);

/* What is written behind the result: " (Timeout)", " ([{fd=3, revents=POLLIN}])", " (in [3], left {...})". */
void poll_text_put_poll_result(const struct call_text *text, bool has_timespec);
void poll_text_put_select_result(const struct call_text *text, bool has_timespec);

#endif
