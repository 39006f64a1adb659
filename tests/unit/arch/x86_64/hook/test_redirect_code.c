/* SPDX-License-Identifier: MIT */
/* The bytes of jumps, hops and traps. */
#include "arch/x86_64/hook/hook_code.h"

#include "arch/engine.h"
#include "base/code_writer.h"
#include "hook/hook_plan.h"
#include "support/check.h"

#include <errno.h>

static void jumps_reach_two_gigabytes(void)
{
    struct hook_plan plan = {.patch_at = 0x10000000000, .patch_bytes = 5, .method = HOOK_JUMP};
    struct redirect redirect;

    CHECK_EQUAL(x86_redirect_make(&plan, 0x10000000105, &redirect), 0);
    CHECK(memcmp(redirect.bytes, "\xe9\x00\x01\x00\x00", 5) == 0);
    CHECK_EQUAL(x86_redirect_make(&plan, 0x10000000000, &redirect), 0);
    CHECK(memcmp(redirect.bytes, "\xe9\xfb\xff\xff\xff", 5) == 0);
    CHECK_EQUAL(x86_redirect_make(&plan, 0x10080000004, &redirect), 0);
    CHECK_EQUAL(x86_redirect_make(&plan, 0x10080000005, &redirect), -ERANGE);
    plan.method = HOOK_JUMP_INTO_PADDING;
    CHECK_EQUAL(x86_redirect_make(&plan, 0x10000000105, &redirect), 0);
    plan.patch_bytes = 4;
    CHECK_EQUAL(x86_redirect_make(&plan, 0x10000000105, &redirect), -EINVAL);
}

static void hops_lead_to_the_jump(void)
{
    struct hook_plan plan = {
        .patch_at = 0x1000, .patch_bytes = 2, .hop_at = 0x0ff0, .hop_bytes = 5, .method = HOOK_HOP};
    struct redirect redirect;

    CHECK_EQUAL(x86_redirect_make(&plan, 0x2000, &redirect), 0);
    CHECK(memcmp(redirect.bytes, "\xeb\xee", 2) == 0);
    CHECK(memcmp(redirect.hop, "\xe9\x0b\x10\x00\x00", 5) == 0);
    plan.hop_at = 0x2000;
    CHECK_EQUAL(x86_redirect_make(&plan, 0x2000, &redirect), -ERANGE);
}

static void a_trap_is_one_byte(void)
{
    struct hook_plan plan = {.patch_at = 0x1000, .patch_bytes = 1, .method = HOOK_TRAP};
    struct redirect redirect;

    CHECK_EQUAL(x86_redirect_make(&plan, UINT64_MAX, &redirect), 0);
    CHECK_EQUAL(redirect.bytes[0], 0xcc);
    plan.method = HOOK_IMPOSSIBLE;
    CHECK_EQUAL(x86_redirect_make(&plan, 0x2000, &redirect), -EINVAL);
}

static void a_far_jump_goes_anywhere(void)
{
    uint8_t bytes[REDIRECT_BYTES_MAX];
    struct code_writer writer;
    uint64_t target;

    code_writer_init(&writer, bytes, sizeof(bytes), cache_pc_of(0x1000));
    x86_redirect_jump(&writer, 0x7123456789ab);
    CHECK(!code_writer_overflowed(&writer));
    memcpy(&target, bytes + code_writer_offset(&writer) - 8, 8);
    CHECK_EQUAL(target, 0x7123456789ab);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(jumps_reach_two_gigabytes),
        CHECK_CASE(hops_lead_to_the_jump),
        CHECK_CASE(a_trap_is_one_byte),
        CHECK_CASE(a_far_jump_goes_anywhere),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
