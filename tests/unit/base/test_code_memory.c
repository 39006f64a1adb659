/* SPDX-License-Identifier: MIT */
#include "base/code_memory.h"

#include "base/assert.h"
#include "base/counters.h"
#include "base/memory_map.h"
#include "support/check.h"
#include "support/forbid.h"
#include "support/machine_code.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#define CALLS_WHILE_PATCHED 200000

static char last_assertion[128];

static void remember_assertion(const char *text, const char *file, int line)
{
    (void)file;
    (void)line;
    snprintf(last_assertion, sizeof(last_assertion), "%s", text);
}

/* In debug builds the text that the last misuse was asserted with; in release builds there is none. */
static void check_asserted(const char *text)
{
#ifdef NDEBUG
    text = "";
#endif
    CHECK_TEXT(last_assertion, text);
    last_assertion[0] = '\0';
}

static struct code_memory *created(size_t size_bytes, enum code_view_mode mode)
{
    struct code_memory_options options = {.size_bytes = size_bytes, .mode = mode};
    struct code_memory *memory = NULL;

    CHECK_EQUAL(code_memory_create(&options, &memory), 0);
    return memory;
}

/* Writes and commits a function that returns the constant. */
static struct cache_pc add_function(struct code_memory *memory, uint16_t constant)
{
    struct code_writer writer;

    CHECK_EQUAL(code_memory_reserve(memory, 64, &writer), 0);
    machine_code_put_function(&writer, constant);
    CHECK_EQUAL(code_memory_commit(memory, &writer), 0);
    CHECK(code_memory_check(memory));
    return writer.base_pc;
}

static void write_run_and_patch(enum code_view_mode mode)
{
    struct code_memory *memory = created(1 << 20, mode);
    struct cache_pc functions[50];

    for (uint16_t i = 0; i < 50; i++) {
        functions[i] = add_function(memory, i);
        CHECK_EQUAL(functions[i].value % CODE_MEMORY_ALIGNMENT, 0);
    }
    for (uint16_t i = 0; i < 50; i++)
        CHECK_EQUAL(machine_code_call(functions[i]), i);
    for (uint16_t i = 0; i < 50; i++) {
        struct cache_pc place = cache_pc_of(functions[i].value + MACHINE_CODE_PATCH_OFFSET);
        uint16_t constant = (uint16_t)(i + 1000);

        CHECK_EQUAL(code_memory_patch(memory, place, machine_code_patch(constant), MACHINE_CODE_PATCH_BYTES), 0);
        CHECK_EQUAL(machine_code_call(functions[i]), constant);
    }
    CHECK_EQUAL(code_memory_patches_are_live(memory), code_memory_mode(memory) != CODE_VIEW_FREEZE);
    code_memory_destroy(memory);
}

static void generated_code_runs_and_is_patched_in_every_mode(void)
{
    for (enum code_view_mode mode = CODE_VIEW_AUTO; mode <= CODE_VIEW_FREEZE; mode++)
        write_run_and_patch(mode);
}

static int run_under_rule(void)
{
    check_failures = 0;
    write_run_and_patch(CODE_VIEW_AUTO);
    return check_failures != 0;
}

static void run_without_rwx(void)
{
    _exit(forbid_writable_and_executable() ? run_under_rule() : 77);
}

static void run_without_rwx_and_files(void)
{
    _exit(forbid_writable_and_executable() && forbid_memory_files() ? run_under_rule() : 77);
}

static void run_without_gaining_execute(void)
{
    _exit(forbid_gaining_execute() ? run_under_rule() : 77);
}

static void generated_code_runs_where_the_system_forbids_things(void)
{
    void (*const runs[])(void) = {run_without_rwx, run_without_rwx_and_files, run_without_gaining_execute};

    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        int status = forbid_in_child(runs[i]);

        if (status == 77)
            printf("not tried: this system cannot forbid that\n");
        else
            CHECK_EQUAL(status, 0);
    }
}

static void pieces_stand_one_behind_the_other_and_the_rest_is_given_back(void)
{
    struct code_memory *memory = created(4096, CODE_VIEW_RWX);
    struct code_writer writer;

    CHECK_EQUAL(code_memory_reserve(memory, 4096, &writer), 0);
    CHECK_EQUAL(writer.base_pc.value, code_memory_start(memory).value);
    CHECK_EQUAL(code_writer_room(&writer), 4096);
    code_writer_put_bytes(&writer, "seventeen bytes.", 17);
    CHECK_EQUAL(code_memory_commit(memory, &writer), 0);
    CHECK_EQUAL(code_writer_offset(&writer), 17);
    CHECK_EQUAL(code_writer_room(&writer), 0);
    CHECK_EQUAL(code_memory_committed(memory), 32);
    CHECK_EQUAL(code_memory_room(memory), 4096 - 32);
    CHECK_EQUAL(code_memory_reserve(memory, 16, &writer), 0);
    CHECK_EQUAL(writer.base_pc.value, code_memory_start(memory).value + 32);
    CHECK_EQUAL(code_memory_commit(memory, &writer), 0);
    CHECK_EQUAL(code_memory_committed(memory), 32);
    code_memory_destroy(memory);
}

static void in_mode_freeze_a_commit_ends_its_page(void)
{
    struct code_memory *memory = created(8 * memory_page_size(), CODE_VIEW_FREEZE);
    struct cache_pc first = add_function(memory, 1), second;
    struct code_writer writer;

    CHECK_EQUAL(code_memory_reserve(memory, 64, &writer), 0);
    /* With a reservation open the first function still runs. */
    CHECK_EQUAL(machine_code_call(first), 1);
    machine_code_put_function(&writer, 2);
    CHECK_EQUAL(code_memory_commit(memory, &writer), 0);
    second = writer.base_pc;
    CHECK_EQUAL(second.value - first.value, memory_page_size());
    CHECK_EQUAL(machine_code_call(second), 2);
    code_memory_destroy(memory);
}

static void more_than_is_left_cannot_be_reserved(void)
{
    struct code_memory *memory = created(4096, CODE_VIEW_RWX);
    size_t size = code_memory_size(memory);
    struct code_writer writer = {.start = NULL};

    CHECK_EQUAL(code_memory_reserve(memory, size + 1, &writer), -ENOSPC);
    CHECK_EQUAL(code_memory_reserve(memory, SIZE_MAX, &writer), -ENOSPC);
    CHECK_EQUAL(code_memory_reserve(memory, 0, &writer), -EINVAL);
    CHECK(writer.start == NULL);
    CHECK_EQUAL(code_memory_reserve(memory, size, &writer), 0);
    while (code_writer_room(&writer) > 0)
        code_writer_put_u8(&writer, 0xcc);
    CHECK_EQUAL(code_memory_commit(memory, &writer), 0);
    CHECK_EQUAL(code_memory_room(memory), 0);
    CHECK_EQUAL(code_memory_reserve(memory, 1, &writer), -ENOSPC);
    code_memory_destroy(memory);
}

static void an_overflowed_writer_is_aborted_by_its_commit(void)
{
    struct code_memory *memory = created(4096, CODE_VIEW_AUTO);
    struct code_writer writer;
    uint64_t overflows = counter_read(COUNTER_code_overflows);

    CHECK_EQUAL(code_memory_reserve(memory, 4, &writer), 0);
    code_writer_put_u64(&writer, 1);
    CHECK_EQUAL(code_memory_commit(memory, &writer), -ENOSPC);
    CHECK_EQUAL(code_memory_committed(memory), 0);
    CHECK_EQUAL(counter_read(COUNTER_code_overflows) - overflows, 1);
    CHECK_EQUAL(machine_code_call(add_function(memory, 5)), 5);
    code_memory_destroy(memory);
}

static void an_aborted_reservation_leaves_nothing(void)
{
    struct code_memory *memory = created(4096, CODE_VIEW_FREEZE);
    struct code_writer writer;

    CHECK_EQUAL(code_memory_reserve(memory, 100, &writer), 0);
    code_writer_put_u64(&writer, 1);
    code_memory_abort(memory, &writer);
    CHECK_EQUAL(code_memory_committed(memory), 0);
    code_writer_put_u8(&writer, 1);
    CHECK(code_writer_overflowed(&writer));
    CHECK_EQUAL(machine_code_call(add_function(memory, 6)), 6);
    code_memory_destroy(memory);
}

static void a_second_reservation_is_refused(void)
{
    struct code_memory *memory = created(4096, CODE_VIEW_AUTO);
    struct code_writer writer, second;

    CHECK_EQUAL(code_memory_reserve(memory, 10, &writer), 0);
    CHECK_EQUAL(code_memory_reserve(memory, 10, &second), -EBUSY);
    check_asserted("reserving code memory while a reservation is open");
    CHECK_EQUAL(code_memory_commit(memory, &writer), 0);
    check_asserted("");
    code_memory_destroy(memory);
}

static void only_the_open_writer_can_be_committed_or_aborted(void)
{
    struct code_memory *memory = created(4096, CODE_VIEW_AUTO), *other = created(4096, CODE_VIEW_AUTO);
    struct code_writer writer, foreign;

    CHECK_EQUAL(code_memory_reserve(memory, 10, &writer), 0);
    CHECK_EQUAL(code_memory_reserve(other, 10, &foreign), 0);
    code_writer_put_u8(&writer, 1);
    CHECK_EQUAL(code_memory_commit(memory, &foreign), -EINVAL);
    check_asserted("committing what is not the open reservation");
    code_memory_abort(memory, &foreign);
    check_asserted("aborting what is not the open reservation");
    CHECK_EQUAL(code_memory_commit(memory, &writer), 0);
    check_asserted("");
    CHECK_EQUAL(code_memory_commit(memory, &writer), -EINVAL);
    check_asserted("committing what is not the open reservation");
    code_memory_abort(memory, &writer);
    check_asserted("aborting what is not the open reservation");
    CHECK_EQUAL(code_memory_committed(memory), 16);
    code_memory_abort(other, &foreign);
    code_memory_destroy(memory);
    code_memory_destroy(other);
}

static void writing_outside_of_the_reservation_is_noticed(void)
{
    struct code_memory *memory = created(4096, CODE_VIEW_RWX);
    struct code_writer writer;

    CHECK_EQUAL(code_memory_reserve(memory, 10, &writer), 0);
    writer.start[12] = 0x55;
    CHECK_EQUAL(code_memory_commit(memory, &writer), -EINVAL);
    check_asserted("code was written outside of its reservation");
    CHECK_EQUAL(code_memory_reserve(memory, 10, &writer), 0);
    writer.cursor = writer.limit + 1;
    CHECK_EQUAL(code_memory_commit(memory, &writer), -EINVAL);
    check_asserted("code was written outside of its reservation");
    CHECK_EQUAL(code_memory_committed(memory), 0);
    CHECK_EQUAL(machine_code_call(add_function(memory, 7)), 7);
    code_memory_destroy(memory);
}

static void patches_are_one_aligned_store_in_committed_code(void)
{
    struct code_memory *memory = created(4096, CODE_VIEW_DUAL);
    uint64_t start = code_memory_start(memory).value;
    const uint8_t *bytes = (const uint8_t *)(uintptr_t)start;
    struct code_writer writer;

    CHECK_EQUAL(code_memory_reserve(memory, 64, &writer), 0);
    code_writer_put_bytes(&writer, "0123456789abcdef0123456789abcdef", 32);
    CHECK_EQUAL(code_memory_patch(memory, cache_pc_of(start), 0, 1), -ERANGE);
    check_asserted("patching outside of committed code");
    CHECK_EQUAL(code_memory_commit(memory, &writer), 0);
    for (size_t size = 0; size <= 16; size++) {
        for (uint64_t offset = 0; offset < 16; offset++) {
            bool fine = (size == 1 || size == 2 || size == 4 || size == 8) && offset % size == 0;

            CHECK_EQUAL(code_memory_patch(memory, cache_pc_of(start + offset), 0, size), fine ? 0 : -EINVAL);
            check_asserted(fine ? "" : "patching code with something else than one aligned store");
        }
    }
    CHECK_EQUAL(code_memory_patch(memory, cache_pc_of(start + 24), 0x1122334455667788, 4), 0);
    CHECK(memcmp(bytes + 16,
                 "01234567\x88\x77\x66\x55"
                 "cdef",
                 16) == 0);
    CHECK_EQUAL(code_memory_patch(memory, cache_pc_of(start + 32), 0, 1), -ERANGE);
    check_asserted("patching outside of committed code");
    CHECK_EQUAL(code_memory_patch(memory, cache_pc_of(start - 8), 0, 8), -ERANGE);
    check_asserted("patching outside of committed code");
    code_memory_destroy(memory);
}

static void impossible_memories_are_refused(void)
{
    struct code_memory_options options = {.size_bytes = 0};
    struct code_memory *memory = NULL;

    CHECK_EQUAL(code_memory_create(&options, &memory), -EINVAL);
    options.size_bytes = 8ull << 30;
    options.near = (uintptr_t)&impossible_memories_are_refused;
    CHECK_EQUAL(code_memory_create(&options, &memory), -ENOMEM);
    CHECK(memory == NULL);
}

static struct cache_pc live_function;
static _Atomic bool patching;
static _Atomic size_t calls;
static _Atomic size_t strange_results;

static void *call_all_the_time(void *argument)
{
    while (atomic_load_explicit(&patching, memory_order_acquire)) {
        unsigned result = machine_code_call(live_function);

        if (result != 0x1111 && result != 0x2222)
            atomic_fetch_add_explicit(&strange_results, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    }
    return argument;
}

static void running_code_sees_the_old_or_the_new_bytes(void)
{
    for (enum code_view_mode mode = CODE_VIEW_RWX; mode <= CODE_VIEW_DUAL; mode++) {
        struct code_memory *memory = created(4096, mode);
        struct cache_pc place;
        pthread_t caller;

        live_function = add_function(memory, 0x1111);
        place = cache_pc_of(live_function.value + MACHINE_CODE_PATCH_OFFSET);
        atomic_store_explicit(&patching, true, memory_order_release);
        CHECK_EQUAL(pthread_create(&caller, NULL, call_all_the_time, NULL), 0);
        atomic_store_explicit(&calls, 0, memory_order_relaxed);
        for (int i = 0; atomic_load_explicit(&calls, memory_order_relaxed) < CALLS_WHILE_PATCHED; i++)
            CHECK_EQUAL(code_memory_patch(memory, place, machine_code_patch(i % 2 == 0 ? 0x2222 : 0x1111), 4), 0);
        atomic_store_explicit(&patching, false, memory_order_release);
        pthread_join(caller, NULL);
        CHECK_EQUAL(strange_results, 0);
        code_memory_destroy(memory);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(generated_code_runs_and_is_patched_in_every_mode),
    CHECK_CASE(generated_code_runs_where_the_system_forbids_things),
    CHECK_CASE(pieces_stand_one_behind_the_other_and_the_rest_is_given_back),
    CHECK_CASE(in_mode_freeze_a_commit_ends_its_page),
    CHECK_CASE(more_than_is_left_cannot_be_reserved),
    CHECK_CASE(an_overflowed_writer_is_aborted_by_its_commit),
    CHECK_CASE(an_aborted_reservation_leaves_nothing),
    CHECK_CASE(a_second_reservation_is_refused),
    CHECK_CASE(only_the_open_writer_can_be_committed_or_aborted),
    CHECK_CASE(writing_outside_of_the_reservation_is_noticed),
    CHECK_CASE(patches_are_one_aligned_store_in_committed_code),

    CHECK_CASE(impossible_memories_are_refused),
    CHECK_CASE(running_code_sees_the_old_or_the_new_bytes),
};

int main(void)
{
    assert_handler_set(remember_assertion);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
