/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Sanitized code is not followed. The test follows itself, and passes probes of its own. */
#define _GNU_SOURCE
#include "agent/probe_watch.h"

#include "agent/function_watch.h"
#include "agent/probe_set.h"
#include "elf/symbol_file.h"
#include "process/mapping_list.h"
#include "protocol/agent_pattern.h"
#include "ring/probe_log.h"
#include "support/agent_lab.h"
#include "support/check_apart.h"
#include "support/written_probe.h"

#include <pthread.h>
#include <sys/resource.h>

#if defined(__x86_64__)

/* Flags and what is below the stack pointer are in use where the first probe is; the second is in a loop. */
__asm__("        .text\n"
        "        .p2align 4\n"
        "        .globl  passes_once, passes_often\n"
        "        .type   passes_once, @function\n"
        "passes_once:\n"
        "        movq    %rdi, -8(%rsp)\n"
        "        cmpq    %rsi, %rdi\n"
        ".Lonce_place:\n"
        "        nopl    0(%rax,%rax)\n"
        "        setb    %al\n"
        "        movzbl  %al, %eax\n"
        "        addq    -8(%rsp), %rax\n"
        "        ret\n"
        "        .size   passes_once, . - passes_once\n"
        "        .p2align 4\n"
        "        .type   passes_often, @function\n"
        "passes_often:\n"
        "        xorl    %eax, %eax\n"
        "1:      addq    %rdi, %rax\n"
        ".Loften_place:\n"
        "        nop\n"
        "        decq    %rdi\n"
        "        jnz     1b\n"
        "        ret\n"
        "        .size   passes_often, . - passes_often\n" WRITTEN_PROBE(".Lonce_place", "watch_semaphore", "watch",
                                                                         "once", "8@%rdi 8@-8(%rsp)")
            WRITTEN_PROBE(".Loften_place", "0", "watch", "often", "8@%rax"));

long passes_once(long a, long b);
long passes_often(long count);

#define ONCE_PLACE  ((uintptr_t)passes_once + 8)
#define OFTEN_PLACE ((uintptr_t)passes_often + 5)
#define CODE_BYTES  48

uint16_t watch_semaphore = 3;

static struct stalker_engine *engine;
static struct symbol_file file;
static struct mapping own;
static struct agent_pattern_parts parts[AGENT_PATTERNS_MAX];
static struct probe_search search;

static void look_at_mapping(void *context, const struct mapping *mapping)
{
    (void)context;
    if (ONCE_PLACE - mapping->start < mapping->end - mapping->start)
        own = *mapping;
}

static void begin(const char *pattern)
{
    uint32_t which;

    agent_lab_begin(0, RING_DROP);
    engine = agent_lab_engine();
    which = agent_lab_add_pattern(AGENT_PATTERN_PROBE, pattern);
    agent_pattern_split(&agent_lab.options.patterns[which], &parts[which]);
    CHECK_EQUAL(mapping_list_visit(0, UINT64_MAX, look_at_mapping, NULL), 0);
    CHECK_EQUAL(symbol_file_open("/proc/self/exe", &file), 0);
    search = (struct probe_search){&own, &file.symbols, agent_lab.options.patterns, parts, 1ull << which};
    CHECK_EQUAL(function_watch_begin(engine, agent_lab.ring, &agent_lab.options), 0);
    probe_set_begin(agent_lab.ring, &agent_lab.options);
    probe_watch_begin(engine);
}

static void run(void (*function)(void))
{
    agent_lab_follow(engine, 0, function);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.bad_bytes, 0);
}

static uint64_t bits_of(unsigned record, unsigned which)
{
    struct detail_value value;
    const uint8_t *bytes;
    uint64_t bits = 0;

    CHECK(record < agent_lab.record_count && agent_lab_value(agent_lab.records[record], which, &value, &bytes) &&
          value.data_bytes <= sizeof(bits) && value.flags == 0);
    memcpy(&bits, bytes, value.data_bytes);
    return bits;
}

static const struct detail_probe *told(unsigned which)
{
    return agent_lab_record(which, DETAIL_PROBE);
}

static void pass_once(void)
{
    CHECK_EQUAL(passes_once(40, 50), 41);
    CHECK_EQUAL(passes_once(42, 41), 42);
}

static void who_passes_a_probe_goes_on_as_if_there_were_none(void)
{
    uint8_t before[CODE_BYTES];

    memcpy(before, (const void *)(uintptr_t)passes_once, CODE_BYTES);
    begin("watch:once");
    CHECK_EQUAL(probe_watch_add(&search), 1);
    run(pass_once);
    CHECK_EQUAL(agent_lab.record_count, 2);
    CHECK_EQUAL(told(0)->record.function, ONCE_PLACE);
    CHECK_EQUAL(told(0)->probe, 0);
    CHECK_EQUAL(bits_of(0, 0), 40);
    CHECK_EQUAL(bits_of(0, 1), 40);
    CHECK_EQUAL(bits_of(1, 1), 42);
    CHECK_EQUAL(agent_lab.tid, gettid());
    CHECK_EQUAL(agent_lab.ended_lanes, 1);
    /* The program's own code stays as it is. */
    CHECK(memcmp(before, (const void *)(uintptr_t)passes_once, CODE_BYTES) == 0);
    CHECK_EQUAL(passes_once(1, 2), 2);
    CHECK_EQUAL(agent_lab_take(), 2);
}

static void pass_often(void)
{
    CHECK_EQUAL(passes_often(4), 10);
}

static void a_probe_in_a_loop_is_passed_each_time(void)
{
    static const uint64_t sums[] = {4, 7, 9, 10};

    begin("watch:*");
    CHECK_EQUAL(probe_watch_add(&search), 1);
    run(pass_often);
    CHECK_EQUAL(agent_lab.record_count, 4);
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQUAL(told(i)->record.function, OFTEN_PLACE);
        CHECK_EQUAL(told(i)->probe, 1);
        CHECK_EQUAL(bits_of(i, 0), sums[i]);
    }
}

static void semaphores_are_up_as_soon_as_probes_are_added(void)
{
    begin("watch:*");
    CHECK_EQUAL(probe_watch_add(&search), 1);
    CHECK_EQUAL(watch_semaphore, 4);
    probe_set_lower();
    CHECK_EQUAL(watch_semaphore, 3);
}

static void what_no_pattern_means_is_not_reported(void)
{
    begin("watch:none");
    CHECK_EQUAL(probe_watch_add(&search), 0);
    run(pass_once);
    CHECK_EQUAL(agent_lab.record_count, 0);
    CHECK_EQUAL(watch_semaphore, 3);
}

/* A module that is loaded where another one was has probes of its own. */
static void an_address_has_the_probe_that_was_added_last(void)
{
    struct probe_log_entry entry;
    uint64_t place = 0;

    begin("watch:once");
    CHECK_EQUAL(probe_watch_add(&search), 1);
    run(pass_once);
    CHECK_EQUAL(told(1)->probe, 0);
    probe_set_forget(ONCE_PLACE, ONCE_PLACE + 1);
    CHECK_EQUAL(probe_watch_add(&search), 1);
    agent_lab_clear();
    run(pass_once);
    CHECK_EQUAL(agent_lab.record_count, 2);
    CHECK_EQUAL(told(0)->probe, 1);
    for (uint32_t i = 0; i < 2; i++)
        CHECK(probe_log_next(agent_lab.reader, &place, &entry) && entry.probe.number == i);
}

/* Translated code is changed when probes are added to what has run before. */
static void code_that_has_run_already_is_looked_at_from_then_on(void)
{
    begin("watch:*");
    run(pass_once);
    run(pass_often);
    CHECK_EQUAL(agent_lab.record_count, 0);
    CHECK_EQUAL(probe_watch_add(&search), 1);
    run(pass_once);
    run(pass_often);
    CHECK_EQUAL(agent_lab_count(DETAIL_PROBE, ONCE_PLACE), 2);
    CHECK_EQUAL(agent_lab_count(DETAIL_PROBE, OFTEN_PLACE), 4);
}

static void pass_in_function(void)
{
    CHECK_EQUAL(passes_once(1, 2), 2);
}

/* Of calls that are looked at. */
static void probes_have_the_depth_of_the_calls_around_them(void)
{
    uint32_t detail;

    begin("watch:once");
    detail = agent_lab_add_pattern(AGENT_PATTERN_DETAIL, "any");
    CHECK_EQUAL(function_watch_begin(engine, agent_lab.ring, &agent_lab.options), 0);
    function_watch_add(&agent_lab.options.patterns[detail], detail, (uintptr_t)passes_once, 0);
    CHECK_EQUAL(probe_watch_add(&search), 1);
    run(pass_in_function);
    CHECK_EQUAL(agent_lab.record_count, 3);
    CHECK_EQUAL(agent_lab.records[0]->kind, DETAIL_ENTER);
    CHECK_EQUAL(told(1)->record.depth, 1);
    CHECK_EQUAL(agent_lab.records[2]->kind, DETAIL_LEAVE);
}

static void *pass_in_thread(void *unused)
{
    for (int i = 0; i < 200; i++)
        if (passes_once(i, 1000) != i + 1)
            return "wrong";
    return unused;
}

static void pass_in_threads(void)
{
    pthread_t threads[4];
    void *result;

    for (unsigned i = 0; i < 4; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, pass_in_thread, NULL), 0);
    for (unsigned i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], &result) == 0 && result == NULL);
}

static void threads_pass_probes_beside_each_other(void)
{
    begin("watch:once");
    CHECK_EQUAL(probe_watch_add(&search), 1);
    run(pass_in_threads);
    CHECK_EQUAL(agent_lab_count(DETAIL_PROBE, ONCE_PLACE), 800);
    CHECK_EQUAL(agent_lab.ended_lanes, 4);
}

static void without_memory_a_probe_is_not_watched_and_that_is_counted(void)
{
    const struct rlimit none = {1, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};
    struct ring_losses losses;

    begin("watch:*");
    CHECK_EQUAL(setrlimit(RLIMIT_AS, &none), 0);
    CHECK_EQUAL(probe_watch_add(&search), 1);
    CHECK_EQUAL(setrlimit(RLIMIT_AS, &all), 0);
    ring_reader_losses(agent_lab.reader, &losses);
    CHECK_EQUAL(losses.no_memory_count, 2);
    CHECK_EQUAL(watch_semaphore, 3);
    run(pass_once);
    CHECK_EQUAL(agent_lab.record_count, 0);
    CHECK_EQUAL(probe_watch_add(&search), 1);
    CHECK_EQUAL(watch_semaphore, 4);
    run(pass_once);
    CHECK_EQUAL(agent_lab.record_count, 2);
}

static const struct check_case cases[] = {
    CHECK_CASE(who_passes_a_probe_goes_on_as_if_there_were_none),
    CHECK_CASE(a_probe_in_a_loop_is_passed_each_time),
    CHECK_CASE(semaphores_are_up_as_soon_as_probes_are_added),
    CHECK_CASE(what_no_pattern_means_is_not_reported),
    CHECK_CASE(an_address_has_the_probe_that_was_added_last),
    CHECK_CASE(code_that_has_run_already_is_looked_at_from_then_on),
    CHECK_CASE(probes_have_the_depth_of_the_calls_around_them),
    CHECK_CASE(threads_pass_probes_beside_each_other),
    CHECK_CASE(without_memory_a_probe_is_not_watched_and_that_is_counted),
};

CHECK_APART_MAIN(cases)

#else

int main(void)
{
    check_skip("threads are not followed on this CPU yet");
}

#endif
