/* SPDX-License-Identifier: MIT */
/*
 * Formatting records and handing them to the sink. Invariant: no lock and no memory but the stack, since a record may
 * come from any instruction of the program. Neighbours: text_format.c formats, counters.c counts what is dropped.
 */
#include "base/log.h"

#include "base/counters.h"
#include "base/text_format.h"
#include "base/text_parse.h"

#include <asm/errno.h>
#include <stdarg.h>

#define TEXT_BYTES  256
#define ALL_DOMAINS ((1u << LOG_DOMAIN_COUNT) - 1)

_Static_assert(LOG_DOMAIN_COUNT < 32, "a domain is a bit");

struct name {
    const char *name;
    const char *explanation;
};

static const struct name domain_names[LOG_DOMAIN_COUNT] = {
#define LOG_DOMAIN(name, explanation) {#name, explanation},
#include "base/log_domains.def"
#undef LOG_DOMAIN
};

static const char *const level_names[LOG_LEVEL_COUNT] = {"error", "warning", "info", "debug"};

_Atomic uint32_t log_enabled_domains[LOG_LEVEL_COUNT] = {ALL_DOMAINS, ALL_DOMAINS};

static const struct log_sink *_Atomic current_sink;

void log_sink_set(const struct log_sink *sink)
{
    /* Release: pairs with the acquire in log_write; whoever uses the sink sees its fields. */
    atomic_store_explicit(&current_sink, sink, memory_order_release);
}

void log_write(enum log_domain domain, enum log_level level, const char *format, ...)
{
    /* Acquire: pairs with the release in log_sink_set. */
    const struct log_sink *sink = atomic_load_explicit(&current_sink, memory_order_acquire);
    char buffer[TEXT_BYTES];
    struct text_writer text;
    struct log_record record;
    va_list arguments;

    if (sink == NULL) {
        counter_add(COUNTER_log_records_dropped, 1);
        return;
    }
    text_init(&text, buffer, sizeof(buffer));
    va_start(arguments, format);
    text_vformat(&text, format, arguments);
    va_end(arguments);
    record = (struct log_record){domain, level, buffer, text.used, text_truncated(&text)};
    sink->write(sink->context, &record);
}

/* Relaxed: nothing is read that depends on the masks. */
static void set_bit(enum log_domain domain, enum log_level level, bool enabled)
{
    if (enabled)
        atomic_fetch_or_explicit(&log_enabled_domains[level], 1u << domain, memory_order_relaxed);
    else
        atomic_fetch_and_explicit(&log_enabled_domains[level], ~(1u << domain), memory_order_relaxed);
}

void log_enable(enum log_domain domain, enum log_level most_talkative)
{
    for (int level = 0; level < LOG_LEVEL_COUNT; level++)
        set_bit(domain, (enum log_level)level, level <= (int)most_talkative);
}

void log_disable(enum log_domain domain)
{
    for (int level = 0; level < LOG_LEVEL_COUNT; level++)
        set_bit(domain, (enum log_level)level, false);
}

const char *log_domain_name(enum log_domain domain)
{
    return domain_names[domain].name;
}

const char *log_domain_explanation(enum log_domain domain)
{
    return domain_names[domain].explanation;
}

const char *log_level_name(enum log_level level)
{
    return level_names[level];
}

int log_domain_find(const char *name, enum log_domain *domain_out)
{
    for (int i = 0; i < LOG_DOMAIN_COUNT; i++) {
        if (text_equal(name, domain_names[i].name)) {
            *domain_out = (enum log_domain)i;
            return 0;
        }
    }
    return -ENOENT;
}

int log_level_find(const char *name, enum log_level *level_out)
{
    for (int i = 0; i < LOG_LEVEL_COUNT; i++) {
        if (text_equal(name, level_names[i])) {
            *level_out = (enum log_level)i;
            return 0;
        }
    }
    return -ENOENT;
}
