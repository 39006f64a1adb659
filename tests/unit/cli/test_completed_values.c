/* SPDX-License-Identifier: MIT */
/* As gait complete prints them. */
#define _GNU_SOURCE
#include "cli/completed_values.h"

#include "cli/command.h"
#include "support/check.h"
#include "support/command_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct command command_complete;

static void expect(const char *expected, const char *const *words)
{
    struct command_run run = command_run(&command_complete, 80, words);

    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_TEXT(run.output, expected);
    command_run_deinit(&run);
}

/* A line of what is printed. */
static void expect_line(const char *line, const char *const *words)
{
    struct command_run run = command_run(&command_complete, 80, words);
    char *found = strstr(run.output, line);

    CHECK(found != NULL && (found == run.output || found[-1] == '\n'));
    command_run_deinit(&run);
}

#define WORDS(...)                                                                                                     \
    (const char *const[])                                                                                              \
    {                                                                                                                  \
        __VA_ARGS__, NULL                                                                                              \
    }
#define EXPECT(expected, ...) expect(expected, WORDS(__VA_ARGS__))

static void options_take_words_and_lists(void)
{
    EXPECT("function\nfile\n", "report", "--by", "f");
    EXPECT("pid\n", "probe", "--by", "p");
    EXPECT("call\ncompile\n", "spawn", "--follow", "c");
    EXPECT("call,ret\n", "spawn", "--follow", "call,r");
    EXPECT("--follow=call,ret\n", "attach", "--follow=call,r");
    EXPECT("folded\nflamegraph\n", "export", "-f", "f");
    EXPECT("call\ncompile\n", "dump", "block", "libc", "main", "--events", "c");
    /* Others take what only the user knows. */
    EXPECT("", "spawn", "--hook", "ma");
    EXPECT("", "spawn", "--", "--follow", "c");
}

static void what_is_here_is_offered(void)
{
    char folder[] = "/tmp/completed_XXXXXX", pid[16], command[64];
    FILE *file;

    CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0);
    EXPECT("", "report", "");
    CHECK(mkdir("traces", 0777) == 0 && mkdir("traces/ls-1", 0777) == 0 && mkdir("traces/none", 0777) == 0);
    file = fopen("traces/ls-1/manifest.json", "w");
    CHECK(file != NULL);
    fclose(file);
    EXPECT("traces/ls-1\n", "report", "");
    EXPECT("traces/ls-1\n", "dump", "events", "tra");
    EXPECT("traces/ls-1\n", "report", "before", "--diff", "traces/l");
    EXPECT("", "report", "x");
    snprintf(pid, sizeof(pid), "%d\n", (int)getppid());
    expect_line(pid, WORDS("attach", ""));
    expect_line("bsearch\n", WORDS("disassemble", "libc.so.6", "bsea"));
    expect_line("software:page-faults\n", WORDS("probe", "software:page"));
    EXPECT("tracepoint:\n", "probe", "tra");
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    CHECK_EQUAL(system(command), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(options_take_words_and_lists),
    CHECK_CASE(what_is_here_is_offered),
};

CHECK_MAIN(cases)
