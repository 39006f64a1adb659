/* SPDX-License-Identifier: MIT */
/*
 * The compiler attributes that declarations carry, under names that say what they demand of the caller. Usable
 * anywhere.
 */
#ifndef GAIT_BASE_ATTRIBUTES_H
#define GAIT_BASE_ATTRIBUTES_H

/* The result says whether it worked; dropping it is a bug. */
#define MUST_USE __attribute__((warn_unused_result))

/*
 * Left alone by sanitizers. For code that runs with another thread's pointer to thread-local data, or with none: the
 * run-time library of a sanitizer would take it for that thread.
 */
#define UNSANITIZED __attribute__((no_sanitize("address", "undefined", "thread")))

/* Parameter number `text` is a printf-like text for the arguments from number `first` on (0: they are a va_list). */
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

#endif
