/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "support/check.h"
#include "support/command_run.h"
#include "support/control_server.h"

#include <unistd.h>

extern const struct command command_stats;

static void figures_are_printed(void)
{
    struct control_server *server = control_server_start(getpid(), 0);
    char pid[16], expected[2048];
    struct command_run run;

    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    snprintf(expected, sizeof(expected),
             "process    %s\n"
             "trace      /traces/one?x\n"
             "recorded   for 1.500 s\n"
             "followed   5 threads in 1 process\n"
             "events     3002000, 2001333 a second, now 2000 a second\n"
             "written    3.0 MiB of event records\n"
             "files      2.0 MiB of streams\n"
             "lost       17 bytes of event records\n"
             "waited     threads waited 1.250 s for the disk, 3 times\n"
             "buffers    25.0 %% full\n"
             "lanes      1 filling, 2 waiting, 3 dropping, 4 free\n"
             "\n"
             "    pid     tid  thread           lane   state    reason   full     waits       waited   bytes lost\n"
             "      7       8  work?er          index  dropping full    100 %%         0         0 ns           17\n"
             "      7       9  sixteen letters! detail waiting           75 %%         3      1.250 s            0\n"
             "and 4 more, in no worse a state\n"
             "\n"
             "          count            counter\n"
             "             12 links      blocks_linked              branches from one translated block to another\n"
             "18446744073709551615 ?          of_?later                  (this gait does not know it)\n",
             pid);
    run = COMMAND_RUN(&command_stats, 80, pid);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_TEXT(run.output, expected);
    command_run_deinit(&run);
    control_server_stop(server);
}

static void a_process_is_needed(void)
{
    struct command_run run = command_run(&command_stats, 80, (const char *const[]){NULL});

    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_stats, 80, "all");
    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    command_run_deinit(&run);
}

static const struct check_case cases[] = {
    CHECK_CASE(figures_are_printed),
    CHECK_CASE(a_process_is_needed),
};

CHECK_MAIN(cases)
