/* SPDX-License-Identifier: MIT */
#include "stalker/stalker_gate.h"

#include "stalker/system_call.h"
#include "stalker/thread.h"
#include "support/check.h"

#include <asm/prctl.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t first_word(void)
{
    uint64_t value;

    __asm__ volatile("movq %%gs:0, %0" : "=r"(value));
    return value;
}

static void the_base_is_what_was_set(void)
{
    static const uint64_t marks[] = {0x1122334455667788, 0x99aabbccddeeff00};
    uint64_t before = stalker_base_get();

    for (int i = 0; i < 2; i++) {
        stalker_base_set((uintptr_t)&marks[i]);
        CHECK_EQUAL(stalker_base_get(), (uintptr_t)&marks[i]);
        CHECK_EQUAL(first_word(), marks[i]);
    }
    stalker_base_set(before);
    CHECK_EQUAL(stalker_base_get(), before);
}

static bool call_segment(struct stalker_thread *thread, long code, uint64_t argument, long *result_out)
{
    struct system_call call = {.number = SYS_arch_prctl, .arguments = {code, (long)argument}};

    return stalker_base_call(thread, &call, result_out);
}

static void the_programs_base_is_kept_apart(void)
{
    uint64_t before = stalker_base_get(), seen = 0;
    struct stalker_thread thread = {.thread_base = 0x1000};
    long result = -1;

    CHECK(call_segment(&thread, ARCH_GET_GS, (uintptr_t)&seen, &result));
    CHECK_EQUAL(result, 0);
    CHECK_EQUAL(seen, 0x1000);
    result = -1;
    CHECK(call_segment(&thread, ARCH_SET_GS, 0x123456789000, &result));
    CHECK_EQUAL(result, 0);
    CHECK_EQUAL(thread.thread_base, 0x123456789000);
    CHECK_EQUAL(stalker_base_get(), before);
    CHECK(call_segment(&thread, ARCH_GET_GS, (uintptr_t)&seen, &result));
    CHECK_EQUAL(seen, 0x123456789000);
    /* What the kernel does not take is not taken. */
    CHECK(call_segment(&thread, ARCH_SET_GS, ~0ull, &result));
    CHECK_EQUAL(result, -EPERM);
    CHECK(call_segment(&thread, ARCH_GET_GS, 8, &result));
    CHECK_EQUAL(result, -EFAULT);
    CHECK_EQUAL(thread.thread_base, 0x123456789000);
    CHECK_EQUAL(stalker_base_get(), before);
}

static void other_uses_of_the_system_call_are_not_ours(void)
{
    struct stalker_thread thread = {.thread_base = 0x1000};
    uint64_t seen = 7;
    long result = 77;

    CHECK(!call_segment(&thread, ARCH_GET_FS, (uintptr_t)&seen, &result));
    CHECK(!call_segment(&thread, ARCH_SET_FS, 0, &result));
    CHECK(!call_segment(&thread, 0x9999, 0, &result));
    CHECK_EQUAL(seen, 7);
    CHECK_EQUAL(result, 77);
    CHECK_EQUAL(thread.thread_base, 0x1000);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_base_is_what_was_set),
    CHECK_CASE(the_programs_base_is_kept_apart),
    CHECK_CASE(other_uses_of_the_system_call_are_not_ours),
};

CHECK_MAIN(cases)
