/* SPDX-License-Identifier: MIT */
/* gait dump events: all events of a trace as lines of text, thread by thread, each in the order in which they happened.
 */
#include "cli/command.h"

#include "cli/options/arguments.h"
#include "cli/reading_status.h"
#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/error_text.h"
#include "symbolize/function_names.h"
#include "trace/event_names.h"
#include "trace/modules.h"
#include "trace/stream_reader.h"
#include "trace/trace_events.h"
#include "trace/trace_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 200
#define NAME_COUNT 4096u /* names that are remembered; a power of two */

/* Programs go through the same places again and again. */
struct known_name {
    const struct recorded_module *module; /* NULL: nothing is known here */
    uint64_t address;
    char text[NAME_BYTES];
};

struct events_dump {
    const struct command_call *call;
    struct trace_files files;
    const struct trace_file *process; /* of the one whose modules and blocks these are; NULL: none yet */
    struct modules modules;
    struct trace_blocks blocks;
    struct function_names names;
    struct known_name *known;
    const struct trace_file *file; /* of the thread */
    int guess_times;
};

/* ---- names ------------------------------------------------------------------------------------------------------- */

static const char *name_in(struct events_dump *dump, const struct recorded_module *module, uint64_t address)
{
    struct known_name *known = &dump->known[(address ^ address >> 12) & (NAME_COUNT - 1)];
    char text[NAME_BYTES];

    if (known->module == module && known->address == address)
        return known->text;
    (void)function_names_find(&dump->names, module, address, text, sizeof(text));
    known->module = module;
    known->address = address;
    printable(known->text, sizeof(known->text), text);
    return known->text;
}

/* The text is good until the next call for the same or another address. */
static const char *name_of(struct events_dump *dump, uint64_t address, uint64_t first, uint64_t last, char *number)
{
    const struct recorded_module *module = modules_find(&dump->modules, address, first, last);

    if (module != NULL)
        return name_in(dump, module, address);
    snprintf(number, NAME_BYTES, "0x%" PRIx64, address);
    return number;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* A guess at the time, if it is wanted where there is none. */
static void put_time(const struct events_dump *dump, const struct trace_span *span, uint64_t time)
{
    if (!span->is_interpolated)
        screen_print(dump->call->screen, "\t%" PRIu64, time);
    else if (dump->guess_times)
        screen_print(dump->call->screen, "\t~%" PRIu64, time);
}

static const char *name_kind(const struct gait_event *event)
{
    if (event->is_entry_only)
        return "not-seen";
    return event->is_unwound ? "unwound" : event_name((unsigned)__builtin_ctz(event->kind));
}

static void put_event(struct events_dump *dump, const struct gait_event *event, const struct trace_span *span,
                      uint64_t time)
{
    struct screen *screen = dump->call->screen;
    uint64_t first = event->time != 0 ? event->time : span->first_time;
    uint64_t last = event->time != 0 ? event->time : span->last_time;
    char number[NAME_BYTES];

    screen_print(screen, "%" PRIu32 "\t%" PRIu32, dump->file->pid, dump->file->tid);
    put_time(dump, span, time);
    screen_print(screen, "\t%s", name_kind(event));
    if (event->kind == GAIT_EVENT_GOROUTINE) {
        screen_print(screen, "\t%" PRIu64 "\n", event->target);
        return;
    }
    if (event->kind & (GAIT_EVENT_CALL | GAIT_EVENT_RET | GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE | GAIT_EVENT_SUSPEND |
                       GAIT_EVENT_RESUME))
        screen_print(screen, "\t%" PRId32, event->depth);
    screen_print(screen, "\t%s", name_of(dump, event->location, first, last, number));
    if (event->kind & (GAIT_EVENT_CALL | GAIT_EVENT_RET))
        screen_print(screen, "\t%s", name_of(dump, event->target, first, last, number));
    else if (event->kind & (GAIT_EVENT_BLOCK | GAIT_EVENT_COMPILE))
        screen_print(screen, "\t%" PRIu64, event->target - event->location);
    screen_print(screen, "\n");
}

static int put_events(void *context, const struct gait_event *events, size_t count, const struct trace_span *span)
{
    struct events_dump *dump = context;

    for (size_t i = 0; i < count; i++)
        put_event(dump, &events[i], span, trace_span_time(span, events, count, i));
    /* Whoever reads the lines may have had enough. */
    return ferror(dump->call->screen->stream);
}

static void put_loss(void *context, uint64_t bytes)
{
    const struct events_dump *dump = context;

    if (bytes == 0)
        return;
    screen_print(dump->call->screen, "%" PRIu32 "\t%" PRIu32 "\tlost\t%" PRIu64 "\n", dump->file->pid, dump->file->tid,
                 bytes);
}

static void put_gap(void *context)
{
    const struct events_dump *dump = context;

    screen_print(dump->call->screen, "%" PRIu32 "\t%" PRIu32 "\tgap\n", dump->file->pid, dump->file->tid);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void forget_process(struct events_dump *dump)
{
    if (dump->process != NULL) {
        modules_deinit(&dump->modules);
        trace_blocks_deinit(&dump->blocks);
    }
    memset(dump->known, 0, NAME_COUNT * sizeof(*dump->known));
    dump->process = NULL;
}

/* A process that has executed another program is another one. */
static bool is_same_process(const struct trace_file *left, const struct trace_file *right)
{
    return left->pid == right->pid && left->image == right->image;
}

static const char *path_of(const struct events_dump *dump, const struct trace_file *file, enum trace_file_kind kind)
{
    for (size_t i = 0; i < dump->files.count; i++)
        if (dump->files.files[i].kind == kind && is_same_process(&dump->files.files[i], file))
            return dump->files.files[i].path;
    return NULL;
}

/* Without modules there are no names, without blocks no events. */
static int take_process(struct events_dump *dump, const struct trace_file *file)
{
    const char *modules = path_of(dump, file, TRACE_FILE_MODULES), *blocks = path_of(dump, file, TRACE_FILE_BLOCKS);
    struct gait_error *err = dump->call->error;
    int result;

    if (dump->process != NULL && is_same_process(dump->process, file))
        return 0;
    forget_process(dump);
    if (blocks == NULL)
        return error_set(err, ENOENT, "cannot read the events of process %" PRIu32 ": its blocks.gait is missing",
                         file->pid);
    result = trace_blocks_read(&dump->blocks, dump->files.folder, blocks, err);
    if (result != 0)
        return result;
    if (modules == NULL || modules_read(&dump->modules, dump->files.folder, modules, NULL) != 0)
        dump->modules = (struct modules){.count = 0};
    dump->process = file;
    return 0;
}

static int dump_thread(struct events_dump *dump, const struct trace_file *file, size_t piece_count)
{
    const struct trace_events_receiver receiver = {put_events, put_loss, put_gap, dump};
    struct gait_error why = {.code = 0};
    struct trace_events_end end;
    int result = take_process(dump, file);

    if (result != 0)
        return result;
    dump->file = file;
    result = trace_events_read(dump->files.folder, file, piece_count, &dump->blocks, &receiver, &end, &why);
    if (result == 0)
        (void)stream_end_check(&end.stream, end.path, &why);
    if (stream_error_outweighs(&why, dump->call->error))
        *dump->call->error = why;
    return result;
}

static int dump_all(struct events_dump *dump)
{
    size_t piece_count;
    int first = 0;

    for (size_t i = 0; i < dump->files.count; i += piece_count) {
        piece_count = trace_files_pieces(&dump->files, i);
        if (dump->files.files[i].kind == TRACE_FILE_INDEX) {
            int result = dump_thread(dump, &dump->files.files[i], piece_count);

            first = first == 0 ? result : first;
        }
    }
    return first;
}

static enum command_status run(const struct command_call *call)
{
    static const char *const names[] = {"TRACE"};
    struct events_dump dump = {.call = call};
    const struct argument_option options[] = {{"guess-times", NULL, &dump.guess_times}};
    struct argument_rules rules = {"dump events", options, 1, names, 1};
    const char *path;
    enum command_status status = arguments_parse(call, &rules, &path);

    if (status != COMMAND_DONE)
        return status;
    if (trace_files_open(&dump.files, path, call->error) != 0)
        return COMMAND_FAILED;
    function_names_init(&dump.names);
    function_names_use_trace(&dump.names, dump.files.folder);
    dump.known = calloc(NAME_COUNT, sizeof(*dump.known));
    if (dump.known == NULL)
        (void)error_set(call->error, ENOMEM, "cannot show the events of '%s': there is no memory", path);
    status = dump.known == NULL ? COMMAND_FAILED : reading_status(call, dump_all(&dump));
    if (dump.known != NULL)
        forget_process(&dump);
    free(dump.known);
    function_names_deinit(&dump.names);
    trace_files_close(&dump.files);
    return status;
}

extern const struct command command_dump_events;
const struct command command_dump_events = {
    .name = "dump events",
    .arguments = "[TRACE] [--guess-times]",
    .summary = "every event of a trace, a line each",
    .details = "Writes the events of a trace as lines, for other programs to read: process,\n"
               "thread, time if events have one (of the CPU's counter), kind; of calls and\n"
               "returns the depth, from where and to where; of blocks the place and the bytes of\n"
               "code; of hooked functions, which are entered and left (or unwound, by an\n"
               "exception or a long jump), the depth and the function. Fields are separated by\n"
               "tabs. Threads come one after the other, the events\n"
               "of each in their order. \"lost\" is written where records are missing, with their bytes,\n"
               "\"gap\" where some were left out: outside of windows, or in pieces that are deleted.\n"
               "\n"
               "  --guess-times  also for events without a time of their own: ~ and a guess, from\n"
               "                 the times that are known before and behind it\n"
               "\n"
               "Without TRACE it is the last one in ./traces, which is said on standard error.\n"
               "\n"
               "Examples:\n"
               "  gait dump events traces/program-20260131-120000 | head\n"
               "  gait dump events TRACE --guess-times | awk '$4 == \"call\"'\n",
    .run = run,
};
