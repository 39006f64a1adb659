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
 * run-time library of a sanitizer would take it for that thread. And for code that never returns on a stack of ours,
 * whose frame would stay forbidden memory.
 */
#define UNSANITIZED __attribute__((no_sanitize("address", "undefined", "thread")))

/* Parameter number `text` is a printf-like text for the arguments from number `first` on (0: they are a va_list). */
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

/* Who holds which lock: clang checks it with -Wthread-safety, other compilers skip it. */
#ifdef __clang__
#define LOCK_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define LOCK_ATTRIBUTE(attribute)
#endif
#define CAPABILITY(name)           LOCK_ATTRIBUTE(capability(name))
#define GUARDED_BY(lock)           LOCK_ATTRIBUTE(guarded_by(lock))
#define REQUIRES(lock)             LOCK_ATTRIBUTE(requires_capability(lock))
#define ACQUIRES(lock)             LOCK_ATTRIBUTE(acquire_capability(lock))
#define RELEASES(lock)             LOCK_ATTRIBUTE(release_capability(lock))
#define TRY_ACQUIRES(result, lock) LOCK_ATTRIBUTE(try_acquire_capability(result, lock))
#define NO_THREAD_SAFETY_ANALYSIS  LOCK_ATTRIBUTE(no_thread_safety_analysis)

#endif
