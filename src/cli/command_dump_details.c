/* SPDX-License-Identifier: MIT */
/* gait dump details: all records of the detail lanes of a trace as lines of text, thread by thread, in their order. */
#include "cli/command.h"

#include "cli/arguments.h"
#include "cli/printable.h"
#include "cli/screen.h"
#include "symbolize/function_names.h"
#include "trace/modules.h"
#include "trace/trace_details.h"
#include "trace/trace_files.h"

#include <errno.h>
#include <inttypes.h>

#define NAME_BYTES 256

struct dump {
    const struct command_call *call;
    struct trace_files files;
    const struct trace_file *file; /* of the thread */
    uint32_t pid;                  /* whose modules these are, of that image; 0: nobody's */
    uint32_t image;
    struct modules modules;
    struct function_names names;
};

static void put_start(struct dump *dump, const struct detail_record *record, const char *kind)
{
    const struct module *module = modules_find(&dump->modules, record->function, record->time, record->time);
    char text[NAME_BYTES], clean[NAME_BYTES];

    snprintf(text, sizeof(text), "0x%" PRIx64, record->function);
    if (module != NULL)
        (void)function_names_find(&dump->names, module, record->function, text, sizeof(text));
    screen_print(dump->call->screen, "%" PRIu32 "\t%" PRIu32 "\t%" PRIu64 "\t%s\t%u\t%s", dump->file->pid,
                 dump->file->tid, record->time, kind, record->depth, printable(clean, sizeof(clean), text));
}

static void put_enter(void *context, const struct detail_enter *enter, const uint8_t *stack)
{
    struct dump *dump = context;

    put_start(dump, &enter->record, "enter");
    for (unsigned i = 0; i < DETAIL_ARGUMENTS; i++)
        screen_print(dump->call->screen, "\t0x%" PRIx64, enter->arguments[i]);
    screen_print(dump->call->screen, "\t");
    for (uint32_t i = 0; i < enter->stack_bytes; i++)
        screen_print(dump->call->screen, "%02x", stack[i]);
    screen_print(dump->call->screen, "\n");
}

static void put_leave(void *context, const struct detail_leave *leave)
{
    struct dump *dump = context;
    bool is_return = leave->record.kind == DETAIL_LEAVE;

    put_start(dump, &leave->record, is_return ? "leave" : "left");
    screen_print(dump->call->screen, "\t%" PRIu64, leave->record.time - leave->entered_time);
    if (is_return)
        screen_print(dump->call->screen, "\t0x%" PRIx64, leave->value);
    screen_print(dump->call->screen, "\n");
}

static void forget_process(struct dump *dump)
{
    if (dump->pid != 0)
        modules_deinit(&dump->modules);
    dump->pid = 0;
}

/* Without modules there are no names. */
static void take_process(struct dump *dump, const struct trace_file *file)
{
    if (dump->pid == file->pid && dump->image == file->image)
        return;
    forget_process(dump);
    dump->modules = (struct modules){.count = 0};
    for (size_t i = 0; i < dump->files.count; i++) {
        const struct trace_file *other = &dump->files.files[i];

        if (other->pid == file->pid && other->image == file->image && other->kind == TRACE_FILE_MODULES)
            (void)!modules_read(&dump->modules, dump->files.folder, other->path, NULL);
    }
    dump->pid = file->pid;
    dump->image = file->image;
}

static int dump_thread(struct dump *dump, const struct trace_file *file)
{
    const struct trace_details_receiver receiver = {put_enter, put_leave, dump};
    struct trace_details_end end;
    int result;

    take_process(dump, file);
    dump->file = file;
    result = trace_details_read(dump->files.folder, file->path, &receiver, &end, dump->call->error);
    return result == 0 ? stream_end_check(&end.stream, file->path, dump->call->error) : result;
}

static enum command_status run(const struct command_call *call)
{
    static const char *const names[] = {"TRACE"};
    struct argument_rules rules = {"dump details", NULL, 0, names, 1};
    struct dump dump = {.call = call};
    const char *path;
    enum command_status status = arguments_parse(call, &rules, &path);

    if (status != COMMAND_DONE)
        return status;
    if (trace_files_open(&dump.files, path, call->error) != 0)
        return COMMAND_FAILED;
    function_names_init(&dump.names);
    for (size_t i = 0; i < dump.files.count; i++)
        if (dump.files.files[i].kind == TRACE_FILE_DETAIL && dump_thread(&dump, &dump.files.files[i]) != 0)
            status = COMMAND_FAILED;
    forget_process(&dump);
    function_names_deinit(&dump.names);
    trace_files_close(&dump.files);
    return status;
}

extern const struct command command_dump_details;
const struct command command_dump_details = {
    .name = "dump details",
    .arguments = "TRACE",
    .summary = "every call that --detail asked for, a line each time",
    .details = "Writes what is in the detail lanes of a trace as lines, for other programs to\n"
               "read: process, thread, time (of the CPU's counter), \"enter\", \"leave\" or \"left\" (by\n"
               "an exception or a long jump), depth, function. Then, where it was entered, six\n"
               "registers in which there may be arguments, and the stack in hexadecimal; where it\n"
               "was left, how long it took, in ticks of the counter, and what it returned. Fields\n"
               "are separated by tabs.\n",
    .run = run,
};
