/* SPDX-License-Identifier: MIT */
/*
 * ASSERT is for our own bugs, never for what a program, a user or the system may do. In release builds (NDEBUG) it is
 * gone. What a failure does is a hook, because inside the target nobody may print or abort: the default writes the text
 * to descriptor 2 by a raw system call and traps.
 */
#ifndef GAIT_BASE_ASSERT_H
#define GAIT_BASE_ASSERT_H

/* Called with the failed condition's text and place. Returning from it goes on after the assertion. */
typedef void (*assert_handler)(const char *text, const char *file, int line);

/* Replaces the handler; NULL brings the default back. Not thread-safe: call it before threads are started. */
void assert_handler_set(assert_handler handler);

void assert_failed(const char *text, const char *file, int line);

#ifdef NDEBUG
#define ASSERT(condition, text) ((void)sizeof(!(condition)))
#else
#define ASSERT(condition, text) ((condition) ? (void)0 : assert_failed(text, __FILE__, __LINE__))
#endif

#endif
