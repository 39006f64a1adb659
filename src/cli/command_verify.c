/* SPDX-License-Identifier: MIT */
/* gait verify: whether all files of a trace are good, and ending those that were not ended. */
#include "cli/command.h"

#include "cli/each_trace.h"
#include "cli/options/arguments.h"
#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/error_text.h"
#include "ring/event_record.h"
#include "trace/file_check.h"
#include "trace/manifest.h"
#include "trace/stream_repair.h"
#include "trace/trace_layout.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Longer names do not belong to a trace, and may stick out. */
#define PATH_COLUMNS_MAX 48

/* How files are counted. */
struct tally {
    size_t checked;
    size_t bad;
    size_t repairable;
    size_t repaired;
    size_t missing;
};

struct verification {
    const struct command_call *call;
    struct trace_files files;
    struct file_checker checker;
    unsigned path_columns;
    int repair;
    struct tally tally;
};

static const char *const verdicts[] = {
    [FILE_GOOD] = "good",
    [FILE_CUT_OFF] = "cut off",
    [FILE_DAMAGED] = "damaged",
    [FILE_FOREIGN] = "ignored",
};

static void put_line(const struct verification *verification, const char *path, const char *verdict, bool is_good,
                     const char *text)
{
    struct screen *screen = verification->call->screen;
    char clean[GAIT_ERROR_TEXT_BYTES];

    screen_print(screen, "%-*s  ", (int)verification->path_columns, printable(clean, sizeof(clean), path));
    screen_put(screen, is_good ? SCREEN_PLAIN : SCREEN_CHANGED, 8, verdict);
    screen_print(screen, " %s\n", printable(clean, sizeof(clean), text));
}

/* A stream whose chunks can be read, but not to a proper end. */
static bool is_repairable(const struct file_finding *finding)
{
    return finding->end.state == STREAM_CUT_OFF || finding->end.state == STREAM_DAMAGED;
}

static void repair(struct verification *verification, const struct trace_file *file, const struct file_finding *finding)
{
    struct stream_repair done;
    struct gait_error err;
    char text[128];

    if (stream_repair_run(verification->files.folder, file->path, &finding->end, &done, &err) != 0) {
        put_line(verification, "", "left", false, err.text);
        return;
    }
    snprintf(text, sizeof(text), "cut %" PRIu64 " bytes off behind %" PRIu64 " chunk%s, wrote a footer", done.cut_bytes,
             done.chunk_count, done.chunk_count == 1 ? "" : "s");
    put_line(verification, "", "repaired", true, text);
    verification->tally.repaired++;
}

static void check(struct verification *verification, const struct trace_file *file)
{
    struct file_finding finding;
    bool is_good;

    file_checker_run(&verification->checker, file, &finding);
    is_good = finding.verdict == FILE_GOOD || finding.verdict == FILE_FOREIGN;
    put_line(verification, file->path, verdicts[finding.verdict], is_good, finding.text);
    if (finding.verdict == FILE_FOREIGN)
        return;
    verification->tally.checked++;
    if (is_good)
        return;
    verification->tally.bad++;
    if (!is_repairable(&finding))
        return;
    verification->tally.repairable++;
    if (verification->repair)
        repair(verification, file, &finding);
}

static bool is_listed(const struct trace_files *files, const struct trace_file *wanted)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->files[i].kind == wanted->kind && files->files[i].pid == wanted->pid &&
            files->files[i].image == wanted->image && files->files[i].tid == wanted->tid &&
            files->files[i].generation == wanted->generation)
            return true;
    return false;
}

static void check_presence(struct verification *verification, struct trace_file wanted, const char *name)
{
    char folder[TRACE_PROCESS_NAME_BYTES];

    if (is_listed(&verification->files, &wanted))
        return;
    trace_process_name(wanted.pid, wanted.image, folder);
    snprintf(wanted.path, sizeof(wanted.path), "%s/%s", folder, name);
    put_line(verification, wanted.path, "missing", false, "the manifest says that it was recorded");
    verification->tally.missing++;
}

/* What records name. */
static void check_blocks(struct verification *verification, struct trace_file wanted)
{
    for (size_t i = 0; i < verification->files.count; i++) {
        const struct trace_file *file = &verification->files.files[i];

        if (file->kind != TRACE_FILE_INDEX || file->pid != wanted.pid || file->image != wanted.image)
            continue;
        wanted.kind = TRACE_FILE_BLOCKS;
        check_presence(verification, wanted, TRACE_BLOCKS_NAME);
        return;
    }
}

/*
 * Of a flight, where no events were wanted or pieces were deleted, a thread may have no index; of hooks, one that has
 * only come by functions whose details were wanted.
 */
static void check_thread(struct verification *verification, const struct manifest *manifest, struct trace_file wanted)
{
    char name[TRACE_THREAD_NAME_BYTES];

    if (manifest->is_flight || manifest->events == 0 || manifest_deleted_pieces(manifest) != 0)
        return;
    wanted.kind = TRACE_FILE_DETAIL;
    if (manifest->events & EVENTS_HOOKED && is_listed(&verification->files, &wanted))
        return;
    wanted.kind = TRACE_FILE_INDEX;
    trace_thread_name(&wanted, name);
    check_presence(verification, wanted, name);
}

/* Whether there is a file for everything that the manifest speaks of; that it is good was told before. */
static void check_completeness(struct verification *verification)
{
    struct manifest manifest;

    if (!is_listed(&verification->files, &(struct trace_file){.kind = TRACE_FILE_MANIFEST})) {
        put_line(verification, TRACE_MANIFEST_NAME, "missing", false, "it says what was recorded, and is not there");
        verification->tally.missing++;
    }
    if (manifest_read(verification->files.folder, &manifest, NULL) != 0)
        return;
    for (size_t i = 0; i < manifest.process_count; i++) {
        const struct manifest_process *process = &manifest.processes[i];

        struct trace_file wanted = {.pid = process->pid, .image = process->image};

        wanted.kind = TRACE_FILE_MODULES;
        check_presence(verification, wanted, TRACE_MODULES_NAME);
        check_blocks(verification, wanted);
        for (size_t j = 0; j < process->thread_count; j++) {
            wanted.tid = process->threads[j].tid;
            wanted.generation = process->threads[j].generation;
            check_thread(verification, &manifest, wanted);
        }
    }
    manifest_free(&manifest);
}

static enum command_status conclude(const struct verification *verification, const char *path)
{
    const struct tally *tally = &verification->tally;
    size_t left = tally->bad - tally->repaired + tally->missing;

    screen_print(verification->call->screen, "\n%zu file%s checked, %zu good, %zu bad, %zu missing", tally->checked,
                 tally->checked == 1 ? "" : "s", tally->checked - tally->bad, tally->bad, tally->missing);
    if (verification->repair)
        screen_print(verification->call->screen, "; %zu repaired", tally->repaired);
    screen_print(verification->call->screen, "\n");
    if (left == 0)
        return COMMAND_DONE;
    if (tally->repairable > 0 && !verification->repair)
        error_set(
            verification->call->error, EPROTO,
            "cannot vouch for '%s': %zu of its files are not good; try 'gait verify --repair' if no recorder writes "
            "into it",
            path, left);
    else
        error_set(verification->call->error, EPROTO,
                  "cannot vouch for '%s': %zu of its files are not good; what is good in it can still be read", path,
                  left);
    return COMMAND_FAILED;
}

static enum command_status verify(const struct command_call *call, const char *path, void *context)
{
    struct verification verification = {.call = call, .repair = *(const int *)context};
    enum command_status status;

    if (trace_files_open(&verification.files, path, call->error) != 0)
        return COMMAND_FAILED;
    if (verification.repair && verification.files.unpacked != NULL) {
        trace_files_close(&verification.files);
        (void)error_set(call->error, EINVAL, "cannot repair '%s': it is packed; repair a trace before", path);
        return COMMAND_FAILED;
    }
    for (size_t i = 0; i < verification.files.count; i++) {
        unsigned columns = (unsigned)strlen(verification.files.files[i].path);

        if (columns > verification.path_columns && columns <= PATH_COLUMNS_MAX)
            verification.path_columns = columns;
    }
    file_checker_init(&verification.checker, &verification.files);
    for (size_t i = 0; i < verification.files.count; i++)
        check(&verification, &verification.files.files[i]);
    file_checker_deinit(&verification.checker);
    check_completeness(&verification);
    status = conclude(&verification, path);
    trace_files_close(&verification.files);
    return status;
}

static enum command_status run(const struct command_call *call)
{
    static const char *const names[] = {"TRACE"};
    int repair = 0;
    struct argument_option options[] = {{"repair", NULL, &repair}};
    struct argument_rules rules = {"verify", options, 1, names, 1};
    const char *paths[EACH_TRACE_MAX];
    size_t count;
    enum command_status status = arguments_parse_more(call, &rules, paths, EACH_TRACE_MAX, &count);

    if (status != COMMAND_DONE)
        return status;
    return each_trace_show(call, paths, count, &(struct each_trace){verify, &repair, true});
}

extern const struct command command_verify;
const struct command command_verify = {
    .name = "verify",
    .arguments = "[TRACE...] [--repair]",
    .summary = "check the files of a trace",
    .details = "Reads every file of a trace, which is the folder that was recorded into, and\n"
               "says of each whether it is good, cut off (the recording did not end properly)\n"
               "or damaged, and where. Fails if one is not good, or is missing.\n"
               "\n"
               "  --repair    cut damaged ends off and write the footers that are missing;\n"
               "              good chunks are never touched, and where some follow the\n"
               "              damage the file is left as it is\n"
               "\n"
               "Several traces are shown one after the other; without any, it is the last one in\n"
               "./traces, which is said on standard error.\n"
               "\n"
               "Examples:\n"
               "  gait verify traces/program-20260131-120000\n"
               "  gait verify --repair traces/program-20260131-120000\n",
    .run = run,
};
