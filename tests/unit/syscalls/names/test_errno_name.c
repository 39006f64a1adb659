/* SPDX-License-Identifier: MIT */
#include "syscalls/names/errno_name.h"

#include "support/check.h"

#include <errno.h>
#include <stddef.h>

static void errors_have_names_and_meanings(void)
{
    CHECK_TEXT(errno_name(ENOENT), "ENOENT");
    CHECK_TEXT(errno_name(EAGAIN), "EAGAIN");
    CHECK_TEXT(errno_name(ENOTSUP), "EOPNOTSUPP");
    CHECK_TEXT(errno_meaning(ENOENT), "No such file or directory");
    CHECK_EQUAL(errno_name(4000) == NULL, 1);
    CHECK_EQUAL(errno_meaning(4000) == NULL, 1);
}

static void what_only_tracers_see_is_known(void)
{
    CHECK_TEXT(errno_name(512), "ERESTARTSYS");
    CHECK_TEXT(errno_meaning(514), "To be restarted if no handler");
}

static void names_lead_back(void)
{
    CHECK_EQUAL(errno_by_name("EACCES"), EACCES);
    CHECK_EQUAL(errno_by_name("13"), 13);
    CHECK_EQUAL(errno_by_name("EWHAT"), -1);
    CHECK_EQUAL(errno_by_name("0"), -1);
    CHECK_EQUAL(errno_by_name("5000"), -1);
    CHECK_EQUAL(errno_by_name(""), -1);
}

static const struct check_case cases[] = {
    CHECK_CASE(errors_have_names_and_meanings),
    CHECK_CASE(what_only_tracers_see_is_known),
    CHECK_CASE(names_lead_back),
};

CHECK_MAIN(cases)
