/* SPDX-License-Identifier: MIT */
/* Structs of times, as the kernel lays them out where long has 64 bits. Stateless; callable from any thread. */
#ifndef GAIT_SYSCALLS_TIME_TEXT_H
#define GAIT_SYSCALLS_TIME_TEXT_H

#include "syscalls/call_text.h"

void time_text_put_timespec(const struct call_text *text, const void *timespec);
void time_text_put_timeval(const struct call_text *text, const void *timeval);
void time_text_put_timezone(const struct call_text *text, const void *zone);
void time_text_put_itimerval(const struct call_text *text, const void *itimerval);
void time_text_put_itimerspec(const struct call_text *text, const void *itimerspec);
void time_text_put_utimbuf(const struct call_text *text, const void *utimbuf);
void time_text_put_tms(const struct call_text *text, const void *tms);
void time_text_put_timex(const struct call_text *text, const void *timex);

/* A timespec that may say "now" or "leave it". */
void time_text_put_utime(const struct call_text *text, const void *timespec);

/* Behind a date in seconds: the date, as a comment. */
void time_text_put_date(const struct call_text *text, int64_t seconds, int64_t nanoseconds);

#endif
