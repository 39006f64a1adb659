/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/system_call_text.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <errno.h>
#include <sys/mman.h>

#define ROUNDS 60000

static struct call_text_run run;

static void calls_nobody_knows_are_numbers(void)
{
    struct system_call_event event = {.kind = SYSTEM_CALL_LEFT, .number = 5000, .arguments = {1, 0x20}, .result = -38};

    call_text_run_init(&run);
    system_call_text_put(&run.out, &event, &run.options);
    CHECK_TEXT(run.buffer, "syscall_0x1388(0x1, 0x20, 0, 0, 0, 0) = -1 ENOSYS (Function not implemented)");
}

static void calls_that_go_on_say_which(void)
{
    struct system_call_event event = {.kind = SYSTEM_CALL_ENTERED};
    struct system_call_progress progress = {0};

    call_text_run_init(&run);
    event.number = (uint64_t)system_call_by_name("nanosleep", 9)->number;
    system_call_text_enter(&run.out, &event, &run.options, &progress);
    call_text_run_clear(&run);
    event.number = (uint64_t)system_call_by_name("restart_syscall", 15)->number;
    system_call_text_enter(&run.out, &event, &run.options, &progress);
    CHECK_TEXT(run.buffer, "restart_syscall(<... resuming interrupted nanosleep ...>");
}

static const char *result(const char *name, int64_t value, unsigned flags)
{
    const struct system_call_event event = {
        .kind = SYSTEM_CALL_LEFT,
        .number = name == NULL ? 5000 : (uint64_t)system_call_by_name(name, strlen(name))->number,
        .result = value,
        .flags = flags,
    };

    call_text_run_init(&run);
    system_call_text_result(&run.out, &event, &run.options);
    return run.buffer;
}

static void results_by_kind(void)
{
    CHECK_TEXT(result("read", 5, 0), "5");
    CHECK_TEXT(result("mmap", 0x7000, 0), "0x7000");
    CHECK_TEXT(result("umask", 022, 0), "022");
    CHECK_TEXT(result("sched_getscheduler", 0, 0), "0 (SCHED_OTHER)");
    CHECK_TEXT(result("rt_sigtimedwait", 17, 0), "17 (SIGCHLD)");
    CHECK_TEXT(result(NULL, 9, 0), "9");
    CHECK_TEXT(result("lseek", INT64_MIN, 0), "-9223372036854775808");
}

static void errors_by_name(void)
{
    CHECK_TEXT(result("read", -ENOENT, 0), "-1 ENOENT (No such file or directory)");
    CHECK_TEXT(result("read", -512, 0), "? ERESTARTSYS (To be restarted if SA_RESTART is set)");
    CHECK_TEXT(result("read", -4000, 0), "-1 (errno 4000)");
}

static void what_was_done_to_it_is_told(void)
{
    CHECK_TEXT(result("read", -EIO, SYSTEM_CALL_INJECTED), "-1 EIO (Input/output error) (INJECTED)");
    CHECK_TEXT(result("read", 1, SYSTEM_CALL_DELAYED), "1 (DELAYED)");
    CHECK_TEXT(result("exit_group", 0, SYSTEM_CALL_NEVER_RETURNS), "?");
}

/* Splitmix. */
static uint64_t random_next(uint64_t *state)
{
    uint64_t value = *state += 0x9e3779b97f4a7c15;

    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

/* Memory full of anything, that lies about what it is and ends at any place. */
struct hostile_memory {
    uint64_t state;
};

static size_t read_hostile(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    struct hostile_memory *hostile = context;
    uint64_t mood = random_next(&hostile->state) ^ address;
    size_t there = mood % 8 == 0 ? (size_t)(mood >> 8) % (size_bytes + 1) : size_bytes;

    for (size_t i = 0; i < there; i++)
        ((unsigned char *)bytes_out)[i] = mood % 3 == 0   ? 0
                                          : mood % 3 == 1 ? 0xff
                                                          : (unsigned char)random_next(&hostile->state);
    return there;
}

static uint64_t random_argument(uint64_t *state)
{
    uint64_t value = random_next(state);

    switch (random_next(state) % 5) {
    case 0:
        return value % 64;
    case 1:
        return value % 4 == 0 ? UINT64_MAX : 1ULL << value % 64;
    case 2:
        return value & 0xffff;
    case 3:
        return 0x7f0000000000 + (value & 0xffffff);
    default:
        return value;
    }
}

static void anything_can_be_written(void)
{
    struct hostile_memory hostile = {1};
    const struct call_memory memory = {read_hostile, &hostile};
    uint64_t state = 2;

    call_text_run_init(&run);
    for (unsigned round = 0; round < ROUNDS; round++) {
        const struct system_call_signature *call = system_call_at(random_next(&state) % system_call_count());
        struct system_call_event event = {.kind = SYSTEM_CALL_LEFT, .memory = &memory};

        event.number = call->number < 0 ? 9999 : (uint64_t)call->number;
        for (unsigned i = 0; i < SYSTEM_CALL_ARGUMENTS_MAX; i++)
            event.arguments[i] = random_argument(&state);
        event.result =
            random_next(&state) % 3 == 0 ? -(int64_t)(random_next(&state) % 600) : (int64_t)random_argument(&state);
        run.options.is_verbose = round % 2 == 0;
        run.options.string_bytes = round % 7 == 0 ? 0 : 32;
        call_text_run_clear(&run);
        system_call_text_put(&run.out, &event, &run.options);
        CHECK_EQUAL(strncmp(run.buffer, call->number < 0 ? "syscall_0x270f" : call->name,
                            call->number < 0 ? 14 : strlen(call->name)),
                    0);
        CHECK_EQUAL(strlen(run.buffer), run.out.used);
    }
}

static void texts_have_no_control_characters(void)
{
    struct hostile_memory hostile = {3};
    const struct call_memory memory = {read_hostile, &hostile};
    uint64_t state = 4;

    call_text_run_init(&run);
    for (unsigned round = 0; round < ROUNDS / 10; round++) {
        struct system_call_event event = {.kind = SYSTEM_CALL_LEFT, .memory = &memory, .result = 100};

        event.number = random_next(&state) % 470;
        for (unsigned i = 0; i < SYSTEM_CALL_ARGUMENTS_MAX; i++)
            event.arguments[i] = random_argument(&state);
        call_text_run_clear(&run);
        system_call_text_put(&run.out, &event, &run.options);
        for (size_t i = 0; i < run.out.used; i++)
            CHECK_EQUAL((unsigned char)run.buffer[i] >= ' ' && (unsigned char)run.buffer[i] < 0x7f, 1);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_nobody_knows_are_numbers),
    CHECK_CASE(calls_that_go_on_say_which),
    CHECK_CASE(results_by_kind),
    CHECK_CASE(errors_by_name),
    CHECK_CASE(what_was_done_to_it_is_told),
    CHECK_CASE(anything_can_be_written),
    CHECK_CASE(texts_have_no_control_characters),
};

CHECK_MAIN(cases)
