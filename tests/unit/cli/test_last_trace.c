/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/last_trace.h"

#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/last_trace_XXXXXX";
static struct gait_error err;

static void put(const char *name)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof(path), "traces/%s", name);
    CHECK_EQUAL(mkdir(path, 0777), 0);
    strcat(path, "/manifest.json");
    file = fopen(path, "w");
    CHECK(file != NULL);
    fclose(file);
}

static void the_one_that_began_last_is_meant(void)
{
    const char *found;
    char command[64];

    CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0);
    CHECK(last_trace_take("report", &err) == NULL);
    CHECK(strstr(err.text, "TRACE is missing") != NULL);
    CHECK_EQUAL(mkdir("traces", 0777), 0);
    CHECK(last_trace_take("report", &err) == NULL);
    put("zz-20260131-120000");
    put("a-b-20260201-120000");
    put("zz-20260131-235959");
    put("notes");
    CHECK_EQUAL(mkdir("traces/half-20270101-000000", 0777), 0);
    found = last_trace_take("report", &err);
    CHECK_TEXT(found == NULL ? "" : found, "traces/a-b-20260201-120000");
    /* Of one second, the one that was written last. */
    usleep(20000);
    put("a-b-20260201-120000-2");
    found = last_trace_take("report", &err);
    CHECK_TEXT(found == NULL ? "" : found, "traces/a-b-20260201-120000-2");
    CHECK(last_trace_is_named_by("traces") && !last_trace_is_named_by("malloc"));
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    CHECK_EQUAL(system(command), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_one_that_began_last_is_meant),
};

CHECK_MAIN(cases)
