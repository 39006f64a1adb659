/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/screens/progress.h"

#include "record/recorded_process.h"
#include "record/recording.h"
#include "support/check.h"

static char *text;
static size_t text_bytes;

static void steps_are_lines(void)
{
    struct progress progress;
    FILE *stream = open_memstream(&text, &text_bytes);

    progress_begin(&progress, stream, true);
    progress_say(&progress, "step %d", 1);
    progress_end(&progress);
    progress_begin(&progress, stream, false);
    progress_say(&progress, "step %d", 2);
    progress_end(&progress);
    fclose(stream);
    CHECK_TEXT(text, "gait: step 1\n");
    free(text);
}

static void processes_are_told_when_they_come_and_go(void)
{
    struct manifest_process listed[] = {
        {.pid = 7, .command = (char *)"sh -c \033x", .status = -1},
        {.pid = 8, .parent_pid = 7, .command = (char *)"true", .status = -1},
    };
    struct recorded_process processes[2] = {0};
    struct recording recording = {.manifest = {.processes = listed}, .processes = processes, .process_count = 1};
    struct progress progress;
    FILE *stream = open_memstream(&text, &text_bytes);

    progress_begin(&progress, stream, true);
    progress_look(&progress, &recording);
    progress_look(&progress, &recording);
    recording.process_count = 2;
    progress_look(&progress, &recording);
    processes[1].is_ended = true;
    listed[1].status = 3 << 8;
    progress_look(&progress, &recording);
    processes[0].is_ended = true;
    listed[0].status = 9;
    progress_look(&progress, &recording);
    progress_look(&progress, &recording);
    progress_end(&progress);
    fclose(stream);
    CHECK_TEXT(text, "gait: process 7 is recorded: sh -c ?x\n"
                     "gait: process 8, made by 7, is recorded: true\n"
                     "gait: process 8 has ended with status 3\n"
                     "gait: process 7 was ended by signal 9\n");
    free(text);
}

static const struct check_case cases[] = {
    CHECK_CASE(steps_are_lines),
    CHECK_CASE(processes_are_told_when_they_come_and_go),
};

CHECK_MAIN(cases)
