/* SPDX-License-Identifier: MIT */
/* gait dump details: all records of the detail lanes of a trace as lines of text, thread by thread, in their order. */
#include "cli/command.h"

#include "cli/options/arguments.h"
#include "cli/reading_status.h"
#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/error_text.h"
#include "symbolize/call_arguments.h"
#include "symbolize/function_names.h"
#include "symbolize/stack_names.h"
#include "trace/modules.h"
#include "trace/stream_reader.h"
#include "trace/trace_details.h"
#include "trace/trace_files.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define NAME_BYTES 256

struct details_dump {
    const struct command_call *call;
    struct trace_files files;
    const struct trace_file *file; /* of the thread */
    uint32_t pid;                  /* whose modules these are, of that image; 0: nobody's */
    uint32_t image;
    struct modules modules;
    struct function_names names;
    struct call_arguments arguments;
};

static const struct recorded_module *module_of(const struct details_dump *dump, const struct detail_record *record)
{
    return modules_find(&dump->modules, record->function, record->time, record->time);
}

static void put_start(struct details_dump *dump, const struct detail_record *record, const char *kind)
{
    const struct recorded_module *module = module_of(dump, record);
    char text[NAME_BYTES], clean[NAME_BYTES];

    snprintf(text, sizeof(text), "0x%" PRIx64, record->function);
    if (module != NULL)
        (void)function_names_find(&dump->names, module, record->function, text, sizeof(text));
    screen_print(dump->call->screen, "%" PRIu32 "\t%" PRIu32 "\t%" PRIu64 "\t%s\t%u\t%s", dump->file->pid,
                 dump->file->tid, record->time, kind, record->depth, printable(clean, sizeof(clean), text));
}

static void put_enter(void *context, const struct detail_enter *enter, const uint8_t *stack,
                      struct detail_values values)
{
    struct details_dump *dump = context;
    char bytes[DETAIL_TEXT_BYTES];
    struct detail_text text;

    put_start(dump, &enter->record, "enter");
    for (unsigned i = 0; i < DETAIL_ARGUMENTS; i++)
        screen_print(dump->call->screen, "\t0x%" PRIx64, enter->arguments[i]);
    screen_print(dump->call->screen, "\t");
    for (uint32_t i = 0; i < enter->stack_bytes; i++)
        screen_print(dump->call->screen, "%02x", stack[i]);
    detail_text_init(&text, bytes, sizeof(bytes));
    call_arguments_put(&dump->arguments, module_of(dump, &enter->record), enter, stack, values, &text);
    screen_print(dump->call->screen, text.used == 0 ? "\n" : "\t%s\n", bytes);
}

static void put_leave(void *context, const struct detail_leave *leave, struct detail_values values)
{
    struct details_dump *dump = context;
    char bytes[DETAIL_TEXT_BYTES];
    struct detail_text text;
    bool is_return = leave->record.kind == DETAIL_LEAVE;

    put_start(dump, &leave->record, is_return ? "leave" : "left");
    screen_print(dump->call->screen, "\t%" PRIu64, leave->record.time - leave->entered_time);
    if (is_return)
        screen_print(dump->call->screen, "\t0x%" PRIx64, leave->value);
    detail_text_init(&text, bytes, sizeof(bytes));
    call_arguments_put_result(&dump->arguments, module_of(dump, &leave->record), leave, values, &text);
    screen_print(dump->call->screen, text.used == 0 ? "\n" : "\t%s\n", bytes);
}

/* Return addresses are behind calls, which may be the last thing in a function: so what is before them is named. */
static void put_stack(void *context, const struct detail_stack *stack, const uint8_t *addresses)
{
    struct details_dump *dump = context;

    put_start(dump, &stack->record, "stack");
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        char text[NAME_BYTES], clean[NAME_BYTES];
        uint64_t address;

        memcpy(&address, addresses + i * sizeof(address), sizeof(address));
        stack_names_find(&dump->modules, &dump->names, stack->record.time, address, text, sizeof(text));
        screen_print(dump->call->screen, "\t%s", printable(clean, sizeof(clean), text));
    }
    screen_print(dump->call->screen, "%s\n", stack->flags & DETAIL_STACK_GOES_ON ? "\t..." : "");
}

/* All values of a record, one by one. */
static void put_values(struct details_dump *dump, struct detail_values values)
{
    char bytes[DETAIL_TEXT_BYTES];
    struct detail_text text;

    detail_text_init(&text, bytes, sizeof(bytes));
    detail_text_put_arguments(&text, values, NULL);
    screen_print(dump->call->screen, text.used == 0 ? "\n" : "\t%s\n", bytes);
}

static void put_system_start(struct details_dump *dump, const struct detail_record *record, const char *kind,
                             const uint64_t *arguments)
{
    screen_print(dump->call->screen, "%" PRIu32 "\t%" PRIu32 "\t%" PRIu64 "\t%s\t%u\t%" PRIu64, dump->file->pid,
                 dump->file->tid, record->time, kind, record->depth, record->function);
    for (unsigned i = 0; i < DETAIL_ARGUMENTS; i++)
        screen_print(dump->call->screen, "\t0x%" PRIx64, arguments[i]);
}

static void put_system_call(void *context, const struct detail_system_call *call, struct detail_values values)
{
    struct details_dump *dump = context;
    uint64_t ticks = call->record.time - call->entered_time;

    put_system_start(dump, &call->record, "system call", call->arguments);
    screen_print(dump->call->screen, "\t%" PRIu64 "\t0x%" PRIx32, ticks, call->flags);
    if (call->flags & DETAIL_SYSTEM_CALL_NEVER_RETURNED)
        screen_print(dump->call->screen, "\t?");
    else
        screen_print(dump->call->screen, "\t%" PRIi64, call->result);
    put_values(dump, values);
}

static void put_system_call_enter(void *context, const struct detail_system_call_enter *enter,
                                  struct detail_values values)
{
    struct details_dump *dump = context;

    put_system_start(dump, &enter->record, "system call entered", enter->arguments);
    put_values(dump, values);
}

static void put_probe(void *context, const struct detail_probe *probe, struct detail_values values)
{
    struct details_dump *dump = context;

    put_start(dump, &probe->record, "probe");
    screen_print(dump->call->screen, "\t%" PRIu64, probe->probe);
    put_values(dump, values);
}

/* What is known of names is known by modules. */
static void forget_process(struct details_dump *dump)
{
    if (dump->pid == 0)
        return;
    call_arguments_deinit(&dump->arguments);
    function_names_deinit(&dump->names);
    modules_deinit(&dump->modules);
    dump->pid = 0;
}

/* Without modules there are no names. */
static int take_process(struct details_dump *dump, const struct trace_file *file)
{
    if (dump->pid == file->pid && dump->image == file->image)
        return 0;
    forget_process(dump);
    function_names_init(&dump->names);
    function_names_use_trace(&dump->names, dump->files.folder);
    if (call_arguments_init(&dump->arguments, &dump->names) != 0)
        return error_set(dump->call->error, ENOMEM, "no memory");
    dump->modules = (struct modules){.count = 0};
    for (size_t i = 0; i < dump->files.count; i++) {
        const struct trace_file *other = &dump->files.files[i];

        if (other->pid == file->pid && other->image == file->image && other->kind == TRACE_FILE_MODULES)
            (void)!modules_read(&dump->modules, dump->files.folder, other->path, NULL);
    }
    dump->pid = file->pid;
    dump->image = file->image;
    return 0;
}

static int dump_thread(struct details_dump *dump, const struct trace_file *file)
{
    const struct trace_details_receiver receiver = {
        .enter = put_enter,
        .leave = put_leave,
        .stack = put_stack,
        .context = dump,
        .system_call = put_system_call,
        .system_call_enter = put_system_call_enter,
        .probe = put_probe,
    };
    struct gait_error why = {.code = 0};
    struct trace_details_end end;
    int result = take_process(dump, file);

    if (result != 0)
        return result;
    dump->file = file;
    result = trace_details_read(dump->files.folder, file->path, &receiver, &end, &why);
    if (result == 0)
        (void)stream_end_check(&end.stream, file->path, &why);
    if (stream_error_outweighs(&why, dump->call->error))
        *dump->call->error = why;
    return result;
}

static enum command_status run(const struct command_call *call)
{
    static const char *const names[] = {"TRACE"};
    struct argument_rules rules = {"dump details", NULL, 0, names, 1};
    struct details_dump dump = {.call = call};
    const char *path;
    enum command_status status = arguments_parse(call, &rules, &path);
    int result = 0;

    if (status != COMMAND_DONE)
        return status;
    if (trace_files_open(&dump.files, path, call->error) != 0)
        return COMMAND_FAILED;
    for (size_t i = 0; i < dump.files.count; i++)
        if (dump.files.files[i].kind == TRACE_FILE_DETAIL && result != -ENOMEM)
            result = dump_thread(&dump, &dump.files.files[i]);
    forget_process(&dump);
    trace_files_close(&dump.files);
    return reading_status(call, result);
}

extern const struct command command_dump_details;
const struct command command_dump_details = {
    .name = "dump details",
    .arguments = "[TRACE]",
    .summary = "the records of a trace's detail lanes, a line each",
    .details = "Writes what is in the detail lanes of a trace as lines, for other programs to\n"
               "read: process, thread, time (of the CPU's counter), \"enter\", \"leave\", \"left\" (by\n"
               "an exception or a long jump) or \"stack\", depth, function. Then, where it was\n"
               "entered, six registers in which there may be arguments, the stack in hexadecimal\n"
               "and, if they are known, the arguments as what they are; where it was left, how\n"
               "long it took, in ticks of the counter, what it returned and, if it is known, what\n"
               "that is; of a stack, the callers, the nearest first, and \"...\" if there are more.\n"
               "A line of a \"system call\" has its number in the place of the function, then the\n"
               "six arguments, how long it took, flags (1: it did not return, 2: injected, 4: made\n"
               "again after a signal), the result, and what arguments point at; one of a \"system\n"
               "call entered\" the same without what is known later; one of a \"probe\" its number\n"
               "in the manifest, and its arguments. Fields are separated by tabs.\n"
               "\n"
               "Without TRACE it is the last one in ./traces, which is said on standard error.\n"
               "\n"
               "Examples:\n"
               "  gait spawn --detail 'parse_*' -o traces -- ./program\n"
               "  gait dump details traces/program-20260131-120000 | cut -f 4,6\n",
    .run = run,
};
