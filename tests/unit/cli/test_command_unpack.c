/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "support/check.h"
#include "support/command_run.h"
#include "support/trace_folder.h"

#include <unistd.h>

extern const struct command command_pack;
extern const struct command command_unpack;
extern const struct command command_verify;

static struct trace_folder folder, place;
static char pack[128], out[128];

static void begin(void)
{
    struct command_run run;

    trace_folder_init(&folder);
    trace_folder_init(&place);
    trace_folder_put_example(&folder);
    snprintf(pack, sizeof(pack), "%s/a.gaitpack", place.path);
    snprintf(out, sizeof(out), "%s/out", place.path);
    run = COMMAND_RUN(&command_pack, 100, folder.path, "-o", pack);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    command_run_deinit(&run);
}

static void end(void)
{
    trace_folder_deinit(&folder);
    trace_folder_deinit(&place);
}

static void expect(struct command_run run, enum command_status status, const char *part)
{
    CHECK_EQUAL(run.status, status);
    if (strstr(run.err.text, part) == NULL && strstr(run.output, part) == NULL)
        CHECK_TEXT(run.err.text, part);
    command_run_deinit(&run);
}

static void the_folder_is_a_trace_again(void)
{
    begin();
    expect(COMMAND_RUN(&command_unpack, 100, pack, out), COMMAND_DONE, "/out\n");
    expect(COMMAND_RUN(&command_verify, 100, out), COMMAND_DONE, "5 files checked, 5 good");
    expect(COMMAND_RUN(&command_unpack, 100, pack, out), COMMAND_FAILED, "it is there already");
    expect(COMMAND_RUN(&command_verify, 100, out), COMMAND_DONE, "5 files checked, 5 good");
    end();
}

static void a_failure_leaves_nothing(void)
{
    uint8_t *bytes;
    size_t size;

    begin();
    bytes = trace_folder_read(&place, "a.gaitpack", &size);
    trace_folder_write(&place, "a.gaitpack", bytes, size - 64);
    free(bytes);
    expect(COMMAND_RUN(&command_unpack, 100, pack, out), COMMAND_FAILED, "there is no footer");
    CHECK(access(out, F_OK) != 0);
    expect(COMMAND_RUN(&command_unpack, 100, "/dev/null", out), COMMAND_FAILED, "/dev/null");
    CHECK(access(out, F_OK) != 0);
    expect(COMMAND_RUN(&command_unpack, 100, pack), COMMAND_MISUSED, "FOLDER is missing");
    expect(COMMAND_RUN(&command_unpack, 100, pack, "/nowhere/out"), COMMAND_FAILED, "cannot make the folder");
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(the_folder_is_a_trace_again),
    CHECK_CASE(a_failure_leaves_nothing),
};

CHECK_MAIN(cases)
