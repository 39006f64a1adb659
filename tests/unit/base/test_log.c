/* SPDX-License-Identifier: MIT */
#define LOG_LEVEL_COMPILED LOG_LEVEL_info
#include "base/log.h"

#include "base/counters.h"
#include "support/check.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>

struct memory {
    int count;
    struct log_record record;
    char text[512];
};

static void remember(void *context, const struct log_record *record)
{
    struct memory *memory = context;

    memory->count++;
    memory->record = *record;
    strcpy(memory->text, record->text);
}

static struct memory memory;
static const struct log_sink sink = {remember, &memory};

static int evaluated;

static int evaluate(void)
{
    return ++evaluated;
}

static void records_reach_the_sink_with_domain_level_and_text(void)
{
    memory.count = 0;
    log_sink_set(&sink);
    LOG(code, warning, "mapped %zu bytes at %p for %s", (size_t)4096, (void *)0x1000, "blocks");
    log_sink_set(NULL);
    CHECK_EQUAL(memory.count, 1);
    CHECK_EQUAL(memory.record.domain, LOG_DOMAIN_code);
    CHECK_EQUAL(memory.record.level, LOG_LEVEL_warning);
    CHECK_TEXT(memory.text, "mapped 4096 bytes at 0x1000 for blocks");
    CHECK_EQUAL(memory.record.length, strlen(memory.text));
    CHECK(!memory.record.truncated);
}

static void records_without_a_sink_are_counted_and_dropped(void)
{
    uint64_t before = counter_read(COUNTER_log_records_dropped);

    memory.count = 0;
    LOG(base, error, "nobody hears this");
    CHECK_EQUAL(counter_read(COUNTER_log_records_dropped) - before, 1);
    CHECK_EQUAL(memory.count, 0);
}

static void levels_are_switched_for_each_domain(void)
{
    memory.count = 0;
    log_sink_set(&sink);
    LOG(hook, info, "off at first");
    CHECK_EQUAL(memory.count, 0);
    log_enable(LOG_DOMAIN_hook, LOG_LEVEL_info);
    LOG(hook, info, "on");
    LOG(ring, info, "still off");
    CHECK_EQUAL(memory.count, 1);
    log_enable(LOG_DOMAIN_hook, LOG_LEVEL_error);
    LOG(hook, warning, "off");
    LOG(hook, error, "on");
    CHECK_EQUAL(memory.count, 2);
    log_disable(LOG_DOMAIN_hook);
    LOG(hook, error, "off");
    CHECK_EQUAL(memory.count, 2);
    log_sink_set(NULL);
}

static void what_is_off_or_not_compiled_evaluates_nothing(void)
{
    log_sink_set(&sink);
    evaluated = 0;
    log_disable(LOG_DOMAIN_ring);
    LOG(ring, error, "%d", evaluate());
    CHECK_EQUAL(evaluated, 0);
    log_enable(LOG_DOMAIN_ring, LOG_LEVEL_debug);
    LOG(ring, debug, "%d", evaluate());
    CHECK_EQUAL(evaluated, 0);
    LOG(ring, info, "%d", evaluate());
    CHECK_EQUAL(evaluated, 1);
    log_sink_set(NULL);
}

static void long_texts_are_cut_and_say_so(void)
{
    log_sink_set(&sink);
    LOG(base, error, "%300d", 1);
    log_sink_set(NULL);
    CHECK(memory.record.truncated);
    CHECK_EQUAL(memory.record.length, 255);
    CHECK_EQUAL(strlen(memory.text), 255);
}

static void names_lead_back_to_domains_and_levels(void)
{
    enum log_domain domain = LOG_DOMAIN_COUNT;
    enum log_level level = LOG_LEVEL_COUNT;

    for (int i = 0; i < LOG_DOMAIN_COUNT; i++) {
        CHECK(islower(log_domain_name((enum log_domain)i)[0]));
        CHECK(log_domain_explanation((enum log_domain)i)[0] != '\0');
        CHECK_EQUAL(log_domain_find(log_domain_name((enum log_domain)i), &domain), 0);
        CHECK_EQUAL(domain, i);
    }
    for (int i = 0; i < LOG_LEVEL_COUNT; i++) {
        CHECK_EQUAL(log_level_find(log_level_name((enum log_level)i), &level), 0);
        CHECK_EQUAL(level, i);
    }
    CHECK_EQUAL(log_domain_find("nothing", &domain), -ENOENT);
    CHECK_EQUAL(log_level_find("", &level), -ENOENT);
}

static void count_record(void *context, const struct log_record *record)
{
    (void)record;
    atomic_fetch_add_explicit((_Atomic int *)context, 1, memory_order_relaxed);
}

static void *log_many(void *argument)
{
    for (int i = 0; i < 10000; i++) {
        LOG(agent, error, "%d of %s", i, (const char *)argument);
        if (i % 100 == 0)
            log_enable(LOG_DOMAIN_unwind, (enum log_level)(i / 100 % LOG_LEVEL_COUNT));
    }
    return NULL;
}

static void threads_log_and_switch_at_the_same_time(void)
{
    static _Atomic int count;
    static const struct log_sink counting = {count_record, &count};
    pthread_t threads[3];

    log_sink_set(&counting);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, log_many, "a thread"), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    log_sink_set(NULL);
    CHECK_EQUAL(count, 30000);
}

static const struct check_case cases[] = {
    CHECK_CASE(records_reach_the_sink_with_domain_level_and_text),
    CHECK_CASE(records_without_a_sink_are_counted_and_dropped),
    CHECK_CASE(levels_are_switched_for_each_domain),
    CHECK_CASE(what_is_off_or_not_compiled_evaluates_nothing),
    CHECK_CASE(long_texts_are_cut_and_say_so),
    CHECK_CASE(names_lead_back_to_domains_and_levels),
    CHECK_CASE(threads_log_and_switch_at_the_same_time),
};

CHECK_MAIN(cases)
