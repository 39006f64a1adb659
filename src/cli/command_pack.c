/* SPDX-License-Identifier: MIT */
/* gait pack: a trace as one file, with all that is needed to read it elsewhere. */
#define _GNU_SOURCE
#include "cli/command.h"

#include "cli/last_trace.h"
#include "cli/options/unknown_option.h"
#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/error_text.h"
#include "hosted/figures.h"
#include "symbolize/kept_debug.h"
#include "symbolize/kept_trace.h"
#include "trace/modules.h"
#include "trace/packed_trace.h"
#include "trace/temporary_folder.h"
#include "trace/trace_files.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX "gaitpack"

struct packed_copy {
    const struct command_call *call;
    const char *trace;
    const char *output; /* NULL: called after the trace */
    struct trace_files files;
    struct temporary_folder *folder; /* for what the trace lacks */
    struct trace_files added;        /* what is there */
    struct kept_outcome names;
    size_t with_lines;
    size_t without_lines;
};

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static enum command_status misused(const struct command_call *call, const char *word, const char *what)
{
    (void)error_set(call->error, EINVAL, "pack: %s%s%s; see gait help pack", word, word[0] == '\0' ? "" : " ", what);
    return COMMAND_MISUSED;
}

/* Words behind a program's name, as getopt_long wants them. */
static enum command_status take_words(struct packed_copy *packing, int count, char **words)
{
    static const struct option known[] = {{"output", required_argument, NULL, 'o'}, {NULL, 0, NULL, 0}};
    int letter;

    for (optind = 0; (letter = getopt_long(count, words, ":o:", known, NULL)) != -1;) {
        if (letter == '?') {
            (void)unknown_option_of(known, "pack", words[optind - 1], packing->call->error);
            return COMMAND_MISUSED;
        }
        if (letter != 'o' || optarg[0] == '\0')
            return misused(packing->call, words[optind - 1], "needs a value");
        packing->output = optarg;
    }
    if (optind + 1 < count)
        return misused(packing->call, words[optind + 1], "is one argument too many");
    packing->trace = optind < count ? words[optind] : last_trace_take("pack", packing->call->error);
    return packing->trace == NULL ? COMMAND_MISUSED : COMMAND_DONE;
}

static enum command_status read_arguments(struct packed_copy *packing)
{
    const struct command_call *call = packing->call;
    char **words = calloc((size_t)call->argument_count + 2, sizeof(*words));
    enum command_status status;

    if (words == NULL) {
        (void)error_set(call->error, ENOMEM, "pack: no memory");
        return COMMAND_FAILED;
    }
    words[0] = (char *)(uintptr_t) "pack";
    for (int i = 0; i < call->argument_count; i++)
        words[i + 1] = call->arguments[i];
    status = take_words(packing, call->argument_count + 1, words);
    free(words);
    return status;
}

/* ---- what the trace lacks ---------------------------------------------------------------------------------------- */

/* That of others may be there already, if it was unpacked before. */
static int take_lines(void *context, const struct recorded_module *module)
{
    struct packed_copy *packing = context;
    char path[KEPT_DEBUG_PATH_BYTES];
    int result;

    if (module->path[0] != '/')
        return 0;
    kept_debug_path(module, path);
    if (path[0] != '\0' && faccessat(packing->files.folder, path, F_OK, 0) == 0) {
        packing->with_lines++;
        return 0;
    }
    result = kept_debug_write(module, packing->folder->fd);
    if (result == 0 || result == -EEXIST)
        packing->with_lines++;
    else if (result == -ENOENT)
        packing->without_lines++;
    else
        return error_set(packing->call->error, result,
                         "cannot gather debug information in %s: %s; TMPDIR can name another place",
                         packing->folder->path, strerror(-result));
    return 0;
}

static int add_missing(struct packed_copy *packing)
{
    struct gait_error *err = packing->call->error;
    int result = temporary_folder_make(&packing->folder, err);

    if (result == 0)
        result = kept_trace_write(&packing->files, packing->folder->fd, NULL, &packing->names, err);
    if (result == 0) {
        result = kept_trace_visit(&packing->files, take_lines, packing);
        if (result == -ENOMEM)
            (void)error_set(err, ENOMEM, "no memory");
    }
    if (result == 0 && trace_files_open(&packing->added, packing->folder->path, NULL) != 0)
        /* Nothing was missing. */
        packing->added = (struct trace_files){.folder = -1};
    return result;
}

/* ---- packing ----------------------------------------------------------------------------------------------------- */

static size_t list(const struct trace_files *files, struct packed_file *list_out)
{
    size_t count = 0;

    for (size_t i = 0; i < files->count; i++)
        if (files->files[i].kind != TRACE_FILE_OTHER)
            list_out[count++] = (struct packed_file){files->folder, files->files[i].path};
    return count;
}

static void put_size(struct screen *screen, uint64_t bytes)
{
    char text[FIGURE_BYTES];

    screen_print(screen, "%s", size_write(bytes, text));
}

static void report(const struct packed_copy *packing, const char *path, size_t count,
                   const struct packed_amount *amount)
{
    struct screen *screen = packing->call->screen;
    char clean[512];

    screen_print(screen, "packed %zu files, ", count);
    put_size(screen, amount->file_bytes);
    screen_print(screen, ", into %s: ", printable(clean, sizeof(clean), path));
    put_size(screen, amount->packed_bytes);
    screen_print(screen, "\nlines of %zu programs and libraries are in it", packing->with_lines);
    if (packing->without_lines != 0)
        screen_print(screen, "; of %zu others there is no debug information", packing->without_lines);
    screen_print(screen, "\n");
    if (packing->names.left_count != 0)
        screen_print(screen, "the names of %zu others are not known: they are gone, or have changed since\n",
                     packing->names.left_count);
}

/* NULL: no memory. */
static char *name_output(const struct packed_copy *packing)
{
    const char *start = packing->trace;
    size_t length = strlen(start);
    char *name;

    if (packing->output != NULL)
        return strdup(packing->output);
    while (length > 1 && start[length - 1] == '/')
        length--;
    while (memchr(start, '/', length) != NULL && length > 1) {
        size_t step = (size_t)((const char *)memchr(start, '/', length) - start) + 1;

        start += step;
        length -= step;
    }
    return asprintf(&name, "%.*s." SUFFIX, (int)length, start) < 0 ? NULL : name;
}

static int write_pack(struct packed_copy *packing)
{
    struct packed_file *all = calloc(packing->files.count + packing->added.count + 1, sizeof(*all));
    char *path = name_output(packing);
    struct packed_amount amount;
    size_t count;
    int result;

    if (all == NULL || path == NULL) {
        result = error_set(packing->call->error, ENOMEM, "no memory");
    } else {
        count = list(&packing->files, all);
        count += list(&packing->added, all + count);
        result = trace_pack_write(path, all, count, &amount, packing->call->error);
        if (result == 0)
            report(packing, path, count, &amount);
    }
    free(all);
    free(path);
    return result;
}

static int pack(struct packed_copy *packing)
{
    int result;

    if (packing->files.unpacked != NULL)
        return error_set(packing->call->error, EINVAL, "cannot pack '%s': it is packed already", packing->trace);
    result = add_missing(packing);
    return result == 0 ? write_pack(packing) : result;
}

static enum command_status run(const struct command_call *call)
{
    struct packed_copy packing = {.call = call, .added = {.folder = -1}};
    enum command_status status = read_arguments(&packing);
    int result;

    if (status != COMMAND_DONE)
        return status;
    if (trace_files_open(&packing.files, packing.trace, call->error) != 0)
        return COMMAND_FAILED;
    result = pack(&packing);
    trace_files_close(&packing.added);
    temporary_folder_remove(packing.folder);
    trace_files_close(&packing.files);
    return result == 0 ? COMMAND_DONE : COMMAND_FAILED;
}

extern const struct command command_pack;
const struct command command_pack = {
    .name = "pack",
    .arguments = "[TRACE] [-o FILE]",
    .summary = "a trace as one file, to be read elsewhere",
    .details = "Writes all of a trace into one file, compressed, with what is needed to read it\n"
               "where the programs and libraries are not: the names of their functions and, of\n"
               "those with debug information, the lines of their sources. Every command that\n"
               "takes a trace takes such a file; it is unpacked into a temporary folder (below\n"
               "TMPDIR, or /tmp) for as long as the command runs. What is needed is looked for\n"
               "in the programs and libraries as they are now, unless it was kept when they\n"
               "were recorded: one that has changed since is left out.\n"
               "\n"
               "  -o, --output FILE   what it is called; if not given, as the trace, with\n"
               "                      .gaitpack behind it, in the current folder\n"
               "\n"
               "Without TRACE it is the last one in ./traces, which is said on standard error.\n"
               "\n"
               "Examples:\n"
               "  gait pack traces/myprogram-20260131-120000\n"
               "  gait pack -o /tmp/slow.gaitpack traces/myprogram-20260131-120000\n"
               "  gait report /tmp/slow.gaitpack\n",
    .run = run,
};
