/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Stubs are not for sanitized code. The test passes probes of its own, which are in the middle of functions. */
#define _GNU_SOURCE
#include "agent/probe_hooks.h"

#include "agent/hook_details.h"
#include "agent/hook_set.h"
#include "agent/probe_set.h"
#include "agent/system_call_watch.h"
#include "hook/hook_image.h"
#include "hook/hook_thread.h"
#include "hook/instruction_plan.h"
#include "hook/return_tracking.h"
#include "process/mapping_list.h"
#include "protocol/agent_pattern.h"
#include "support/agent_lab.h"
#include "support/check_apart.h"
#include "support/written_probe.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#if defined(__x86_64__)

/*
 * Flags and what is below the stack pointer are in use where the first probe is, registers where the second one is. The
 * others have no room for a jump of their own: behind the third one instructions can be displaced, behind the fourth is
 * a probe; the last one is in the middle of an instruction.
 */
__asm__("        .text\n"
        "        .p2align 4\n"
        "        .globl  passes_wide, passes_narrow, passes_two, passes_call, passes_early\n"
        "        .type   passes_wide, @function\n"
        "passes_wide:\n"
        "        movq    %rdi, -8(%rsp)\n"
        "        cmpq    %rsi, %rdi\n"
        ".Lwide_place:\n"
        "        nopl    0(%rax,%rax)\n"
        "        setb    %al\n"
        "        movzbl  %al, %eax\n"
        "        addq    -8(%rsp), %rax\n"
        "        ret\n"
        "        .size   passes_wide, . - passes_wide\n"
        "        .p2align 4\n"
        "        .type   passes_narrow, @function\n"
        "passes_narrow:\n"
        "        leaq    (%rdi,%rsi), %rax\n"
        ".Lnarrow_place:\n"
        "        nop\n"
        ".Lodd_place = . + 1\n"
        "        leaq    1(%rax), %rax\n"
        "        leaq    1(%rax), %rax\n"
        "        ret\n"
        "        .size   passes_narrow, . - passes_narrow\n"
        "        .p2align 4\n"
        "        .type   passes_two, @function\n"
        "passes_two:\n"
        "        leaq    2(%rdi), %rax\n"
        ".Lfirst_place:\n"
        "        nop\n"
        ".Lsecond_place:\n"
        "        nopl    0(%rax,%rax)\n"
        "        ret\n"
        "        .size   passes_two, . - passes_two\n"
        "        .p2align 4\n"
        "        .fill   256, 1, 0x90\n"
        "        .type   passes_call, @function\n"
        "passes_call:\n"
        "        movl    $39, %eax\n"
        ".Lcall_place:\n"
        "        nop\n"
        "        leaq    1(%rdi), %rsi\n"
        "        syscall\n"
        "        leaq    1(%rax), %rax\n"
        "        ret\n"
        "        .size   passes_call, . - passes_call\n"
        "        .fill   256, 1, 0x90\n"
        "        .type   passes_early, @function\n"
        "passes_early:\n"
        "        movl    %edi, %eax\n"
        ".Learly_place:\n"
        "        nopl    0(%rax,%rax)\n"
        "        ret\n"
        "        .size   passes_early, . - passes_early\n"
        "        .fill   256, 1, 0x90\n" WRITTEN_PROBE(".Lwide_place", "0", "lab", "wide", "8@%rdi 8@-8(%rsp)")
            WRITTEN_PROBE(".Lnarrow_place", "0", "lab", "narrow", "-8@%rax")
                WRITTEN_PROBE(".Lfirst_place", "0", "pair", "first", "8@%rax")
                    WRITTEN_PROBE(".Lsecond_place", "0", "pair", "second", "8@%rax")
                        WRITTEN_PROBE(".Lodd_place", "0", "odd", "place", "8@%rax")
                            WRITTEN_PROBE(".Learly_place", "0", "early", "place", "4@%eax")
                                WRITTEN_PROBE(".Lcall_place", "0", "call", "place", "4@%eax"));

long passes_wide(long a, long b);
long passes_narrow(long a, long b);
long passes_two(long value);
int passes_early(int value);
long passes_call(void);
/* Where they are: what has a name would be a function. */
#define WIDE_PLACE   ((uintptr_t)passes_wide + 8)
#define NARROW_PLACE ((uintptr_t)passes_narrow + 4)
#define FIRST_PLACE  ((uintptr_t)passes_two + 4)
#define SECOND_PLACE ((uintptr_t)passes_two + 5)
#define CALL_PLACE   ((uintptr_t)passes_call + 5)
#define EARLY_PLACE  ((uintptr_t)passes_early + 2)

#define CODE_START   ((const uint8_t *)(uintptr_t)passes_wide)
#define CODE_BYTES   ((size_t)(EARLY_PLACE + 6 - (uintptr_t)passes_wide))

static struct hook_image image;
static struct agent_pattern_parts parts[AGENT_PATTERNS_MAX];
static struct probe_search search;
static struct mapping own;
static uint8_t code_before[4096];

static void look_at_mapping(void *context, const struct mapping *mapping)
{
    (void)context;
    if (WIDE_PLACE - mapping->start < mapping->end - mapping->start)
        own = *mapping;
}

static void want(const char *text)
{
    uint32_t which = agent_lab_add_pattern(AGENT_PATTERN_PROBE, text);

    agent_pattern_split(&agent_lab.options.patterns[which], &parts[which]);
    search.wanted |= 1ull << which;
}

static void prepare(const char *pattern)
{
    const struct hook_threads_options threads = {.ended = hook_details_thread_ended,
                                                 .forgotten = hook_details_thread_forgotten};

    agent_lab_begin(0, RING_DROP);
    want(pattern);
    CHECK(CODE_BYTES <= sizeof(code_before));
    memcpy(code_before, CODE_START, CODE_BYTES);
    CHECK_EQUAL(hook_threads_begin(&threads), 0);
    CHECK_EQUAL(hook_details_begin(agent_lab.ring, &agent_lab.options), 0);
    hook_set_begin();
    CHECK_EQUAL(hook_set_open(), 0);
    probe_set_begin(agent_lab.ring, &agent_lab.options);
    CHECK_EQUAL(mapping_list_visit(0, UINT64_MAX, look_at_mapping, NULL), 0);
    CHECK_EQUAL(hook_image_open(&image, "/proc/self/exe"), 0);
    CHECK_EQUAL(hook_image_survey(&image, NULL), 0);
    search.mapping = &own;
    search.symbols = &image.file.symbols;
    search.patterns = agent_lab.options.patterns;
    search.parts = parts;
}

static void begin(const char *pattern)
{
    prepare(pattern);
    CHECK_EQUAL(probe_hooks_add(&search, &image), search.wanted);
    CHECK_EQUAL(hook_set_commit(), 0);
}

static void end(void)
{
    CHECK(return_tracking_leave_all());
    CHECK_EQUAL(hook_set_remove(true), 0);
    hook_set_close();
    hook_details_end_threads();
    hook_set_end();
    hook_details_end();
    hook_image_close(&image);
}

static struct ring_losses losses(void)
{
    struct ring_losses found;

    ring_reader_losses(agent_lab.reader, &found);
    return found;
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

/* ---- passing ----------------------------------------------------------------------------------------------------- */

static void who_passes_a_probe_goes_on_as_if_there_were_none(void)
{
    begin("lab:*");
    CHECK_EQUAL(hook_set_count(), 2);
    CHECK_EQUAL(losses().not_hooked_count, 0);
    CHECK_EQUAL(passes_wide(40, 50), 41);
    CHECK_EQUAL(passes_wide(42, 41), 42);
    CHECK_EQUAL(passes_narrow(20, 20), 42);
    CHECK_EQUAL(agent_lab_take(), 3);
    CHECK_EQUAL(agent_lab.bad_bytes, 0);
    CHECK_EQUAL(((const struct detail_probe *)agent_lab_record(0, DETAIL_PROBE))->probe, 0);
    CHECK_EQUAL(agent_lab.records[0]->function, WIDE_PLACE);
    CHECK_EQUAL(bits_of(0, 0), 40);
    CHECK_EQUAL(bits_of(0, 1), 40);
    CHECK_EQUAL(bits_of(1, 1), 42);
    CHECK_EQUAL(((const struct detail_probe *)agent_lab_record(2, DETAIL_PROBE))->probe, 1);
    CHECK_EQUAL(agent_lab.records[2]->function, NARROW_PLACE);
    CHECK_EQUAL(bits_of(2, 0), 40);
    CHECK_EQUAL(agent_lab.tid, gettid());
    end();
}

static void code_is_as_it_was_when_probes_are_not_armed_any_more(void)
{
    begin("lab:*");
    CHECK(memcmp(code_before, CODE_START, CODE_BYTES) != 0);
    CHECK_EQUAL(passes_wide(40, 50), 41);
    end();
    CHECK(memcmp(code_before, CODE_START, CODE_BYTES) == 0);
    CHECK_EQUAL(passes_wide(40, 50), 41);
    CHECK_EQUAL(agent_lab_take(), 1);
}

static void only_what_patterns_mean_is_armed(void)
{
    prepare("lab:wide");
    CHECK_EQUAL(probe_hooks_add(&search, &image), 1);
    search.wanted = 0;
    CHECK_EQUAL(probe_hooks_add(&search, &image), 0);
    CHECK_EQUAL(hook_set_commit(), 0);
    CHECK_EQUAL(hook_set_count(), 1);
    CHECK_EQUAL(passes_narrow(20, 20), 42);
    CHECK_EQUAL(passes_two(1), 3);
    CHECK_EQUAL(agent_lab_take(), 0);
    end();
}

static void *pass_often(void *unused)
{
    for (long i = 0; i < 500; i++)
        if (passes_wide(i, 1000) != i + 1)
            return "wrong";
    return unused;
}

static void threads_pass_probes_beside_each_other(void)
{
    pthread_t threads[4];
    void *result;

    begin("lab:wide");
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, pass_often, NULL), 0);
    for (unsigned i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], &result) == 0 && result == NULL);
    CHECK_EQUAL(agent_lab_take(), 2000);
    CHECK_EQUAL(agent_lab.bad_bytes, 0);
    end();
}

/* ---- what has no room -------------------------------------------------------------------------------------------- */

/* A jump in the place of the first one would be where the second one is. */
static void no_probe_is_displaced_for_another_one(void)
{
    begin("pair:*");
    CHECK_EQUAL(passes_two(40), 42);
    CHECK(agent_lab_take() >= 1);
    CHECK_EQUAL(agent_lab_count(DETAIL_PROBE, SECOND_PLACE), 1);
    CHECK_EQUAL(agent_lab_count(DETAIL_PROBE, FIRST_PLACE) + losses().not_hooked_count, 1);
    CHECK_EQUAL(bits_of(agent_lab.record_count - 1, 0), 42);
    end();
    CHECK(memcmp(code_before, CODE_START, CODE_BYTES) == 0);
}

/* So is one that is not wanted: somebody else may arm it. */
static void nor_is_one_that_nobody_wants(void)
{
    begin("pair:first");
    CHECK(memcmp((const void *)SECOND_PLACE, code_before + (SECOND_PLACE - (uintptr_t)passes_wide), 5) == 0);
    CHECK_EQUAL(passes_two(40), 42);
    agent_lab_take();
    CHECK_EQUAL(agent_lab_count(DETAIL_PROBE, FIRST_PLACE) + losses().not_hooked_count, 1);
    end();
}

static void a_place_within_an_instruction_is_counted(void)
{
    begin("odd:*");
    CHECK_EQUAL(hook_set_count(), 0);
    CHECK_EQUAL(losses().not_hooked_count, 1);
    CHECK(memcmp(code_before, CODE_START, CODE_BYTES) == 0);
    CHECK_EQUAL(passes_narrow(20, 20), 42);
    end();
}

static const struct elf_function *function_at(uint64_t file_address)
{
    const struct elf_function *function = elf_function_list_find(&image.functions, file_address);

    CHECK(function != NULL && function->start == file_address);
    return function;
}

/* Without the probe, its bytes would be the ones to take. */
static void functions_are_hooked_beside_their_probes(void)
{
    uint64_t bias, probe_address;
    const struct elf_function *function;
    struct link_map *map;
    struct hook_plan plan;
    Dl_info info;

    prepare("early:place");
    CHECK(dladdr1((const void *)EARLY_PLACE, &info, (void **)&map, RTLD_DL_LINKMAP) != 0);
    bias = map->l_addr;
    function = function_at((uintptr_t)passes_early - bias);
    hook_planner_plan(&image.planner, function, &plan);
    probe_address = EARLY_PLACE - bias;
    CHECK(plan.method != HOOK_IMPOSSIBLE && plan.patch_at + plan.patch_bytes > probe_address);
    hook_planner_release(&image.planner, &plan);
    CHECK_EQUAL(probe_hooks_add(&search, &image), 1);
    hook_planner_plan(&image.planner, function, &plan);
    CHECK(plan.method == HOOK_IMPOSSIBLE || plan.patch_at + plan.patch_bytes <= probe_address);
    CHECK_EQUAL(hook_set_commit(), 0);
    CHECK_EQUAL(passes_early(42), 42);
    CHECK_EQUAL(agent_lab_take(), 1);
    end();
}

struct call_search {
    uint64_t bias;
    int result; /* 1: it was not found */
};

static void add_system_call(void *context, const struct hook_plan *found)
{
    struct call_search *search_of_call = context;
    struct hook_plan plan = *found;

    hook_plan_move(&plan, search_of_call->bias);
    if (plan.address == CALL_PLACE + 5)
        search_of_call->result = hook_set_add_system_call(&plan, (const uint8_t *)(uintptr_t)plan.patch_at);
}

static void nothing_is_mapped(void)
{
}

/* What stands before a system call is displaced with it, unless the probe's jump is there. */
static void system_calls_are_patched_beside_probes(void)
{
    struct call_search call = {.result = 1};
    struct link_map *map;
    Dl_info info;

    prepare("call:place");
    agent_lab.options.tells_system_calls = 1;
    agent_lab.options.system_calls[SYS_getpid / 64] |= 1ull << SYS_getpid % 64;
    CHECK_EQUAL(system_call_watch_begin(&agent_lab.options, nothing_is_mapped), 0);
    CHECK(dladdr1((const void *)CALL_PLACE, &info, (void **)&map, RTLD_DL_LINKMAP) != 0);
    call.bias = map->l_addr;
    CHECK_EQUAL(probe_hooks_add(&search, &image), 1);
    hook_planner_find_system_calls(&image.planner, add_system_call, &call);
    CHECK_EQUAL(call.result, 0);
    CHECK_EQUAL(hook_set_commit(), 0);
    CHECK_EQUAL(hook_set_count(), 2);
    CHECK_EQUAL(passes_call(), getpid() + 1);
    CHECK_EQUAL(agent_lab_take(), 2);
    CHECK_EQUAL(bits_of(0, 0), SYS_getpid);
    CHECK_EQUAL(((const struct detail_system_call *)agent_lab_record(1, DETAIL_SYSTEM_CALL))->result, getpid());
    end();
    CHECK(memcmp(code_before, CODE_START, CODE_BYTES) == 0);
}

static void without_memory_for_a_lane_threads_pass_all_the_same(void)
{
    const struct rlimit none = {1, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};
    bool is_forked_out;

    begin("lab:*");
    (void)hook_thread_obtain(&is_forked_out);
    CHECK_EQUAL(setrlimit(RLIMIT_AS, &none), 0);
    CHECK_EQUAL(passes_wide(40, 50), 41);
    CHECK_EQUAL(setrlimit(RLIMIT_AS, &all), 0);
    CHECK_EQUAL(agent_lab_take(), 0);
    CHECK(losses().no_memory_count != 0);
    end();
}

static void without_memory_for_a_thread_it_passes_in_silence(void)
{
    const struct rlimit none = {1, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};

    begin("lab:*");
    CHECK_EQUAL(setrlimit(RLIMIT_AS, &none), 0);
    CHECK_EQUAL(passes_wide(40, 50), 41);
    CHECK_EQUAL(setrlimit(RLIMIT_AS, &all), 0);
    CHECK_EQUAL(agent_lab_take(), 0);
    end();
    CHECK(memcmp(code_before, CODE_START, CODE_BYTES) == 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(who_passes_a_probe_goes_on_as_if_there_were_none),
    CHECK_CASE(code_is_as_it_was_when_probes_are_not_armed_any_more),
    CHECK_CASE(only_what_patterns_mean_is_armed),
    CHECK_CASE(threads_pass_probes_beside_each_other),
    CHECK_CASE(no_probe_is_displaced_for_another_one),
    CHECK_CASE(nor_is_one_that_nobody_wants),
    CHECK_CASE(a_place_within_an_instruction_is_counted),
    CHECK_CASE(functions_are_hooked_beside_their_probes),
    CHECK_CASE(system_calls_are_patched_beside_probes),
    CHECK_CASE(without_memory_for_a_lane_threads_pass_all_the_same),
    CHECK_CASE(without_memory_for_a_thread_it_passes_in_silence),
};

CHECK_APART_MAIN(cases)

#else

int main(void)
{
    check_skip("hooks are for x86-64 so far");
}

#endif
