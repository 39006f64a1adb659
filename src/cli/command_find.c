/* SPDX-License-Identifier: MIT */
/* gait find: the functions of programs, libraries and processes, and how each of them would be hooked. */
#include "cli/command.h"

#include "base/text_parse.h"
#include "cli/function_survey.h"
#include "cli/options/arguments.h"
#include "cli/options/nearest_name.h"
#include "cli/process_files.h"
#include "cli/screens/find_listing.h"
#include "cli/screens/probe_listing.h"
#include "hosted/error_text.h"
#include "symbolize/spelled_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARGUMENTS_MAX 64

struct find {
    const struct command_call *call;
    struct find_listing listing;
    struct probe_listing probes; /* instead of functions, if that is asked for */
    bool is_for_probes;
    const char *pattern; /* NULL: all functions */
    uint64_t found;
    struct nearest_names nearest;
};

static bool is_pid(const char *word, uint64_t *pid_out)
{
    return text_parse_decimal(word, strlen(word), pid_out) == 0;
}

/* Of several words the first is a pattern, unless it can only be what is looked into. */
static bool is_pattern(const char *word)
{
    uint64_t pid;

    if (is_pid(word, &pid) || access(word, F_OK) == 0)
        return false;
    return (strchr(word, '/') == NULL && strstr(word, ".so") == NULL) ||
           function_spelling_of(word).kind != SPELLING_NAME;
}

static void list_function(struct find *find, struct function_survey *survey, const struct elf_function *function)
{
    struct hook_plan plan = {.method = HOOK_IMPOSSIBLE};

    if (find->listing.is_hookable)
        hook_planner_plan(&survey->planner, function, &plan);
    find_listing_add(&find->listing, function, &plan);
    find->found++;
}

static void offer_name(void *context, const char *name, size_t length)
{
    struct find *find = context;

    nearest_names_offer(&find->nearest, name, length);
}

static void offer_names(struct find *find, const struct function_survey *survey)
{
    struct spelled_file file;

    spelled_file_borrow(&file, survey->file.path, &survey->file.symbols, &survey->debug.symbols);
    spelled_file_offer(&file, offer_name, find);
    spelled_file_close(&file);
}

/* What has no name is chosen by nothing but the lack of a pattern. */
static void choose(struct find *find, struct function_survey *survey, uint8_t *marks)
{
    if (find->pattern == NULL) {
        memset(marks, 1, survey->functions.count);
    } else if (function_survey_select(survey, find->pattern, marks) == 0) {
        offer_names(find, survey);
    }
}

static int list_survey(struct find *find, struct function_survey *survey)
{
    uint8_t *marks = calloc(1, survey->functions.count + 1);

    if (marks == NULL)
        return error_set(find->call->error, ENOMEM,
                         "cannot list functions: there is not enough memory; try fewer files");
    choose(find, survey, marks);
    for (size_t i = 0; i < survey->functions.count; i++)
        if (marks[i] && function_survey_has(survey, &survey->functions.functions[i]))
            list_function(find, survey, &survey->functions.functions[i]);
    free(marks);
    return 0;
}

/* How probes would be armed is known when the code was looked at. */
static int list_probes(struct find *find, struct function_survey *survey, const struct process_file *file,
                       uint64_t bias)
{
    int result = find->probes.is_hookable ? function_survey_prepare(survey, find->call->error) : 0;

    if (result == 0)
        probe_listing_add(&find->probes, survey, file == NULL ? survey->file.path : file->path, bias);
    return result;
}

/* `shown` is the path that people know; of a process, `file` says where the module is mapped. */
static int list_file(struct find *find, const char *name, const struct process_file *file)
{
    struct gait_error *err = find->call->error;
    struct function_survey survey;
    uint64_t bias = 0, address;
    int result = function_survey_open(name, &survey, err);

    if (result != 0)
        return result;
    if (file != NULL && elf_symbols_address_at(&survey.file.symbols, file->file_offset, &address) == 0)
        bias = file->start - address;
    if (find->is_for_probes) {
        result = list_probes(find, &survey, file, bias);
        function_survey_close(&survey);
        return result;
    }
    /* Without it some parts of functions are taken for functions. */
    result = function_survey_prepare(&survey, err);
    if (result == 0 || !find->listing.is_hookable) {
        find_listing_begin_module(&find->listing, file == NULL ? survey.file.path : file->path, bias);
        result = list_survey(find, &survey);
        find_listing_end_module(&find->listing);
    }
    function_survey_close(&survey);
    return result;
}

static int list_process(struct find *find, uint64_t pid)
{
    struct process_files files;
    int result = process_files_read(pid, &files, find->call->error);

    if (result != 0)
        return result;
    if (files.count == 0)
        result = error_set(
            find->call->error, ENOENT,
            "cannot find functions in process %llu: it executes no files, as those of the kernel; try another",
            (unsigned long long)pid);
    for (size_t i = 0; i < files.count && result == 0; i++)
        result = list_file(find, files.files[i].opened, &files.files[i]);
    process_files_deinit(&files);
    return result;
}

static int list_all(struct find *find, const char *const *words, size_t count)
{
    int result = 0;
    uint64_t pid;

    if (find->is_for_probes)
        probe_listing_begin(&find->probes);
    else
        find_listing_begin(&find->listing);
    for (size_t i = 0; i < count && result == 0; i++)
        result = is_pid(words[i], &pid) ? list_process(find, pid) : list_file(find, words[i], NULL);
    if (result == 0 && find->is_for_probes)
        probe_listing_end(&find->probes);
    else if (result == 0)
        find_listing_end(&find->listing);
    return result;
}

static int explain_nothing(struct find *find)
{
    char text[3 * NEAREST_NAME_BYTES];

    if (find->is_for_probes && find->pattern == NULL)
        return error_set(find->call->error, ENOENT, "cannot find probes: there are none in what was looked into");
    if (find->pattern == NULL)
        return error_set(find->call->error, ENOENT,
                         "cannot find functions: there are neither symbols nor .eh_frame; try a file with symbols");
    nearest_names_join(&find->nearest, text, sizeof(text));
    return error_set(find->call->error, ENOENT, "cannot find '%s': no %s has such a name; try %s", find->pattern,
                     find->is_for_probes ? "probe" : "function",
                     find->nearest.count > 0 ? text : "a pattern such as '*alloc*', or none");
}

static enum command_status run(const struct command_call *call)
{
    static const char *const names[] = {"a program, a library or the number of a process"};
    struct find find = {.call = call, .listing.screen = call->screen};
    int is_json = 0, is_hookable = 0, is_summary = 0, is_for_probes = 0;
    struct argument_option options[] = {{"hookable", NULL, &is_hookable},
                                        {"json", NULL, &is_json},
                                        {"summary", NULL, &is_summary},
                                        {"probes", NULL, &is_for_probes}};
    struct argument_rules rules = {"find", options, 4, names, 1};
    const char *words[ARGUMENTS_MAX];
    size_t count = 0, first;
    enum command_status status = arguments_parse_more(call, &rules, words, ARGUMENTS_MAX, &count);

    if (status != COMMAND_DONE)
        return status;
    first = count > 1 && is_pattern(words[0]);
    find.pattern = first == 1 ? words[0] : NULL;
    find.listing.is_json = is_json;
    find.listing.is_hookable = is_hookable;
    find.listing.is_summary = is_summary;
    find.is_for_probes = is_for_probes;
    find.probes = (struct probe_listing){.screen = call->screen,
                                         .pattern = find.pattern,
                                         .is_json = is_json,
                                         .is_hookable = is_hookable,
                                         .is_summary = is_summary,
                                         .nearest = &find.nearest};
    nearest_names_init(&find.nearest, find.pattern == NULL ? "" : find.pattern);
    if (list_all(&find, words + first, count - first) != 0)
        return COMMAND_FAILED;
    if (find.found + find.probes.found == 0) {
        explain_nothing(&find);
        return COMMAND_FAILED;
    }
    return COMMAND_DONE;
}

extern const struct command command_find;
const struct command command_find = {
    .name = "find",
    .arguments = "[--probes] [--hookable] [--summary] [--json] [GLOB] FILE|PID...",
    .summary = "list the functions or probes of programs, libraries or processes",
    .details = "Lists functions with their addresses, sizes and names: those of the symbol tables,\n"
               "also of files with debug information (in /usr/lib/debug, or in the folders that\n"
               "GAIT_DEBUG_PATH names), and those without a name that only .eh_frame knows of.\n"
               "Addresses are as in the file, or of a process as in its memory.\n\n"
               "FILE is a path, or the name of a library such as libc.so.6; PID is a process,\n"
               "whose program and libraries are looked into. With a pattern in front of them,\n"
               "such as '*alloc*', only functions with such a name are listed: as linkers have it\n"
               "or as the source does, both of which are shown. Sq::area, 'Sq::area(int)', 0x1230,\n"
               "tool+0x1230 and file.c:12 mean functions too, here and wherever one is asked for.\n\n"
               "  --probes      list static probes (USDT) instead, with where their arguments are;\n"
               "                a pattern is for the name, or PROVIDER:NAME\n"
               "  --hookable    show how each function would be hooked, and how many in which way\n"
               "  --summary     only the numbers\n"
               "  --json        JSON\n\n"
               "A jump is put over whole instructions at the entry; short functions use padding\n"
               "behind them or, by a short hop, near by; a trap, which is slow, is the last\n"
               "resort. 'entry only' means that the function needs its true return address, as\n"
               "setjmp does: its return is not seen.\n\n"
               "Examples:\n"
               "  gait find 'mem*' libc.so.6\n"
               "  gait find --hookable --summary libc.so.6 /usr/bin/python3\n"
               "  gait find --probes libstdc++.so.6\n",
    .run = run,
};
