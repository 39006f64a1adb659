/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/command.h"

#include "support/check.h"
#include "support/command_run.h"
#include "support/trace_folder.h"

#include <fcntl.h>
#include <unistd.h>

extern const struct command command_verify;

static struct trace_folder folder;

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
}

static void shorten(const char *path, size_t cut)
{
    size_t size;
    uint8_t *bytes = trace_folder_read(&folder, path, &size);

    trace_folder_write(&folder, path, bytes, size - cut);
    free(bytes);
}

/* Runs it, expects a status and a text somewhere in what it prints or says. */
static void expect(const char *option, enum command_status status, const char *part)
{
    struct command_run run = COMMAND_RUN(&command_verify, 100, folder.path, option);

    CHECK_EQUAL(run.status, status);
    if (strstr(run.output, part) == NULL && strstr(run.err.text, part) == NULL) {
        CHECK_TEXT(run.output, part);
        CHECK_TEXT(run.err.text, part);
    }
    command_run_deinit(&run);
}

static void a_line_a_file_and_a_summary_are_shown(void)
{
    struct command_run run;

    begin();
    run = COMMAND_RUN(&command_verify, 100, folder.path);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_TEXT(run.output, "manifest.json         good     1 process, 2 threads\n"
                           "100/modules.gait      good     1 chunk, 96 bytes, 1 module, 0 bytes lost\n"
                           "100/blocks.gait       good     1 chunk, 144 bytes, 3 blocks, 0 bytes lost\n"
                           "100/100.1.index.gait  good     1 chunk, 240 bytes, 10 events, 0 bytes lost\n"
                           "100/101.1.index.gait  good     5 chunks, 240 bytes, 10 events, 288 bytes lost\n"
                           "\n5 files checked, 5 good, 0 bad, 0 missing\n");
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
}

static void what_is_cut_off_is_told_and_repaired(void)
{
    begin();
    shorten("100/101.1.index.gait", 70);
    expect(NULL, COMMAND_FAILED, "cut off  after 4 chunks, at byte 480: the file ends within a chunk or the footer");
    expect(NULL, COMMAND_FAILED, "1 of its files are not good; try 'gait verify --repair'");
    expect("--repair", COMMAND_DONE, "repaired cut 98 bytes off behind 4 chunks, wrote a footer");
    expect(NULL, COMMAND_DONE, "5 files checked, 5 good");
    expect(NULL, COMMAND_DONE, "216 bytes lost; was repaired");
    trace_folder_deinit(&folder);
}

static void what_cannot_be_repaired_is_left(void)
{
    size_t size;
    uint8_t *bytes;

    begin();
    bytes = trace_folder_read(&folder, "100/101.1.index.gait", &size);
    bytes[130] ^= 1;
    trace_folder_write(&folder, "100/101.1.index.gait", bytes, size);
    free(bytes);
    expect("--repair", COMMAND_FAILED, "good chunks follow the damage at byte 64");
    shorten("100/100.1.index.gait", 370);
    expect("--repair", COMMAND_FAILED, "within its header");
    trace_folder_deinit(&folder);
}

static void missing_files_are_told(void)
{
    begin();
    CHECK_EQUAL(unlinkat(folder.fd, "100/101.1.index.gait", 0), 0);
    expect(NULL, COMMAND_FAILED, "100/101.1.index.gait  missing  the manifest says that it was recorded");
    CHECK_EQUAL(unlinkat(folder.fd, "manifest.json", 0), 0);
    expect(NULL, COMMAND_FAILED, "it says what was recorded, and is not there");
    trace_folder_deinit(&folder);
}

/* Of a recording in pieces a thread may have no file left. */
static void deleted_pieces_are_not_missed(void)
{
    begin();
    CHECK_EQUAL(unlinkat(folder.fd, "100/101.1.index.gait", 0), 0);
    trace_folder_delete_pieces(&folder, 2);
    expect(NULL, COMMAND_DONE, "4 files checked, 4 good, 0 bad, 0 missing");
    trace_folder_deinit(&folder);
}

static void what_is_no_trace_is_refused(void)
{
    trace_folder_init(&folder);
    expect(NULL, COMMAND_FAILED, "there is no trace in it");
    trace_folder_make(&folder, "manifest.json");
    expect(NULL, COMMAND_FAILED, "damaged  cannot read 'manifest.json': Is a directory");
    expect("--mend", COMMAND_MISUSED, "'gait verify' has no such option");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_line_a_file_and_a_summary_are_shown), CHECK_CASE(what_is_cut_off_is_told_and_repaired),
    CHECK_CASE(what_cannot_be_repaired_is_left),       CHECK_CASE(missing_files_are_told),
    CHECK_CASE(deleted_pieces_are_not_missed),         CHECK_CASE(what_is_no_trace_is_refused),
};

CHECK_MAIN(cases)
