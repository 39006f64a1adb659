/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/screens/sample_screen.h"

#include "cli/screens/screen.h"
#include "support/sample_stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct sample_tree tree;
static struct kernel_source source;
static struct sample_trees trees;
static struct screen screen;
static char *text;
static size_t size_bytes;

static struct sample_screen begin(double min_share)
{
    screen = (struct screen){.stream = open_memstream(&text, &size_bytes)};
    sample_stacks_begin(&tree, &source, &trees);
    return (struct sample_screen){.screen = &screen, .depth = 10, .min_share = min_share};
}

static void end(const char *expected)
{
    fclose(screen.stream);
    CHECK_TEXT(text, expected);
    free(text);
    sample_tree_deinit(&tree);
}

static void paths_are_indented(void)
{
    struct sample_screen shown = begin(0.2);

    sample_screen_put_trees(&shown, &trees);
    end("profile:hz:99: 6 samples with a stack, 7 lost\n"
        "\n"
        "  samples        %      self  thread, and below it the functions that its stacks lead through\n"
        "        6  100.0 %         0  worker\n"
        "        6  100.0 %         2    main\n"
        "        4   66.7 %         3      work\n"
        "\n"
        "1 line with less is left out; --min-percent 0 shows all\n");
}

static void functions_stand_below_their_callees_and_callers(void)
{
    struct sample_screen shown = begin(0);

    CHECK_EQUAL(sample_screen_put_focuses(&shown, &trees, "nobody"), -ENOENT);
    CHECK_EQUAL(sample_screen_put_focuses(&shown, &trees, "work"), 0);
    end("profile:hz:99: 6 samples with a stack, 7 lost\n"
        "\n"
        "  samples        %      self  function, and below it who called it\n"
        "        4  100.0 %            work\n"
        "        4  100.0 %              main\n"
        "        4  100.0 %                worker\n"
        "\n"
        "  samples        %      self  function, and below it whom it calls\n"
        "        4  100.0 %         3  work\n"
        "        1   25.0 %         1    work\n"
        "\n");
}

static void stacks_come_by_how_often_they_are_there(void)
{
    (void)begin(0);
    CHECK_EQUAL(sample_screen_put_stacks(&screen, &trees, 2), 3);
    end("work  3 samples of profile:hz:99, thread worker\n"
        "    main\n"
        "main  2 samples of profile:hz:99, thread worker\n"
        "and 1 more; --limit shows them\n");
}

static const struct check_case cases[] = {
    CHECK_CASE(paths_are_indented),
    CHECK_CASE(functions_stand_below_their_callees_and_callers),
    CHECK_CASE(stacks_come_by_how_often_they_are_there),
};

CHECK_MAIN(cases)
