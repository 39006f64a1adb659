/* SPDX-License-Identifier: MIT */
#include "stalker/follow.h"
#include "stalker/translator.h"
#include "stalker/vectors.h"

#include "arch/host_cpu.h"
#include "stalker/system_call.h"
#include "support/check.h"

#include <errno.h>

static void begin(void)
{
    if (strcmp(host_cpu_name(), "arm64") != 0)
        check_skip("this test is for arm64");
}

static int prepare(void *a, const void *b, void *c, struct stalker_thread **thread_out)
{
    (void)b;
    (void)c;
    (void)thread_out;
    *(bool *)a = true;
    return 0;
}

static void following_is_refused(void)
{
    bool is_prepared = false;

    begin();
    CHECK(translator_host() == NULL);
    CHECK_EQUAL(stalker_follow_caller(&is_prepared, NULL, NULL, prepare), -EOPNOTSUPP);
    CHECK(!is_prepared);
    CHECK_EQUAL(stalker_clone(NULL, NULL), -EOPNOTSUPP);
}

static void no_register_is_used(void)
{
    struct system_call call = {0};
    long result = 77;

    begin();
    stalker_segment_set(0x1000);
    CHECK_EQUAL(stalker_segment_get(), 0);
    CHECK(!stalker_segment_call(NULL, &call, &result));
    CHECK_EQUAL(result, 77);
    CHECK_EQUAL(vector_state_bytes(), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(following_is_refused),
    CHECK_CASE(no_register_is_used),
};

CHECK_MAIN(cases)
