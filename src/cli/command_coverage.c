/* SPDX-License-Identifier: MIT */
/* gait coverage: which functions, how much of the code and which lines of the source ran. */
#include "cli/command.h"

#include "cli/options/coverage_options.h"
#include "cli/reading_status.h"
#include "cli/screens/coverage_screen.h"
#include "cli/screens/screen.h"
#include "hosted/error_text.h"
#include "report/coverage_json.h"

#include <errno.h>

static int show(const struct command_call *call, const struct coverage_options *options,
                const struct coverage *coverage)
{
    const struct coverage_filter filter = coverage_choice_filter(&options->choice);
    struct coverage_lines lines = {.source_count = 0};
    int result = 0;

    if (!coverage->code.has_blocks && !coverage->code.has_functions)
        return error_set(
            call->error, ENOENT,
            "'%s' holds no record of which code ran; record it with 'gait spawn', or with 'gait spawn --follow "
            "block'",
            options->trace);
    if (options->lines)
        result = coverage_lines_read(&lines, coverage, &filter);
    if (result != 0)
        error_set(call->error, result, "cannot find which lines ran: there is no memory; try without --lines");
    else if (options->json)
        coverage_json_put(call->screen->stream, &options->choice, coverage, options->lines ? &lines : NULL);
    else
        coverage_screen_put(call->screen, options, coverage, options->lines ? &lines : NULL);
    if (options->lines)
        coverage_lines_deinit(&lines);
    return result;
}

static int show_trace(const struct command_call *call, const struct coverage_options *options,
                      const struct view_trace *trace)
{
    struct coverage coverage;
    int result = coverage_read(&coverage, trace, NULL, call->error);

    /* What can be read is shown, also if that is not all. */
    if (result == 0)
        result = show(call, options, &coverage);
    else if (result != -ENOMEM && (coverage.code.has_blocks || coverage.code.has_functions))
        (void)show(call, options, &coverage);
    coverage_deinit(&coverage);
    return result;
}

static enum command_status run(const struct command_call *call)
{
    struct coverage_options options;
    struct view_trace trace;
    enum command_status status = coverage_options_read(call, &options);

    if (status != COMMAND_DONE)
        return status;
    if (view_trace_open(&trace, options.trace, call->error) != 0)
        return COMMAND_FAILED;
    status = reading_status(call, show_trace(call, &options, &trace));
    view_trace_close(&trace);
    return status;
}

extern const struct command command_coverage;
const struct command command_coverage = {
    .name = "coverage",
    .arguments = "[TRACE] [--functions] [--missed] [--lines] [--filter GLOB] [--json]",
    .summary = "which functions, code and lines of the source ran",
    .details = "Shows, file by file, how many of its functions ran. Where blocks were recorded\n"
               "(gait spawn --follow block, or exec), also how much of the code did, and which\n"
               "lines of the source. In a recording by hooks, only functions that were hooked\n"
               "count.\n"
               "\n"
               "  --functions    lists the functions that ran, and how often each was called; 0:\n"
               "                 something jumped into the middle of it\n"
               "  --missed       lists those that did not, and with --lines the lines\n"
               "  --lines        shows how many lines of each source ran, by the debug\n"
               "                 information of the files; sources of which none did are left\n"
               "                 out, but with --json\n"
               "  --filter GLOB  only functions with such a name: 'parse_*'; or of such a file:\n"
               "                 'libz.so*!*'\n"
               "  --json         as one object, for other programs\n"
               "\n"
               "Without TRACE it is the last one in ./traces, which is said on standard error.\n"
               "\n"
               "Examples:\n"
               "  gait spawn --follow block -o traces -- ./program\n"
               "  gait coverage --missed --filter 'program!*' traces/program-20260131-120000\n"
               "  gait export -f lcov TRACE -o all.info\n"
               "  genhtml --ignore-errors source -o pages all.info\n",
    .run = run,
};
