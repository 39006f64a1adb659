/* SPDX-License-Identifier: MIT */
#include "hook/go/goroutine.h"

#include "hook/hook_record.h"
#include "hook/hook_thread.h"
#include "hook/stub_knowledge.h"
#include "support/check.h"

#include <string.h>

/* Of a file that says that it was built with that version. */
static uint64_t offset_for(const char *version, size_t length)
{
    uint8_t file[128] = {0};

    memcpy(file + 16, "\xff Go buildinf:\x08\x02", 16);
    file[16 + 32] = (uint8_t)length;
    memcpy(file + 16 + 33, version, length);
    CHECK_EQUAL(hook_goroutines_find(file, sizeof(file)), hook_goroutine_number_at != 0);
    return hook_goroutine_number_at;
}

#define OFFSET(version) offset_for((version), sizeof(version) - 1)

static void offsets_are_those_of_versions_that_are_known(void)
{
    CHECK_EQUAL(OFFSET("go1.18"), 152);
    CHECK_EQUAL(OFFSET("go1.19.8"), 152);
    CHECK_EQUAL(OFFSET("go1.22rc1"), 152);
    CHECK_EQUAL(OFFSET("go1.23.1 X:nocoverageredesign"), 160);
    CHECK_EQUAL(OFFSET("go1.16.4"), 0);
    CHECK_EQUAL(OFFSET("go1.99"), 0);
    CHECK_EQUAL(OFFSET("go1."), 0);
    CHECK_EQUAL(OFFSET("go2.19"), 0);
    CHECK_EQUAL(OFFSET("devel +1.19"), 0);
    CHECK_EQUAL(OFFSET("go1.99999999999999999999"), 0);
}

static void the_version_is_found_in_a_file(void)
{
    uint8_t file[256] = {0};

    memcpy(file + 96, "\xff Go buildinf:\x08\x02", 16);
    file[96 + 32] = 8;
    memcpy(file + 96 + 33, "go1.19.8", 8);
    CHECK(hook_goroutines_find(file, sizeof(file)));
    CHECK_EQUAL(hook_goroutine_number_at, 152);
    /* It is cut off. */
    hook_goroutine_number_at = 0;
    CHECK(!hook_goroutines_find(file, 96 + 33 + 7));
    CHECK(!hook_goroutines_find(file, 96 + 16));
    CHECK(!hook_goroutines_find(file, 0));
    /* Without the version in line, or at a place where linkers do not put it. */
    file[96 + 15] = 0;
    CHECK(!hook_goroutines_find(file, sizeof(file)));
    file[96 + 15] = 2;
    memmove(file + 104, file + 96, 64);
    memset(file + 96, 0, 8);
    CHECK(!hook_goroutines_find(file, sizeof(file)));
    CHECK_EQUAL(hook_goroutine_number_at, 0);
}

/* A stub's knowledge, a goroutine, and a thread whose buffer is here. */
static uint8_t stub_bytes[128];
static struct hook_record records[8];
static struct hook_thread thread;
static uint64_t goroutine[32];

static uint64_t stub_with(unsigned parts)
{
    uint64_t stub = (uintptr_t)stub_bytes + 64;
    uint32_t header = event_header(7, EVENT_RECORD_ENTER), all = parts;

    memcpy((void *)(uintptr_t)(stub + STUB_HEADER), &header, sizeof(header));
    memcpy((void *)(uintptr_t)(stub + STUB_PARTS), &all, sizeof(all));
    return stub;
}

static void is_record(unsigned which, uint32_t number, enum event_record kind, uint32_t depth)
{
    uint64_t what = atomic_load(&records[which].header_and_depth);

    CHECK_EQUAL((uint32_t)what, event_header(number, kind));
    CHECK_EQUAL((uint32_t)(what >> 32), depth);
}

static void calls_are_told_with_their_goroutine_and_height(void)
{
    hook_goroutine_number_at = 152;
    /* No byte of the position that says that a buffer is full may be zero, which is for the lanes to see to. */
    if ((((uintptr_t)records + sizeof(records)) & 0xff0000) == 0 || ((uintptr_t)records & 0xff0000) == 0)
        return;
    atomic_store(&thread.position, (uintptr_t)records);
    goroutine[1] = 0x9000;
    goroutine[19] = 0x500000012;
    hook_goroutine_record(&thread, stub_with(HOOK_STUB_GOROUTINE | HOOK_STUB_RECORD), (uintptr_t)goroutine, 0x8f00);
    hook_goroutine_record(&thread, stub_with(HOOK_STUB_GOROUTINE | HOOK_STUB_RECORD | HOOK_STUB_EXIT),
                          (uintptr_t)goroutine, 0x8e80);
    goroutine[19] = 0;
    hook_goroutine_record(&thread, stub_with(HOOK_STUB_GOROUTINE | HOOK_STUB_RECORD), (uintptr_t)goroutine, 0x8f00);
    is_record(0, 5, EVENT_RECORD_GOROUTINE, 0x12);
    is_record(1, 7, EVENT_RECORD_ENTER, EVENT_HEIGHT | 0x100);
    is_record(2, 7, EVENT_RECORD_LEAVE, EVENT_HEIGHT | 0x180);
    /* The runtime's own are known by where they are. */
    is_record(3, (uint32_t)(((uintptr_t)goroutine | 1ull << 58) >> 32), EVENT_RECORD_GOROUTINE,
              (uint32_t)(uintptr_t)goroutine);
    is_record(4, 7, EVENT_RECORD_ENTER, EVENT_HEIGHT | 0x100);
    hook_goroutine_number_at = 0;
}

static void a_thread_that_had_it_is_to_tell_it_again(void)
{
    static const struct hook_threads_options options = {0};
    struct hook_thread *own;
    bool is_forked;

    CHECK_EQUAL(hook_threads_begin(&options), 0);
    own = hook_thread_obtain(&is_forked);
    CHECK(own != NULL);
    hook_goroutine_number_at = 152;
    atomic_store(&thread.position, (uintptr_t)records);
    atomic_store(&thread.goroutine, 0);
    goroutine[19] = 18;
    atomic_store(&own->goroutine, 17);
    hook_goroutine_record(&thread, stub_with(HOOK_STUB_GOROUTINE | HOOK_STUB_RECORD), (uintptr_t)goroutine, 0x8f00);
    CHECK_EQUAL(atomic_load(&own->goroutine), 17);
    atomic_store(&own->goroutine, 18);
    hook_goroutine_record(&thread, stub_with(HOOK_STUB_GOROUTINE | HOOK_STUB_RECORD), (uintptr_t)goroutine, 0x8f00);
    CHECK_EQUAL(atomic_load(&own->goroutine), 18);
    atomic_store(&thread.goroutine, 0);
    hook_goroutine_record(&thread, stub_with(HOOK_STUB_GOROUTINE | HOOK_STUB_RECORD), (uintptr_t)goroutine, 0x8f00);
    CHECK_EQUAL(atomic_load(&own->goroutine), 0);
    CHECK_EQUAL(atomic_load(&thread.goroutine), 18);
    hook_goroutine_number_at = 0;
}

static const struct check_case cases[] = {
    CHECK_CASE(offsets_are_those_of_versions_that_are_known),
    CHECK_CASE(the_version_is_found_in_a_file),
    CHECK_CASE(calls_are_told_with_their_goroutine_and_height),
    CHECK_CASE(a_thread_that_had_it_is_to_tell_it_again),
};

CHECK_MAIN(cases)
