/* SPDX-License-Identifier: MIT */
/* What silence does is tested in tests/unit/stalker/test_quiet_range.c. */
#include "gait/stalker.h"

#include "arch/engine.h"
#include "support/check.h"

#include <errno.h>

static struct gait_error err;

static void ranges_are_silenced_and_told_again(void)
{
    struct gait_stalker *stalker;

    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, &err), 0);
    CHECK(!gait_stalker_is_silent(stalker, 0x1000));
    CHECK_EQUAL(gait_stalker_silence(stalker, 0x1000, 0x1000, &err), 0);
    CHECK(gait_stalker_is_silent(stalker, 0x1000) && gait_stalker_is_silent(stalker, 0x1fff));
    CHECK(!gait_stalker_is_silent(stalker, 0xfff) && !gait_stalker_is_silent(stalker, 0x2000));
    CHECK_EQUAL(gait_stalker_unsilence(stalker, 0, 0x1800, &err), 0);
    CHECK(!gait_stalker_is_silent(stalker, 0x17ff) && gait_stalker_is_silent(stalker, 0x1800));
    gait_stalker_destroy(stalker);
}

static void what_is_no_range_is_refused_with_words(void)
{
    struct gait_stalker *stalker;

    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, &err), 0);
    CHECK_EQUAL(gait_stalker_silence(stalker, 0x1000, 0, &err), -EINVAL);
    CHECK(strstr(err.text, "0x1000 with 0 bytes is no range") != NULL);
    CHECK_EQUAL(gait_stalker_silence(stalker, UINT64_MAX - 1, 16, &err), -EINVAL);
    CHECK_EQUAL(gait_stalker_unsilence(stalker, 0x1000, 0, &err), -EINVAL);
    CHECK_EQUAL(gait_stalker_silence(NULL, 0x1000, 1, &err), -EINVAL);
    CHECK(strstr(err.text, "there is no stalker") != NULL);
    CHECK_EQUAL(gait_stalker_unsilence(NULL, 0x1000, 1, NULL), -EINVAL);
    CHECK(!gait_stalker_is_silent(NULL, 0x1000));
    gait_stalker_destroy(stalker);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(ranges_are_silenced_and_told_again),
        CHECK_CASE(what_is_no_range_is_refused_with_words),
    };

    if (engine_host() == NULL)
        check_skip("gait does not follow threads on this machine yet");
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
