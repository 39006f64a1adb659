/* SPDX-License-Identifier: MIT */
#include "cli/reading_status.h"

#include "support/check.h"
#include "trace/stream_reader.h"

#include <errno.h>

static enum command_status end_with(enum stream_state state, int code, int result, struct gait_error *err)
{
    const struct command_call call = {.error = err};
    const struct stream_end end = {.state = state, .code = code, .reason = "it was so"};

    *err = (struct gait_error){.code = 0};
    (void)stream_end_check(&end, "stream", err);
    return reading_status(&call, result);
}

static void what_is_whole_is_done(void)
{
    struct gait_error err;

    CHECK_EQUAL(end_with(STREAM_COMPLETE, 0, 0, &err), COMMAND_DONE);
    CHECK_EQUAL(end_with(STREAM_COMPLETE, 0, -ENOMEM, &err), COMMAND_FAILED);
}

/* Whatever read it, and what that said. */
static void what_is_cut_off_is_done(void)
{
    struct gait_error err;

    CHECK_EQUAL(end_with(STREAM_CUT_OFF, ENODATA, 0, &err), COMMAND_DONE);
    CHECK(strstr(err.text, "it is cut off") != NULL);
    CHECK_EQUAL(end_with(STREAM_CUT_OFF, ENODATA, -EPROTO, &err), COMMAND_DONE);
}

static void what_is_damaged_has_failed(void)
{
    struct gait_error err;

    CHECK_EQUAL(end_with(STREAM_DAMAGED, EPROTO, 0, &err), COMMAND_FAILED);
    CHECK(strstr(err.text, "it is damaged") != NULL);
    CHECK_EQUAL(end_with(STREAM_FAILED, EIO, 0, &err), COMMAND_FAILED);
}

/* In whatever order they are read. */
static void damage_matters_more_than_an_early_end(void)
{
    const struct gait_error none = {.code = 0}, cut = {.code = ENODATA}, damage = {.code = EPROTO};

    CHECK(stream_error_outweighs(&cut, &none));
    CHECK(stream_error_outweighs(&damage, &cut));
    CHECK(!stream_error_outweighs(&cut, &damage));
    CHECK(!stream_error_outweighs(&none, &none));
    CHECK(!stream_error_outweighs(&cut, &cut));
    CHECK(!stream_error_outweighs(&damage, NULL));
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_whole_is_done),
    CHECK_CASE(what_is_cut_off_is_done),
    CHECK_CASE(what_is_damaged_has_failed),
    CHECK_CASE(damage_matters_more_than_an_early_end),
};

CHECK_MAIN(cases)
