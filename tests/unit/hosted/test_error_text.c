/* SPDX-License-Identifier: MIT */
#include "hosted/error_text.h"

#include "support/check.h"

#include <errno.h>

static void code_and_text_are_kept(void)
{
    struct gait_error err;

    CHECK_EQUAL(error_set(&err, ENOENT, "cannot open %s: %d", "it", 7), -ENOENT);
    CHECK_EQUAL(err.code, ENOENT);
    CHECK_TEXT(err.text, "cannot open it: 7");
    CHECK_EQUAL(error_set(&err, -EINVAL, "x"), -EINVAL);
    CHECK_EQUAL(err.code, EINVAL);
}

static void nobody_has_to_listen(void)
{
    CHECK_EQUAL(error_set(NULL, EIO, "nobody reads %s", "this"), -EIO);
}

static void long_texts_are_cut_off(void)
{
    struct gait_error err;
    char text[2 * GAIT_ERROR_TEXT_BYTES];

    memset(text, 'a', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    error_set(&err, EIO, "%s", text);
    CHECK_EQUAL(strlen(err.text), GAIT_ERROR_TEXT_BYTES - 1);
}

static const struct check_case cases[] = {
    CHECK_CASE(code_and_text_are_kept),
    CHECK_CASE(nobody_has_to_listen),
    CHECK_CASE(long_texts_are_cut_off),
};

CHECK_MAIN(cases)
