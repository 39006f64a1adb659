/* SPDX-License-Identifier: MIT */
#include "kernel/tracefs.h"

#include "support/check.h"

#include <errno.h>
#include <unistd.h>

static struct gait_error err;

static void files_are_read(void)
{
    char *text;
    size_t size;

    CHECK_EQUAL(tracefs_read("events/sched/sched_switch/format", &text, &size, &err), 0);
    CHECK_EQUAL(strlen(text), size);
    CHECK(strstr(text, "name: sched_switch") == text);
    free(text);
    CHECK_EQUAL(tracefs_read("events/no/such/format", &text, &size, &err), -ENOENT);
}

/* Whether it was mounted for us alone or by others, the path stays. */
static void the_place_is_found_once(void)
{
    const char *first, *second;

    CHECK_EQUAL(tracefs_find(&first, &err), 0);
    CHECK_EQUAL(tracefs_find(&second, &err), 0);
    CHECK(first == second);
    CHECK_EQUAL(access(first, R_OK | X_OK), 0);
}

int main(void)
{
    static const struct check_case cases[] = {CHECK_CASE(files_are_read), CHECK_CASE(the_place_is_found_once)};
    const char *path;

    if (tracefs_find(&path, &err) != 0)
        check_skip(err.text);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
