/* SPDX-License-Identifier: MIT */
/* gait stacks: who called the functions of which --stack kept the callers; those that are the same are counted. */
#include "cli/command.h"

#include "cli/each_trace.h"
#include "cli/options/arguments.h"
#include "cli/reading_status.h"
#include "cli/screens/printable.h"
#include "cli/screens/sample_screen.h"
#include "cli/screens/screen.h"
#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "symbolize/function_names.h"
#include "symbolize/stack_names.h"
#include "trace/modules.h"
#include "trace/stream_reader.h"
#include "trace/trace_details.h"
#include "trace/trace_files.h"
#include "view/sample_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES     1024
#define LIMIT_DEFAULT  20
#define SLOTS_AT_FIRST 128

/* One that was taken; stacks of a process are alike if function and callers are. */
struct stack {
    uint32_t process; /* in the list of processes */
    uint32_t tid;     /* of the first one */
    uint64_t time;    /* the same */
    uint64_t count;
    uint64_t function;
    bool goes_on;
    uint32_t frame_count;
    uint64_t frames[DETAIL_STACK_FRAMES_MAX];
};

struct process {
    uint32_t pid;
    uint32_t image;
    struct modules modules;
};

struct stacks {
    const struct command_call *call;
    struct trace_files files;
    const struct trace_file *file; /* that is read */
    struct process *processes;
    size_t process_count;
    struct stack *stacks;
    size_t count;
    size_t capacity;
    uint64_t *slots; /* numbers of stacks, and 1, by what they are like; a power of two */
    size_t slot_count;
    int result; /* -ENOMEM */
};

/* ---- counting ---------------------------------------------------------------------------------------------------- */

static uint64_t hash_of(const struct stack *stack)
{
    uint64_t hash = stack->function ^ (uint64_t)stack->process << 48;

    for (uint32_t i = 0; i < stack->frame_count; i++)
        hash = (hash ^ hash >> 29 ^ stack->frames[i]) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

static bool is_alike(const struct stack *left, const struct stack *right)
{
    return left->process == right->process && left->function == right->function && left->goes_on == right->goes_on &&
           left->frame_count == right->frame_count &&
           memcmp(left->frames, right->frames, left->frame_count * sizeof(left->frames[0])) == 0;
}

/* Where it is, or would be. */
static uint64_t *find_slot(const struct stacks *stacks, const struct stack *stack)
{
    size_t at = hash_of(stack) & (stacks->slot_count - 1);

    while (stacks->slots[at] != 0 && !is_alike(&stacks->stacks[stacks->slots[at] - 1], stack))
        at = (at + 1) & (stacks->slot_count - 1);
    return &stacks->slots[at];
}

static int add_slots(struct stacks *stacks)
{
    size_t slot_count = stacks->slot_count == 0 ? SLOTS_AT_FIRST : 2 * stacks->slot_count;
    uint64_t *slots = calloc(slot_count, sizeof(*slots));

    if (slots == NULL)
        return -ENOMEM;
    free(stacks->slots);
    stacks->slots = slots;
    stacks->slot_count = slot_count;
    for (size_t i = 0; i < stacks->count; i++)
        *find_slot(stacks, &stacks->stacks[i]) = i + 1;
    return 0;
}

static void add(struct stacks *stacks, const struct stack *stack)
{
    uint64_t *slot;

    if ((2 * stacks->count >= stacks->slot_count && add_slots(stacks) != 0) ||
        ARRAY_RESERVE(stacks->stacks, stacks->capacity, stacks->count + 1) != 0) {
        stacks->result = -ENOMEM;
        return;
    }
    slot = find_slot(stacks, stack);
    if (*slot == 0) {
        stacks->stacks[stacks->count] = *stack;
        *slot = ++stacks->count;
    }
    stacks->stacks[*slot - 1].count++;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static void take_stack(void *context, const struct detail_stack *record, const uint8_t *addresses)
{
    struct stacks *stacks = context;
    struct stack stack = {
        .process = (uint32_t)(stacks->process_count - 1),
        .tid = stacks->file->tid,
        .time = record->record.time,
        .function = record->record.function,
        .goes_on = record->flags & DETAIL_STACK_GOES_ON,
        .frame_count = record->frame_count < DETAIL_STACK_FRAMES_MAX ? record->frame_count : DETAIL_STACK_FRAMES_MAX,
    };

    memcpy(stack.frames, addresses, stack.frame_count * sizeof(stack.frames[0]));
    add(stacks, &stack);
}

/* The process of the file becomes the last one in the list; files are in their order. Without modules, no names. */
static int take_process(struct stacks *stacks, const struct trace_file *file)
{
    struct process *last = stacks->process_count == 0 ? NULL : &stacks->processes[stacks->process_count - 1];

    if (last != NULL && last->pid == file->pid && last->image == file->image)
        return 0;
    if (ARRAY_RESERVE_NEXT(stacks->processes, stacks->process_count) != 0)
        return -ENOMEM;
    last = &stacks->processes[stacks->process_count++];
    *last = (struct process){.pid = file->pid, .image = file->image};
    for (size_t i = 0; i < stacks->files.count; i++) {
        const struct trace_file *other = &stacks->files.files[i];

        if (other->pid == file->pid && other->image == file->image && other->kind == TRACE_FILE_MODULES)
            (void)!modules_read(&last->modules, stacks->files.folder, other->path, NULL);
    }
    return 0;
}

static int read_file(struct stacks *stacks, const struct trace_file *file)
{
    const struct trace_details_receiver receiver = {.stack = take_stack, .context = stacks};
    struct gait_error *err = stacks->call->error, why = {.code = 0};
    struct trace_details_end end;
    int result = take_process(stacks, file);

    stacks->file = file;
    if (result == 0)
        result = trace_details_read(stacks->files.folder, file->path, &receiver, &end, &why);
    else
        return error_set(err, ENOMEM, "no memory");
    if (result == 0 && stacks->result != 0)
        return error_set(err, ENOMEM, "there are too many different stacks for the memory");
    if (result == 0)
        (void)stream_end_check(&end.stream, file->path, &why);
    if (stream_error_outweighs(&why, err))
        *err = why;
    return result;
}

/* ---- showing ----------------------------------------------------------------------------------------------------- */

static int compare(const void *left_stack, const void *right_stack)
{
    const struct stack *left = left_stack, *right = right_stack;

    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return left->time < right->time ? -1 : left->time > right->time;
}

static void put_stack(const struct stacks *stacks, const struct stack *stack, struct function_names *names)
{
    const struct process *process = &stacks->processes[stack->process];
    const struct recorded_module *module = modules_find(&process->modules, stack->function, stack->time, stack->time);
    struct screen *screen = stacks->call->screen;
    char text[NAME_BYTES], clean[NAME_BYTES];

    snprintf(text, sizeof(text), "0x%" PRIx64, stack->function);
    if (module != NULL)
        (void)function_names_find_line(names, module, stack->function, text, sizeof(text));
    screen_put(screen, SCREEN_STRONG, 0, printable(clean, sizeof(clean), text));
    screen_print(screen, "  %" PRIu64 " %s, process %" PRIu32 ", first in thread %" PRIu32 "\n", stack->count,
                 stack->count == 1 ? "time" : "times", process->pid, stack->tid);
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        stack_names_find_line(&process->modules, names, stack->time, stack->frames[i], text, sizeof(text));
        screen_print(screen, "    %s\n", printable(clean, sizeof(clean), text));
    }
    if (stack->goes_on)
        screen_print(screen, "    ...\n");
}

/* Those that the kernel took. How many. */
static size_t put_samples(const struct stacks *stacks, const char *path, size_t limit)
{
    const struct sample_choice all = {.thread_count = 0};
    struct view_functions functions;
    struct sample_trees samples;
    struct view_trace trace;
    size_t count = 0;

    if (view_trace_open(&trace, path, NULL) != 0)
        return 0;
    if (view_functions_init(&functions, &trace) == 0) {
        if (sample_trees_read(&samples, &functions, &all, NULL) == 0) {
            count = sample_screen_put_stacks(stacks->call->screen, &samples, limit);
            if (stream_error_outweighs(&samples.problem, stacks->call->error))
                *stacks->call->error = samples.problem;
            sample_trees_deinit(&samples);
        }
        view_functions_deinit(&functions);
    }
    view_trace_close(&trace);
    return count;
}

static void put_stacks(struct stacks *stacks, const char *path, size_t limit)
{
    size_t shown = stacks->count < limit ? stacks->count : limit;
    struct function_names names;

    function_names_init(&names);
    function_names_use_trace(&names, stacks->files.folder);
    if (stacks->count != 0)
        qsort(stacks->stacks, stacks->count, sizeof(stacks->stacks[0]), compare);
    for (size_t i = 0; i < shown; i++)
        put_stack(stacks, &stacks->stacks[i], &names);
    if (shown < stacks->count)
        screen_print(stacks->call->screen, "and %zu more; --limit shows them\n", stacks->count - shown);
    if (put_samples(stacks, path, limit) == 0 && stacks->count == 0)
        screen_print(stacks->call->screen,
                     "there are no stacks in it; gait spawn --stack keeps those of functions, and "
                     "gait probe -o those of profiles\n");
    function_names_deinit(&names);
}

static void release(struct stacks *stacks)
{
    for (size_t i = 0; i < stacks->process_count; i++)
        modules_deinit(&stacks->processes[i].modules);
    free(stacks->processes);
    free(stacks->stacks);
    free(stacks->slots);
    trace_files_close(&stacks->files);
}

static enum command_status show(const struct command_call *call, const char *path, void *context)
{
    const int *limit = context;
    struct stacks stacks = {.call = call};
    int result = 0;

    if (trace_files_open(&stacks.files, path, call->error) != 0)
        return COMMAND_FAILED;
    for (size_t i = 0; i < stacks.files.count; i++)
        if (stacks.files.files[i].kind == TRACE_FILE_DETAIL && result != -ENOMEM)
            result = read_file(&stacks, &stacks.files.files[i]);
    put_stacks(&stacks, path, (size_t)*limit);
    release(&stacks);
    return reading_status(call, result);
}

static enum command_status run(const struct command_call *call)
{
    static const char *const names[] = {"TRACE"};
    int limit = LIMIT_DEFAULT;
    const struct argument_option options[] = {{"limit", ARGUMENT_NUMBER, &limit}};
    const struct argument_rules rules = {"stacks", options, 1, names, 1};
    const char *paths[EACH_TRACE_MAX];
    size_t count;
    enum command_status status = arguments_parse_more(call, &rules, paths, EACH_TRACE_MAX, &count);

    if (status != COMMAND_DONE)
        return status;
    return each_trace_show(call, paths, count, &(struct each_trace){show, &limit, true});
}

extern const struct command command_stacks;
const struct command command_stacks = {
    .name = "stacks",
    .arguments = "[--limit N] [TRACE...]",
    .summary = "who called the functions that --stack asked for",
    .details = "Shows the call stacks in a trace, the nearest caller first. Those that are the same\n"
               "are shown once, and how often they were taken; the most frequent come first. An\n"
               "address is that behind the call. Stacks that the kernel took, of a profile or with\n"
               "gait probe --stack, begin with the function that ran.\n"
               "\n"
               "  --limit N           shows so many of them (20)\n"
               "\n"
               "Several traces are shown one after the other; without any, it is the last one in\n"
               "./traces, which is said on standard error.\n"
               "\n"
               "Examples:\n"
               "  gait spawn --stack 'libc*!malloc' -o traces -- ./program\n"
               "  gait stacks --limit 5 traces/program-20260131-120000\n",
    .run = run,
};
