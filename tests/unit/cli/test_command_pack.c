/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/command.h"

#include "support/check.h"
#include "support/command_run.h"
#include "support/trace_folder.h"

#include <unistd.h>

extern const struct command command_pack;
extern const struct command command_report;
extern const struct command command_verify;

static struct trace_folder folder, place;
static char pack[128];

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_init(&place);
    trace_folder_put_example(&folder);
    snprintf(pack, sizeof(pack), "%s/a.gaitpack", place.path);
}

static void end(void)
{
    trace_folder_deinit(&folder);
    trace_folder_deinit(&place);
}

static void refuse(struct command_run run, enum command_status status, const char *part)
{
    CHECK_EQUAL(run.status, status);
    if (strstr(run.err.text, part) == NULL)
        CHECK_TEXT(run.err.text, part);
    command_run_deinit(&run);
}

/* What a command shows of the trace is what it shows of the file. */
static void compare(const struct command *command)
{
    struct command_run before = COMMAND_RUN(command, 100, folder.path), after = COMMAND_RUN(command, 100, pack);

    CHECK_EQUAL(before.status, COMMAND_DONE);
    CHECK_EQUAL(after.status, COMMAND_DONE);
    CHECK_TEXT(after.output, before.output);
    command_run_deinit(&before);
    command_run_deinit(&after);
}

static void a_packed_trace_is_as_good(void)
{
    struct command_run run;

    begin();
    trace_folder_write(&folder, "notes", "mine", 4);
    run = COMMAND_RUN(&command_pack, 100, folder.path, "-o", pack);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK(strstr(run.output, "packed 5 files, ") != NULL && strstr(run.output, pack) != NULL);
    command_run_deinit(&run);
    unlinkat(folder.fd, "notes", 0);
    compare(&command_report);
    compare(&command_verify);
    end();
}

static void it_is_called_after_the_trace(void)
{
    struct command_run run;
    char name[128], with_slash[128], *before = getcwd(NULL, 0);

    begin();
    CHECK_EQUAL(chdir(place.path), 0);
    snprintf(with_slash, sizeof(with_slash), "%s//", folder.path);
    run = COMMAND_RUN(&command_pack, 100, with_slash);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    snprintf(name, sizeof(name), "%s.gaitpack", strrchr(folder.path, '/') + 1);
    CHECK_EQUAL(access(name, R_OK), 0);
    command_run_deinit(&run);
    CHECK_EQUAL(chdir(before), 0);
    free(before);
    end();
}

static void what_cannot_be_packed_is_explained(void)
{
    begin();
    /* Where there is no last trace. */
    CHECK_EQUAL(chdir("/"), 0);
    refuse(COMMAND_RUN(&command_pack, 100, "-o", pack), COMMAND_MISUSED, "TRACE is missing");
    refuse(COMMAND_RUN(&command_pack, 100, folder.path, "-o"), COMMAND_MISUSED, "-o needs a value");
    refuse(COMMAND_RUN(&command_pack, 100, folder.path, "--all"), COMMAND_MISUSED, "'gait pack' has no such option");
    refuse(COMMAND_RUN(&command_pack, 100, folder.path, "two"), COMMAND_MISUSED, "two is one argument too many");
    refuse(COMMAND_RUN(&command_pack, 100, place.path), COMMAND_FAILED, "there is no trace in it");
    refuse(COMMAND_RUN(&command_pack, 100, folder.path, "-o", "/nowhere/a"), COMMAND_FAILED, "/nowhere/a");
    command_run_deinit(&(struct command_run[]){COMMAND_RUN(&command_pack, 100, folder.path, "-o", pack)}[0]);
    refuse(COMMAND_RUN(&command_pack, 100, folder.path, "--output", pack), COMMAND_FAILED, "it is there already");
    refuse(COMMAND_RUN(&command_pack, 100, pack, "-o", "/tmp/never"), COMMAND_FAILED, "it is packed already");
    refuse(COMMAND_RUN(&command_verify, 100, pack, "--repair"), COMMAND_FAILED, "it is packed");
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(a_packed_trace_is_as_good),
    CHECK_CASE(it_is_called_after_the_trace),
    CHECK_CASE(what_cannot_be_packed_is_explained),
};

CHECK_MAIN(cases)
