/* SPDX-License-Identifier: MIT */
#include "cli/screens/coverage_screen.h"

#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/figures.h"

#include <inttypes.h>
#include <stdlib.h>

#define TEXT_BYTES 1024

struct showing {
    struct screen *screen;
    const struct coverage_options *options;
    const struct coverage *coverage;
    struct coverage_filter filter;
};

static void put_heading(struct screen *screen, const char *text)
{
    screen_put(screen, SCREEN_STRONG, 0, text);
    screen_print(screen, "\n");
}

/* "     12 of      345   3.5 %" */
static void put_share(struct screen *screen, uint64_t part, uint64_t whole)
{
    char share[FIGURE_BYTES];

    screen_print(screen, "%7" PRIu64 " of %8" PRIu64 " %7s", part, whole,
                 whole == 0 ? "-" : share_write((double)part, (double)whole, share));
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

static void put_module(const struct showing *showing, const struct coverage_module *module)
{
    struct screen *screen = showing->screen;
    struct coverage_totals totals;
    char clean[TEXT_BYTES];

    coverage_count(module, &showing->filter, &totals);
    if (totals.functions == 0 && (showing->options->choice.filter != NULL || totals.blocks == 0))
        return;
    put_share(screen, totals.executed_functions, totals.functions);
    if (showing->coverage->code.has_blocks) {
        put_share(screen, totals.executed_bytes, totals.code_bytes);
        screen_print(screen, " %8zu", totals.blocks);
    }
    screen_print(screen, "  %s", printable(clean, sizeof(clean), module->module->path));
    if (module->problem != NULL)
        screen_print(screen, " (its file %s: only %s)", module->problem,
                     showing->coverage->code.is_of_hooks ? "addresses are known" : "what ran is known");
    screen_print(screen, "\n");
}

static void put_modules(const struct showing *showing)
{
    const struct executed_code *code = &showing->coverage->code;

    if (!code->has_blocks)
        put_heading(showing->screen, "functions that ran           module");
    else
        put_heading(showing->screen, code->has_insns
                                         ? "functions that ran          bytes of code that ran          insns  module"
                                         : "functions that ran          bytes of code that ran         blocks  module");
    for (size_t i = 0; i < showing->coverage->count; i++)
        put_module(showing, &showing->coverage->modules[i]);
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static int compare(const void *left_function, const void *right_function)
{
    const struct coverage_function *left = *(const struct coverage_function *const *)left_function;
    const struct coverage_function *right = *(const struct coverage_function *const *)right_function;

    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return left->start < right->start ? -1 : left->start > right->start;
}

/* Those of the module that ran, or did not; to be freed. NULL: there are none. */
static const struct coverage_function **choose(const struct showing *showing, const struct coverage_module *module,
                                               bool is_executed, size_t *count_out)
{
    const struct coverage_function **chosen = calloc(module->function_count + 1, sizeof(*chosen));
    size_t count = 0;

    for (size_t i = 0; i < module->function_count && chosen != NULL; i++) {
        const struct coverage_function *function = &module->functions[i];

        if (function->is_watched && function->is_executed == is_executed &&
            coverage_choice_wants(&showing->options->choice, module->module->path, function->name))
            chosen[count++] = function;
    }
    *count_out = count;
    if (count != 0)
        return chosen;
    free(chosen);
    return NULL;
}

static void put_function(const struct showing *showing, const struct coverage_function *function)
{
    struct screen *screen = showing->screen;
    char clean[TEXT_BYTES];

    if (function->is_executed)
        screen_print(screen, "%12" PRIu64, function->count);
    if (function->is_executed && showing->coverage->code.has_blocks)
        put_share(screen, function->executed_bytes, function->end - function->start);
    screen_print(screen, "  %s\n", printable(clean, sizeof(clean), function->name));
}

static void put_functions(const struct showing *showing, const struct coverage_module *module, bool is_executed)
{
    size_t count;
    const struct coverage_function **chosen = choose(showing, module, is_executed, &count);
    char clean[TEXT_BYTES], heading[TEXT_BYTES + 64];

    if (chosen == NULL)
        return;
    if (is_executed)
        qsort(chosen, count, sizeof(*chosen), compare);
    snprintf(heading, sizeof(heading), "\n%s: %zu %s that %s", printable(clean, sizeof(clean), module->module->path),
             count, count == 1 ? "function" : "functions", is_executed ? "ran" : "did not run");
    put_heading(showing->screen, heading);
    for (size_t i = 0; i < count; i++)
        put_function(showing, chosen[i]);
    free(chosen);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* "  not run: 3, 12-15" */
static void put_missed_lines(struct screen *screen, const struct coverage_lines *lines,
                             const struct coverage_source *source)
{
    const struct coverage_line *line = &lines->lines[source->first_line];
    const char *before = "      did not run: ";

    for (size_t i = 0; i < source->line_count;) {
        size_t first = i;

        /* Lines without code in between do not divide them. */
        while (i < source->line_count && line[i].count == 0)
            i++;
        if (i > first + 1)
            screen_print(screen, "%s%" PRIu32 "-%" PRIu32, before, line[first].line, line[i - 1].line);
        else if (i > first)
            screen_print(screen, "%s%" PRIu32, before, line[first].line);
        before = i > first ? ", " : before;
        i += i == first;
    }
    screen_print(screen, "\n");
}

static void put_lines(const struct showing *showing, const struct coverage_lines *lines)
{
    struct screen *screen = showing->screen;
    char clean[TEXT_BYTES];

    if (!showing->coverage->code.has_blocks) {
        screen_print(screen, "\nWhich lines ran is not known: there are no blocks in the trace, which gait spawn "
                             "--follow block records.\n");
        return;
    }
    if (lines->source_count == 0) {
        screen_print(screen, "\nWhich lines ran is not known: there is no debug information of what ran; compile with "
                             "-g, or install it.\n");
        return;
    }
    screen_print(screen, "\n");
    put_heading(screen, "lines that ran               source");
    for (size_t i = 0; i < lines->source_count; i++) {
        const struct coverage_source *source = &lines->sources[i];

        if (source->executed_lines == 0)
            continue;
        put_share(screen, source->executed_lines, source->line_count);
        screen_print(screen, "  %s\n", printable(clean, sizeof(clean), source->path));
        if (showing->options->choice.missed && source->executed_lines < source->line_count)
            put_missed_lines(screen, lines, source);
    }
}

/* ---- what is not sure -------------------------------------------------------------------------------------------- */

static void put_notes(const struct showing *showing)
{
    const struct manifest *manifest = &showing->coverage->code.trace->manifest;
    struct screen *screen = showing->screen;
    uint64_t lost_bytes = 0, not_hooked = 0;

    for (size_t i = 0; i < manifest->process_count; i++) {
        lost_bytes += manifest->processes[i].losses.late_bytes + manifest->processes[i].losses.no_lane_bytes +
                      manifest_unwritten_bytes(&manifest->processes[i]);
        not_hooked += manifest->processes[i].losses.not_hooked_count;
    }
    if (showing->coverage->code.is_of_hooks)
        screen_print(screen, "\nOnly functions that were hooked count");
    if (showing->coverage->code.is_of_hooks && not_hooked != 0)
        screen_print(screen, "; %" PRIu64 " more could not be", not_hooked);
    if (showing->coverage->code.is_of_hooks)
        screen_print(screen, ". What ran of them is not known: gait spawn --follow block records that.\n");
    if (lost_bytes != 0)
        screen_print(screen, "\nEvents are missing (%" PRIu64 " bytes): more may have run.\n", lost_bytes);
    if (showing->coverage->elsewhere != 0)
        screen_print(screen, "\n%" PRIu64 " functions or blocks that ran are in no file.\n",
                     showing->coverage->elsewhere);
}

void coverage_screen_put(struct screen *screen, const struct coverage_options *options, const struct coverage *coverage,
                         const struct coverage_lines *lines)
{
    const struct showing showing = {screen, options, coverage, coverage_choice_filter(&options->choice)};

    put_modules(&showing);
    for (size_t i = 0; i < coverage->count && options->choice.functions; i++)
        put_functions(&showing, &coverage->modules[i], true);
    for (size_t i = 0; i < coverage->count && options->choice.missed; i++)
        put_functions(&showing, &coverage->modules[i], false);
    if (lines != NULL)
        put_lines(&showing, lines);
    put_notes(&showing);
}
