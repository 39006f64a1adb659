/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Stubs are not for sanitized code. The test hooks functions of its own, and those of the C library. */
#define _GNU_SOURCE
#include "agent/function_hooks.h"

#include "agent/errno_place.h"
#include "agent/hook_details.h"
#include "agent/hook_set.h"
#include "agent/process_log.h"
#include "agent/selection.h"
#include "hook/hook_record.h"
#include "hook/hook_thread.h"
#include "hook/return_tracking.h"
#include "process/mapping_list.h"
#include "protocol/agent_known.h"
#include "protocol/agent_pattern.h"
#include "ring/ring_notice.h"
#include "ring/unhooked_log.h"
#include "support/agent_lab.h"
#include "support/check_apart.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sys/resource.h>

#if defined(__x86_64__)

/* Around the short one there is nothing but instructions that somebody may need, for as far as a short jump reaches. */
__asm__("        .text\n"
        "        .p2align 4\n"
        "        .globl  asked_sum, asked_sum_alias, asked_other, asked_short, before_short, behind_short\n"
        "        .type   asked_sum, @function\n"
        "        .type   asked_sum_alias, @function\n"
        "asked_sum:\n"
        "asked_sum_alias:\n"
        "        pushq   %rbx\n"
        "        movq    %rdi, %rbx\n"
        "        leaq    (%rbx,%rsi), %rax\n"
        "        popq    %rbx\n"
        "        ret\n"
        "        .size   asked_sum, . - asked_sum\n"
        "        .size   asked_sum_alias, . - asked_sum_alias\n"
        "        .p2align 4\n"
        "        .type   asked_other, @function\n"
        "asked_other:\n"
        "        leaq    1(%rdi), %rax\n"
        "        nop\n"
        "        nop\n"
        "        ret\n"
        "        .size   asked_other, . - asked_other\n"
        "        .p2align 4\n"
        "        .type   before_short, @function\n"
        "before_short:\n"
        "        .fill   255, 1, 0x90\n"
        "        ret\n"
        "        .size   before_short, . - before_short\n"
        "        .type   asked_short, @function\n"
        "asked_short:\n"
        "        ret\n"
        "        .size   asked_short, . - asked_short\n"
        "        .type   behind_short, @function\n"
        "behind_short:\n"
        "        .fill   255, 1, 0x90\n"
        "        ret\n"
        "        .size   behind_short, . - behind_short\n");

long asked_sum(long a, long b);
long asked_sum_alias(long a, long b);
long asked_other(long value);
void asked_short(void);

#define FUNCTION_BYTES 12 /* of each of the first two, at least so many */

static struct agent_pattern_parts parts[AGENT_PATTERNS_MAX];
static struct selection_search wanted;
static struct mapping own;
static unsigned change_count;

static void note_change(struct gait_invocation *invocation)
{
    (void)invocation;
    change_count++;
}

struct mapping_search {
    uint64_t address;
    struct mapping *found;
};

static void look_at_mapping(void *context, const struct mapping *mapping)
{
    const struct mapping_search *search = context;

    if (search->address - mapping->start < mapping->end - mapping->start)
        *search->found = *mapping;
}

static struct mapping mapping_of(const void *address)
{
    struct mapping found = {0};
    struct mapping_search search = {(uintptr_t)address, &found};

    CHECK_EQUAL(mapping_list_visit(0, UINT64_MAX, look_at_mapping, &search), 0);
    CHECK(found.is_executable);
    return found;
}

static uint64_t want(enum agent_pattern_use use, const char *text)
{
    uint32_t which = agent_lab_add_pattern(use, text);

    agent_pattern_split(&agent_lab.options.patterns[which], &parts[which]);
    return 1ull << which;
}

static void begin_with(uint64_t loader_notification)
{
    const struct hook_threads_options threads = {.ended = hook_details_thread_ended,
                                                 .forgotten = hook_details_thread_forgotten};
    struct function_hooks_options options = {
        .ring = agent_lab.ring, .loader_notification = loader_notification, .changed = note_change};

    CHECK_EQUAL(hook_threads_begin(&threads), 0);
    CHECK_EQUAL(hook_details_begin(agent_lab.ring, &agent_lab.options), 0);
    function_hooks_begin(&options);
    CHECK_EQUAL(hook_set_open(), 0);
    hook_recording_begin(agent_lab.ring, function_hooks_space());
    wanted.patterns = agent_lab.options.patterns;
    wanted.parts = parts;
    wanted.known = &agent_lab.options.known;
    own = mapping_of((const void *)asked_sum);
}

static void begin(void)
{
    begin_with(0);
}

static uint64_t hook_own(void)
{
    uint64_t matched = function_hooks_add(&own, "/proc/self/exe", &wanted);

    CHECK_EQUAL(function_hooks_commit(), 0);
    return matched;
}

static void end(void)
{
    CHECK(return_tracking_leave_all());
    CHECK_EQUAL(hook_set_remove(true), 0);
    hook_set_close();
    hook_recording_end();
    hook_details_end_threads();
    function_hooks_end();
    hook_details_end();
}

static struct ring_losses losses(void)
{
    struct ring_losses found;

    ring_reader_losses(agent_lab.reader, &found);
    return found;
}

/* ---- what is hooked ---------------------------------------------------------------------------------------------- */

static void chosen_functions_are_recorded_and_others_left_alone(void)
{
    uint8_t before[FUNCTION_BYTES];

    agent_lab_begin(0, RING_DROP);
    memcpy(before, (const void *)asked_other, sizeof(before));
    wanted.hooked = want(AGENT_PATTERN_HOOK, "asked_sum");
    begin();
    CHECK_EQUAL(hook_own(), wanted.hooked);
    CHECK_EQUAL(hook_set_count(), 1);
    CHECK_EQUAL(asked_sum(20, 22), 42);
    CHECK_EQUAL(asked_other(6), 7);
    CHECK_EQUAL(asked_sum(-1, 0), -1);
    CHECK(memcmp(before, (const void *)asked_other, sizeof(before)) == 0);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.call_count, 4);
    CHECK_EQUAL(agent_lab_calls(EVENT_RECORD_ENTER, (const void *)asked_sum), 2);
    CHECK_EQUAL(agent_lab_calls(EVENT_RECORD_LEAVE, (const void *)asked_sum), 2);
    CHECK_EQUAL(agent_lab.calls[0].record, EVENT_RECORD_ENTER);
    CHECK_EQUAL(agent_lab.calls[1].record, EVENT_RECORD_LEAVE);
    CHECK(agent_lab.calls[1].time >= agent_lab.calls[0].time && agent_lab.calls[0].time != 0);
    CHECK_EQUAL(agent_lab.calls[0].tid, gettid());
    end();
}

/* What reads the ring knows a function before it can be called. */
static void functions_are_described_before_they_are_hooked(void)
{
    const struct agent_lab_block *block;

    agent_lab_begin(0, RING_DROP);
    wanted.hooked = want(AGENT_PATTERN_HOOK, "asked_*");
    begin();
    (void)function_hooks_add(&own, "/proc/self/exe", &wanted);
    agent_lab_take();
    block = agent_lab_block_at((const void *)asked_sum);
    CHECK(block != NULL && block->space == function_hooks_space());
    CHECK_EQUAL(block == NULL ? 0 : block->size_bytes, 10);
    block = agent_lab_block_at((const void *)asked_other);
    CHECK(block != NULL && block->number != agent_lab_block_at((const void *)asked_sum)->number);
    /* Nothing is in place yet. */
    CHECK_EQUAL(asked_sum(1, 2), 3);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.call_count, 0);
    end();
}

static void code_is_as_it_was_when_hooks_are_removed(void)
{
    uint8_t before[2][FUNCTION_BYTES];

    agent_lab_begin(0, RING_DROP);
    memcpy(before[0], (const void *)asked_sum, FUNCTION_BYTES);
    memcpy(before[1], (const void *)asked_other, FUNCTION_BYTES);
    wanted.hooked = want(AGENT_PATTERN_HOOK, "asked_*");
    begin();
    (void)hook_own();
    CHECK(memcmp(before[0], (const void *)asked_sum, FUNCTION_BYTES) != 0);
    CHECK(memcmp(before[1], (const void *)asked_other, FUNCTION_BYTES) != 0);
    end();
    CHECK(memcmp(before[0], (const void *)asked_sum, FUNCTION_BYTES) == 0);
    CHECK(memcmp(before[1], (const void *)asked_other, FUNCTION_BYTES) == 0);
    CHECK_EQUAL(asked_sum(20, 22), 42);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.call_count, 0);
}

static void a_function_that_is_too_short_is_told(void)
{
    struct ring_unhooked unhooked;
    uint8_t before = *(const uint8_t *)(uintptr_t)asked_short;

    agent_lab_begin(0, RING_DROP);
    wanted.hooked = want(AGENT_PATTERN_HOOK, "asked_short");
    begin();
    CHECK_EQUAL(hook_own(), wanted.hooked);
    CHECK_EQUAL(hook_set_count(), 0);
    CHECK_EQUAL(losses().not_hooked_count, 1);
    CHECK_EQUAL(ring_reader_armed(agent_lab.reader), 0);
    CHECK_EQUAL(unhooked_log_read(agent_lab.reader, &unhooked, 1), 1);
    CHECK(strstr(unhooked.name, "!asked_short") != NULL);
    CHECK_TEXT(unhooked.why, "it is too short");
    CHECK(unhooked.is_named);
    CHECK_EQUAL(losses().no_memory_count, 0);
    asked_short();
    CHECK_EQUAL(*(const uint8_t *)(uintptr_t)asked_short, before);
    end();
}

static void a_function_with_two_names_is_hooked_once(void)
{
    agent_lab_begin(0, RING_DROP);
    wanted.hooked = want(AGENT_PATTERN_HOOK, "asked_sum") | want(AGENT_PATTERN_HOOK, "asked_sum_alias");
    begin();
    CHECK_EQUAL(hook_own(), wanted.hooked);
    CHECK_EQUAL(ring_reader_armed(agent_lab.reader), wanted.hooked);
    CHECK_EQUAL(hook_set_count(), 1);
    CHECK_EQUAL(asked_sum_alias(1, 2), 3);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.call_count, 2);
    end();
}

/* Where a jump of ours is, the function's instructions are not. */
static void a_function_that_is_hooked_is_not_hooked_again(void)
{
    agent_lab_begin(0, RING_DROP);
    wanted.hooked = want(AGENT_PATTERN_HOOK, "asked_sum");
    begin();
    (void)hook_own();
    CHECK_EQUAL(losses().not_hooked_count, 0);
    (void)hook_own();
    CHECK_EQUAL(losses().not_hooked_count, 1);
    CHECK_EQUAL(hook_set_count(), 1);
    CHECK_EQUAL(asked_sum(20, 22), 42);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.call_count, 2);
    end();
    CHECK_EQUAL(asked_sum(20, 22), 42);
}

static void what_is_excluded_is_not_hooked(void)
{
    agent_lab_begin(0, RING_DROP);
    wanted.hooked = want(AGENT_PATTERN_HOOK, "asked_*");
    wanted.excluded = want(AGENT_PATTERN_EXCLUDE, "!asked_sum") | want(AGENT_PATTERN_EXCLUDE, "!asked_short");
    begin();
    CHECK_EQUAL(hook_own(), wanted.hooked | wanted.excluded);
    CHECK_EQUAL(hook_set_count(), 1);
    (void)asked_sum(1, 2);
    (void)asked_other(1);
    agent_lab_take();
    CHECK_EQUAL(agent_lab_calls(EVENT_RECORD_ENTER, (const void *)asked_other), 1);
    CHECK_EQUAL(agent_lab.call_count, 2);
    end();
}

/* A file may be mapped in parts: what another part has is hooked with that one. */
static void functions_of_other_parts_of_the_file_are_left_alone(void)
{
    agent_lab_begin(0, RING_DROP);
    wanted.hooked = want(AGENT_PATTERN_HOOK, "asked_*");
    begin();
    own.end = own.start + ((uintptr_t)asked_sum - own.start);
    (void)hook_own();
    CHECK_EQUAL(hook_set_count(), 0);
    CHECK_EQUAL(losses().not_hooked_count, 0);
    own = mapping_of((const void *)asked_sum);
    own.file_offset += (uintptr_t)asked_other - own.start;
    own.start = (uintptr_t)asked_other;
    (void)hook_own();
    CHECK_EQUAL(hook_set_count(), 1);
    (void)asked_other(1);
    agent_lab_take();
    CHECK_EQUAL(agent_lab_calls(EVENT_RECORD_ENTER, (const void *)asked_other), 1);
    end();
}

static void what_is_no_program_has_no_functions(void)
{
    agent_lab_begin(0, RING_DROP);
    wanted.hooked = want(AGENT_PATTERN_HOOK, "*");
    begin();
    CHECK_EQUAL(function_hooks_add(&own, "/proc/self/status", &wanted), 0);
    CHECK_EQUAL(function_hooks_add(&own, "/no/such/file", &wanted), 0);
    CHECK_EQUAL(function_hooks_commit(), 0);
    CHECK_EQUAL(hook_set_count(), 0);
    CHECK_EQUAL(losses().no_memory_count, 0);
    end();
}

/* ---- what is asked of calls -------------------------------------------------------------------------------------- */

static void calls_are_looked_at_with_and_without_records(void)
{
    agent_lab_begin(0, RING_DROP);
    wanted.hooked = want(AGENT_PATTERN_HOOK, "asked_sum");
    wanted.detailed = want(AGENT_PATTERN_DETAIL, "asked_sum") | want(AGENT_PATTERN_DETAIL, "asked_other");
    begin();
    CHECK_EQUAL(hook_own(), wanted.hooked | wanted.detailed);
    CHECK_EQUAL(asked_sum(20, 22), 42);
    CHECK_EQUAL(asked_other(6), 7);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.call_count, 2);
    CHECK_EQUAL(agent_lab.record_count, 4);
    CHECK_EQUAL(((const struct detail_enter *)agent_lab_record(0, DETAIL_ENTER))->arguments[1], 22);
    CHECK_EQUAL(((const struct detail_leave *)agent_lab_record(3, DETAIL_LEAVE))->value, 7);
    end();
}

/* An ELF file's addresses are those in memory less where it was put. */
static uint64_t file_address(const void *address)
{
    Dl_info info;
    struct link_map *map;

    CHECK(dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) != 0);
    return (uintptr_t)address - map->l_addr;
}

static uint8_t first_type(unsigned record)
{
    struct detail_value value = {0};
    const uint8_t *data;

    CHECK(record < agent_lab.record_count && agent_lab_value(agent_lab.records[record], 0, &value, &data));
    return value.type;
}

static void what_the_user_says_of_arguments_comes_before_what_is_known(void)
{
    static const struct detail_declaration known = {.is_given = 1, .count = 1, .fields = {{DETAIL_TYPE_U8, 0, 0}}};
    struct glob_text path;

    agent_lab_begin(0, RING_DROP);
    wanted.detailed = want(AGENT_PATTERN_DETAIL, "asked_sum") | want(AGENT_PATTERN_DETAIL, "asked_other");
    agent_lab.options.patterns[1].declaration =
        (struct detail_declaration){.is_given = 1, .count = 1, .fields = {{DETAIL_TYPE_I16, 0, 0}}};
    begin();
    path = (struct glob_text){own.path, own.path_length};
    CHECK(agent_known_add(&agent_lab.options.known, agent_known_key(path, file_address((void *)asked_sum)), &known));
    CHECK(agent_known_add(&agent_lab.options.known, agent_known_key(path, file_address((void *)asked_other)), &known));
    agent_known_sort(&agent_lab.options.known);
    (void)hook_own();
    (void)asked_sum(1, 2);
    (void)asked_other(3);
    agent_lab_take();
    CHECK_EQUAL(first_type(0), DETAIL_TYPE_U8);
    CHECK_EQUAL(first_type(2), DETAIL_TYPE_I16);
    end();
}

/* Adds what is wanted of the C library's functions. */
static uint64_t hook_library(void)
{
    struct mapping library = mapping_of(dlsym(RTLD_DEFAULT, "fork"));
    char path[MAPPING_PATH_BYTES_MAX + 1] = "";
    uint64_t matched;

    memcpy(path, library.path, library.path_length);
    matched = function_hooks_add(&library, path, &wanted);
    CHECK_EQUAL(function_hooks_commit(), 0);
    return matched;
}

static void where_errno_is_becomes_known_without_a_hook(void)
{
    const void *function = dlsym(RTLD_DEFAULT, "__errno_location");
    uint8_t before[FUNCTION_BYTES];

    memcpy(before, function, sizeof(before));
    agent_lab_begin(0, RING_DROP);
    wanted.errno_places = want(AGENT_PATTERN_ERRNO, "*!__errno_location");
    begin();
    CHECK_EQUAL(hook_library(), wanted.errno_places);
    CHECK(memcmp(before, function, sizeof(before)) == 0);
    CHECK_EQUAL(errno_place_find(), (uintptr_t)&errno);
    end();
}

/* ---- what is hooked for what the session needs to know -------------------------------------------------------------
 */

static void the_loaders_notification_is_heard_without_being_recorded(void)
{
    agent_lab_begin(0, RING_DROP);
    begin_with((uintptr_t)asked_other);
    CHECK_EQUAL(hook_own(), 0);
    CHECK_EQUAL(hook_set_count(), 1);
    CHECK_EQUAL(asked_other(6), 7);
    CHECK_EQUAL(asked_sum(1, 2), 3);
    CHECK_EQUAL(change_count, 1);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.call_count + agent_lab.record_count, 0);
    end();
}

static void forks_of_the_c_library_are_heard_though_nobody_asks_for_them(void)
{
    struct ring_notices *notices;
    pid_t child;

    agent_lab_begin(0, RING_DROP);
    notices = ring_notices_in(agent_lab.ring->base);
    (void)process_log_begin(agent_lab.ring, AGENT_CHILDREN_NONE);
    begin();
    CHECK_EQUAL(hook_library(), 0);
    CHECK(hook_set_count() != 0);
    child = fork();
    if (child == 0)
        _exit(0);
    CHECK_EQUAL(waitpid(child, NULL, 0), child);
    CHECK_EQUAL(notices->forks_begun, 1);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.call_count, 0);
    end();
    child = fork();
    if (child == 0)
        _exit(0);
    CHECK_EQUAL(waitpid(child, NULL, 0), child);
    CHECK_EQUAL(notices->forks_begun, 1);
}

/* ---- children ---------------------------------------------------------------------------------------------------- */

static void a_childs_ring_has_all_functions_with_their_numbers(void)
{
    struct ring_region parent;
    uint32_t number;

    agent_lab_begin(0, RING_DROP);
    wanted.hooked = want(AGENT_PATTERN_HOOK, "asked_sum") | want(AGENT_PATTERN_HOOK, "asked_other");
    begin();
    (void)hook_own();
    agent_lab_take();
    number = agent_lab_block_at((const void *)asked_sum)->number;
    CHECK_EQUAL(ring_region_renew(agent_lab.ring, &parent), 0);
    ring_reader_close(agent_lab.reader);
    agent_lab_open(agent_lab.ring->fd);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.block_count, 0);
    function_hooks_begin_in_child();
    agent_lab_take();
    CHECK_EQUAL(agent_lab.block_count, 2);
    CHECK_EQUAL(agent_lab_block_at((const void *)asked_sum)->number, number);
    CHECK(agent_lab_block_at((const void *)asked_other) != NULL);
}

/* ---- without memory ---------------------------------------------------------------------------------------------- */

static void limit_memory(rlim_t more_bytes)
{
    struct rlimit limit = {.rlim_max = RLIM_INFINITY};
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    limit.rlim_cur = more_bytes == RLIM_INFINITY ? RLIM_INFINITY : pages * 4096 + more_bytes;
    CHECK_EQUAL(setrlimit(RLIMIT_AS, &limit), 0);
}

/* Wherever memory ends, either it is hooked or it is counted that it is not. */
static void without_memory_nothing_is_hooked_and_that_is_counted(void)
{
    unsigned hooked_count = 0, lacking_count = 0;

    agent_lab_begin(0, RING_DROP);
    wanted.hooked = want(AGENT_PATTERN_HOOK, "asked_sum");
    begin();
    for (rlim_t bytes = 0; bytes <= 256u << 20; bytes += bytes / 8 + 4096) {
        uint64_t lacked = losses().no_memory_count;

        limit_memory(bytes);
        (void)function_hooks_add(&own, "/proc/self/exe", &wanted);
        CHECK_EQUAL(function_hooks_commit(), 0);
        limit_memory(RLIM_INFINITY);
        CHECK_EQUAL(asked_sum(20, 22), 42);
        if (hook_set_count() != 0) {
            hooked_count++;
            break;
        }
        CHECK(losses().no_memory_count > lacked);
        lacking_count++;
    }
    CHECK_EQUAL(hooked_count, 1);
    CHECK(lacking_count != 0);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(chosen_functions_are_recorded_and_others_left_alone),
    CHECK_CASE(functions_are_described_before_they_are_hooked),
    CHECK_CASE(code_is_as_it_was_when_hooks_are_removed),
    CHECK_CASE(a_function_that_is_too_short_is_told),
    CHECK_CASE(a_function_with_two_names_is_hooked_once),
    CHECK_CASE(a_function_that_is_hooked_is_not_hooked_again),
    CHECK_CASE(what_is_excluded_is_not_hooked),
    CHECK_CASE(functions_of_other_parts_of_the_file_are_left_alone),
    CHECK_CASE(what_is_no_program_has_no_functions),
    CHECK_CASE(calls_are_looked_at_with_and_without_records),
    CHECK_CASE(what_the_user_says_of_arguments_comes_before_what_is_known),
    CHECK_CASE(where_errno_is_becomes_known_without_a_hook),
    CHECK_CASE(the_loaders_notification_is_heard_without_being_recorded),
    CHECK_CASE(forks_of_the_c_library_are_heard_though_nobody_asks_for_them),
    CHECK_CASE(a_childs_ring_has_all_functions_with_their_numbers),
    CHECK_CASE(without_memory_nothing_is_hooked_and_that_is_counted),
};

CHECK_APART_MAIN(cases)

#else

int main(void)
{
    check_skip("hooks are for x86-64 so far");
}

#endif
