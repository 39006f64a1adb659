/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/each_trace.h"

#include "cli/screens/screen.h"
#include "hosted/error_text.h"
#include "support/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum command_status show(const struct command_call *call, const char *path, void *context)
{
    ++*(int *)context;
    screen_print(call->screen, "%s is shown\n", path);
    if (strcmp(path, "bad") != 0)
        return COMMAND_DONE;
    (void)error_set(call->error, ENOENT, "cannot open '%s'", path);
    return COMMAND_FAILED;
}

static void all_are_shown_with_heads(void)
{
    const char *paths[] = {"a", "bad", "b"};
    struct gait_error err = {.code = 0};
    char *text;
    size_t size_bytes;
    struct screen screen = {.stream = open_memstream(&text, &size_bytes)};
    const struct command_call call = {.screen = &screen, .error = &err};
    int count = 0;
    struct each_trace each = {show, &count, true};

    CHECK_EQUAL(each_trace_show(&call, paths, 1, &each), COMMAND_DONE);
    CHECK_EQUAL(each_trace_show(&call, paths, 3, &each), COMMAND_FAILED);
    CHECK_EQUAL(count, 4);
    /* It was said already. */
    CHECK_EQUAL(err.code, 0);
    each.has_heads = false;
    CHECK_EQUAL(each_trace_show(&call, paths + 1, 2, &each), COMMAND_FAILED);
    fclose(screen.stream);
    CHECK_TEXT(text, "a is shown\n==> a <==\na is shown\n\n==> bad <==\nbad is shown\n\n==> b <==\nb is shown\n"
                     "bad is shown\nb is shown\n");
    free(text);
}

static const struct check_case cases[] = {
    CHECK_CASE(all_are_shown_with_heads),
};

CHECK_MAIN(cases)
