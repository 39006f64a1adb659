/* SPDX-License-Identifier: MIT */
/*
 * Log records for those who work on gait. A record has a domain (log_domains.def) and a level. Records above
 * LOG_LEVEL_COMPILED are not in the program at all; others cost one load while their domain's level is off. Inside the
 * target nobody may print, so there is no sink until somebody sets one: records without a sink are counted and dropped.
 * No locks, no memory, no libc: callable from any thread, in signal handlers and inside the target.
 */
#ifndef GAIT_BASE_LOG_H
#define GAIT_BASE_LOG_H

#include "base/attributes.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_domain {
#define LOG_DOMAIN(name, explanation) LOG_DOMAIN_##name,
#include "base/log_domains.def"
#undef LOG_DOMAIN
    LOG_DOMAIN_COUNT
};

enum log_level {
    LOG_LEVEL_error,   /* something that was asked for is not done */
    LOG_LEVEL_warning, /* it is done in a worse way, or with a doubt */
    LOG_LEVEL_info,    /* once per start, attach, module, ... */
    LOG_LEVEL_debug,   /* once per block, hook, patch, ... */
    LOG_LEVEL_COUNT
};

/* The most talkative level that is compiled in. */
#ifndef LOG_LEVEL_COMPILED
#ifdef NDEBUG
#define LOG_LEVEL_COMPILED LOG_LEVEL_info
#else
#define LOG_LEVEL_COMPILED LOG_LEVEL_debug
#endif
#endif

struct log_record {
    enum log_domain domain;
    enum log_level level;
    const char *text; /* ended by a NUL, without a newline; good until the sink returns */
    size_t length;
    bool truncated;
};

/* Where records go. The function is called by whoever logs, at any time and place, and has to do with that. */
struct log_sink {
    void (*write)(void *context, const struct log_record *record);
    void *context;
};

/* A bit for each domain; changed by log_enable only. */
extern _Atomic uint32_t log_enabled_domains[LOG_LEVEL_COUNT];

static inline bool log_is_enabled(enum log_domain domain, enum log_level level)
{
    /* Relaxed: a record more or less around a change does not matter. */
    return (atomic_load_explicit(&log_enabled_domains[level], memory_order_relaxed) >> domain & 1) != 0;
}

/* Logs printf-like, as base/text_format.h has it: LOG(code, warning, "no room within reach of %p", place). */
#define LOG(domain, level, ...)                                                                                        \
    do {                                                                                                               \
        if (LOG_LEVEL_##level <= LOG_LEVEL_COMPILED && log_is_enabled(LOG_DOMAIN_##domain, LOG_LEVEL_##level))         \
            log_write(LOG_DOMAIN_##domain, LOG_LEVEL_##level, __VA_ARGS__);                                            \
    } while (0)

/* What LOG calls. Formats on the stack, up to 255 characters. */
void log_write(enum log_domain domain, enum log_level level, const char *format, ...) PRINTF_LIKE(3, 4);

/*
 * Sets where records go from now on; NULL: nowhere. The sink stays the caller's and must stay good until nobody can be
 * logging any more.
 */
void log_sink_set(const struct log_sink *sink);

/* Lets a domain's records up to a level through and holds the others back. At first: up to warnings. */
void log_enable(enum log_domain domain, enum log_level most_talkative);

/* Holds back all of a domain's records. */
void log_disable(enum log_domain domain);

/* Names, which live forever, and back. -ENOENT. */
const char *log_domain_name(enum log_domain domain);
const char *log_domain_explanation(enum log_domain domain);
const char *log_level_name(enum log_level level);
MUST_USE int log_domain_find(const char *name, enum log_domain *domain_out);
MUST_USE int log_level_find(const char *name, enum log_level *level_out);

#endif
