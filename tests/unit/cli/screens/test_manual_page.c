/* SPDX-License-Identifier: MIT */
#include "cli/screens/manual_page.h"

#include "cli/command.h"
#include "cli/screens/screen.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

static char *page_of(const char *details)
{
    const struct command command = {
        .name = "do things", .arguments = "[--now]", .summary = "does things", .details = details};
    struct screen screen = {.width = 80};
    char *text = NULL;
    size_t size;

    screen.stream = open_memstream(&text, &size);
    manual_page_put(&screen, &command);
    fclose(screen.stream);
    return text;
}

#define HAS(text, part)     CHECK(strstr(text, part) != NULL)
#define HAS_NOT(text, part) CHECK(strstr(text, part) == NULL)

static void a_page_has_the_usual_parts(void)
{
    char *page = page_of("Does all.\n\n  --now    at once,\n           not later\n\nExamples:\n  gait do things\n");

    HAS(page, ".TH \"GAIT\\-DO\\-THINGS\" 1 ");
    HAS(page, ".SH NAME\ngait\\-do\\-things \\- does things\n");
    HAS(page, ".SH SYNOPSIS\n.B gait do things\n[\\-\\-now]\n");
    HAS(page, ".SH DESCRIPTION\nDoes all.\n");
    HAS(page, ".SH OPTIONS\n.TP\n\\fB\\-\\-now\n\\fRat once,\nnot later\n");
    HAS(page, ".SH EXAMPLES\n.nf\n gait do things\n.fi\n");
    free(page);
}

static void text_is_no_request_and_no_escape(void)
{
    char *page = page_of(".so /etc/passwd\n'x' \\n ~\n\nExamples:\n  gait do\n");

    HAS_NOT(page, "\n.so");
    HAS(page, "\\&.so /etc/passwd\n");
    HAS(page, "\\&\\(aqx\\(aq \\en \\(ti\n");
    free(page);
}

static void prose_behind_options_is_apart_from_them(void)
{
    char *page = page_of("First.\n\n  -o FILE    where to\n\nLast.\n");

    HAS(page, "where to\n.SH NOTES\nLast.\n");
    free(page);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_page_has_the_usual_parts),
    CHECK_CASE(text_is_no_request_and_no_escape),
    CHECK_CASE(prose_behind_options_is_apart_from_them),
};

CHECK_MAIN(cases)
