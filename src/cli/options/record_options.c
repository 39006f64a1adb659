/* SPDX-License-Identifier: MIT */
/*
 * One table says what the options are: getopt_long reads the command line by it, up to the first argument that is no
 * option, since what follows belongs to the program; and a file's keys are the same names. The file is read first, and
 * an option of the command line replaces all that the file had for it.
 */
#define _GNU_SOURCE
#include "cli/options/record_options.h"

#include "cli/hints.h"

#include "cli/options/arg_spec.h"
#include "cli/options/config_file.h"
#include "cli/options/option_values.h"
#include "cli/options/probe_option.h"
#include "cli/options/record_patterns.h"
#include "cli/options/unknown_option.h"
#include "gait/stalker.h"
#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "kernel/probe_spec.h"
#include "ring/detail_record.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK_BYTES_MAX 512u
#define ROLL_MS         5000u
#define OPTIONS_MAX     64u
#define KEEP_MAX        1000000u

/* ---- what options do --------------------------------------------------------------------------------------------- */

/* Each takes a value, of a switch "true" or "false". False: it should be something else. */

static bool take_output(struct record_options *options, const char *value)
{
    options->output = value;
    return value[0] != '\0';
}

static bool take_follow(struct record_options *options, const char *value)
{
    options->has_events = true;
    return option_read_events(value, &options->events);
}

static bool take_overflow(struct record_options *options, const char *value)
{
    return option_read_overflow(value, &options->overflow);
}

static bool take_buffer(struct record_options *options, const char *value)
{
    return option_read_buffer_bytes(value, &options->buffer_bytes);
}

static bool take_duration(struct record_options *options, const char *value)
{
    return option_read_seconds(value, &options->duration_seconds);
}

static bool take_rotate(struct record_options *options, const char *value)
{
    return option_read_file_bytes(value, &options->rotation.bytes) || option_read_age(value, &options->rotation.age_ns);
}

static bool take_keep(struct record_options *options, const char *value)
{
    unsigned long number;

    if (!option_read_number(value, KEEP_MAX, &number) || number == 0)
        return false;
    options->rotation.keep = (uint32_t)number;
    return true;
}

static bool take_sync(struct record_options *options, const char *value)
{
    struct disk_sync_options sync = {.when = DISK_SYNC_SECONDS};

    if (strcmp(value, "never") == 0)
        sync.when = DISK_SYNC_NEVER;
    else if (strcmp(value, "end") == 0)
        sync.when = DISK_SYNC_END;
    else if (!option_read_seconds(value, &sync.seconds))
        return false;
    options->sync = sync;
    return true;
}

static bool take_keep_names(struct record_options *options, const char *value)
{
    options->keeps_names = strcmp(value, "yes") == 0;
    return options->keeps_names || strcmp(value, "no") == 0;
}

static bool take_stack_bytes(struct record_options *options, const char *value)
{
    unsigned long number;

    if (!option_read_number(value, STACK_BYTES_MAX, &number))
        return false;
    options->stack_bytes = (unsigned)number;
    return true;
}

static bool read_from_one(const char *value, unsigned most, unsigned *number_out)
{
    unsigned long number;

    if (!option_read_number(value, most, &number) || number == 0)
        return false;
    *number_out = (unsigned)number;
    return true;
}

static bool take_string_bytes(struct record_options *options, const char *value)
{
    return read_from_one(value, DETAIL_STACK_BYTES_MAX, &options->string_bytes);
}

static bool take_stack_depth(struct record_options *options, const char *value)
{
    return read_from_one(value, DETAIL_STACK_FRAMES_MAX, &options->stack_depth);
}

static bool take_pre_roll(struct record_options *options, const char *value)
{
    return option_read_roll(value, &options->pre_roll_ms);
}

static bool take_post_roll(struct record_options *options, const char *value)
{
    return option_read_roll(value, &options->post_roll_ms);
}

static bool add_text(struct option_list *list, const char *text)
{
    if (ARRAY_RESERVE_NEXT(list->texts, list->count) != 0)
        return false;
    list->texts[list->count++] = text;
    return true;
}

static bool is_pattern(const char *text)
{
    return text[0] != '\0' && strlen(text) < AGENT_PATTERN_BYTES;
}

static bool take_syscalls(struct record_options *options, const char *value)
{
    struct system_call_set_fault fault;

    options->records_syscalls = true;
    return system_call_set_parse(value == NULL ? "all" : value, &options->syscalls, &fault) == 0;
}

/* What is wrong with the set, and what may have been meant. */
static const char *wanted_syscalls(struct record_options *options, const char *value)
{
    struct system_call_set_fault fault;
    struct system_call_set set;
    struct gait_error why;

    if (system_call_set_parse(value, &set, &fault) == 0)
        return NULL;
    system_call_hint("--syscalls=", &fault, &why);
    snprintf(options->wanted, sizeof(options->wanted), "a set of system calls, like file,network or !futex: %.200s",
             why.text);
    return options->wanted;
}

static bool take_hook(struct record_options *options, const char *value)
{
    return is_pattern(value) && value[strlen(value) - 1] != '!' && add_text(&options->hooks, value);
}

/* What the agent does not arm is for the kernel to watch. */
static bool is_of_kernel(const char *value)
{
    struct probe_spec spec;
    struct gait_error err;
    bool is_kernel;

    if (probe_spec_parse(value, &spec, &err) != 0)
        return false;
    is_kernel = spec.kind != PROBE_USDT;
    probe_spec_deinit(&spec);
    return is_kernel;
}

static bool take_probe(struct record_options *options, const char *value)
{
    struct probe_option probe;
    struct gait_error err;

    if (is_of_kernel(value))
        return add_text(&options->kernel_probes, value);
    if (probe_option_read(value, &probe, &err) != 0)
        return false;
    probe_option_deinit(&probe);
    return add_text(&options->probes, value);
}

static bool take_exclude(struct record_options *options, const char *value)
{
    return is_pattern(value) && strcmp(value, "!") != 0 && add_text(&options->excludes, value);
}

static bool take_detail(struct record_options *options, const char *value)
{
    return is_pattern(value) && value[strlen(value) - 1] != '!' && add_text(&options->details, value);
}

static bool take_arg(struct record_options *options, const char *value)
{
    struct arg_spec_error error;
    struct arg_spec spec;

    return arg_spec_parse(value, &spec, &error) && add_text(&options->args, value);
}

static bool take_stack(struct record_options *options, const char *value)
{
    return is_pattern(value) && value[strlen(value) - 1] != '!' && add_text(&options->stacks, value);
}

static bool take_thread(struct record_options *options, const char *value)
{
    return is_pattern(value) && add_text(&options->threads, value);
}

static bool take_trigger(struct record_options *options, const char *value)
{
    if (ARRAY_RESERVE_NEXT(options->triggers, options->trigger_count) != 0 ||
        trigger_spec_parse(value, &options->triggers[options->trigger_count]) != NULL)
        return false;
    options->trigger_count++;
    return true;
}

static bool is_true(const char *value)
{
    return strcmp(value, "true") == 0;
}

#define SWITCH(name, field, on)                                                                                        \
    static bool name(struct record_options *options, const char *value)                                                \
    {                                                                                                                  \
        options->field = is_true(value) == (on);                                                                       \
        return true;                                                                                                   \
    }

SWITCH(take_times, with_times, true)
SWITCH(take_compress, compress, true)
SWITCH(take_quiet, is_quiet, true)
SWITCH(take_verbose, is_verbose, true)
SWITCH(take_flight, is_flight, true)
SWITCH(take_wait, waits, true)
SWITCH(take_sched, with_sched, true)
SWITCH(take_children, with_children, true)
SWITCH(take_no_children, with_children, false)

static void clear_hooks(struct record_options *options)
{
    options->hooks.count = 0;
}

static void clear_probes(struct record_options *options)
{
    options->probes.count = options->kernel_probes.count = 0;
}

static void clear_excludes(struct record_options *options)
{
    options->excludes.count = 0;
}

static void clear_details(struct record_options *options)
{
    options->details.count = 0;
}

static void clear_args(struct record_options *options)
{
    options->args.count = 0;
}

static void clear_stacks(struct record_options *options)
{
    options->stacks.count = 0;
}

static void clear_threads(struct record_options *options)
{
    options->threads.count = 0;
}

static void clear_rotate(struct record_options *options)
{
    options->rotation.bytes = options->rotation.age_ns = 0;
}

static void clear_triggers(struct record_options *options)
{
    options->trigger_count = 0;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

enum option_form {
    OPTION_VALUE,
    OPTION_SWITCH,
    OPTION_LIST,     /* can be given several times */
    OPTION_OPTIONAL, /* a value behind =, or none */
};

static const struct record_option {
    const char *name;
    enum option_form form;
    bool (*take)(struct record_options *options, const char *value); /* NULL: it is looked for before all others */
    const char *wanted;                                              /* what the value should be */
    void (*clear)(struct record_options *options);                   /* of lists */
} known[] = {
    {"output", OPTION_VALUE, take_output, "the name of a folder", NULL},
    {"follow", OPTION_VALUE, take_follow, "none, or some of call,ret,block,exec,compile", NULL},
    {"exclude", OPTION_LIST, take_exclude, "MODULE, MODULE!FUNCTION or !FUNCTION, in less than 120 letters",
     clear_excludes},
    {"follow-thread", OPTION_LIST, take_thread, "a thread's name or number", clear_threads},
    {"times", OPTION_SWITCH, take_times, "true or false", NULL},
    {"children", OPTION_SWITCH, take_children, "true or false", NULL},
    {"no-children", OPTION_SWITCH, take_no_children, "true or false", NULL},
    {"detail", OPTION_LIST, take_detail, "FUNCTION or MODULE!FUNCTION, in less than 120 letters", clear_details},
    {"stack-bytes", OPTION_VALUE, take_stack_bytes, "a number from 0 to 512", NULL},
    {"arg", OPTION_LIST, take_arg, "FUNCTION:TYPE,TYPE...[->TYPE]", clear_args},
    {"string-bytes", OPTION_VALUE, take_string_bytes, "a number from 1 to 512", NULL},
    {"stack", OPTION_LIST, take_stack, "FUNCTION or MODULE!FUNCTION, in less than 120 letters", clear_stacks},
    {"stack-depth", OPTION_VALUE, take_stack_depth, "a number from 1 to 64", NULL},
    {"flight", OPTION_SWITCH, take_flight, "true or false", NULL},
    {"trigger", OPTION_LIST, take_trigger,
     "symbol=GLOB, slow=GLOB>TIME, crash, signal=NAME, time=+TIME, every=TIME or manual", clear_triggers},
    {"pre-roll-sec", OPTION_VALUE, take_pre_roll, "a number of seconds", NULL},
    {"post-roll-sec", OPTION_VALUE, take_post_roll, "a number of seconds", NULL},
    {"overflow", OPTION_VALUE, take_overflow, "drop or block", NULL},
    {"buffer", OPTION_VALUE, take_buffer, "a size from 4K to 8M", NULL},
    {"duration", OPTION_VALUE, take_duration, "a number of seconds, at least 1", NULL},
    {"wait", OPTION_SWITCH, take_wait, "true or false", NULL},
    {"compress", OPTION_SWITCH, take_compress, "true or false", NULL},
    {"rotate", OPTION_LIST, take_rotate, "a size from 64K on, or an age like 30s, 10m or 2h", clear_rotate},
    {"keep", OPTION_VALUE, take_keep, "a number of pieces, at least 1", NULL},
    {"sync", OPTION_VALUE, take_sync, "never, end, or a number of seconds, at least 1", NULL},
    {"keep-names", OPTION_VALUE, take_keep_names, "yes or no", NULL},
    {"quiet", OPTION_SWITCH, take_quiet, "true or false", NULL},
    {"verbose", OPTION_SWITCH, take_verbose, "true or false", NULL},
    {"syscalls", OPTION_OPTIONAL, take_syscalls, "a set of system calls, like file,network or !futex", NULL},
    {"hook", OPTION_LIST, take_hook, "FUNCTION or MODULE!FUNCTION, in less than 120 letters", clear_hooks},
    {"probe", OPTION_LIST, take_probe, "usdt:PATH:PROVIDER:NAME", clear_probes},
    {"sched", OPTION_SWITCH, take_sched, "true or false", NULL},
    {"config", OPTION_VALUE, NULL, "the name of a file", NULL},
};

#define KNOWN_COUNT (sizeof(known) / sizeof(known[0]))

_Static_assert(KNOWN_COUNT <= OPTIONS_MAX, "a bit for each option");

static const struct record_option *find_option(const char *name)
{
    for (size_t i = 0; i < KNOWN_COUNT; i++)
        if (strcmp(known[i].name, name) == 0)
            return &known[i];
    return NULL;
}

static const char *explain_probe(struct record_options *options, const char *value)
{
    struct probe_option probe;
    struct gait_error err = {.text = "no memory"};

    if (probe_option_read(value, &probe, &err) == 0)
        probe_option_deinit(&probe);
    snprintf(options->wanted, sizeof(options->wanted), "usdt:PATH:PROVIDER:NAME; %.*s",
             (int)(sizeof(options->wanted) - 32), err.text);
    return options->wanted;
}

/* What the value should be, in more words where the value says which. */
static const char *wanted_of(struct record_options *options, const struct record_option *option, const char *value)
{
    struct trigger_spec trigger;
    struct arg_spec_error error;
    struct arg_spec arg;
    const char *wanted = option->take == take_trigger ? trigger_spec_parse(value, &trigger) : NULL;
    size_t used;

    if (option->take == take_arg && !arg_spec_parse(value, &arg, &error)) {
        used = (size_t)snprintf(options->wanted, sizeof(options->wanted), "%s, but ", option->wanted);
        arg_spec_explain(value, &error, options->wanted + used, sizeof(options->wanted) - used);
        return options->wanted;
    }
    if (option->take == take_syscalls)
        wanted = wanted_syscalls(options, value);
    if (option->take == take_probe)
        return explain_probe(options, value);
    return wanted == NULL ? option->wanted : wanted;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static const char *take_from_file(void *context, const struct config_value *value)
{
    const struct record_option *option = find_option(value->key);
    struct record_options *options = context;

    if (option == NULL || option->take == NULL)
        return "left out: there is no such option";
    if ((value->kind == CONFIG_TRUTH) != (option->form == OPTION_SWITCH))
        return option->wanted;
    if (value->kind == CONFIG_ITEM && option->form != OPTION_LIST)
        return "one value, no array";
    return option->take(options, value->text) ? NULL : wanted_of(options, option, value->text);
}

/* ---- the command line -------------------------------------------------------------------------------------------- */

struct command_line {
    const struct command_call *call;
    const char *command;
    int count;
    char **words;
    struct option long_options[OPTIONS_MAX + 1];
};

/* What getopt_long gives: the number of the option, 1 and more; or '?' or ':'. */
static int next_option(const struct command_line *line)
{
    int letter = getopt_long(line->count, line->words, "+:o:", line->long_options, NULL);

    if (letter == 'o')
        return OPTIONS_MAX * 2;
    return letter;
}

static const struct record_option *option_of(int number)
{
    return &known[number - OPTIONS_MAX * 2];
}

static enum command_status not_understood(const struct command_line *line, int letter)
{
    const char *word = line->words[optind - 1];

    if (letter == ':')
        (void)error_set(line->call->error, EINVAL, "%s: %s needs a value; see gait help %s", line->command, word,
                        line->command);
    else
        (void)unknown_option_of(line->long_options, line->command, word, line->call->error);
    return COMMAND_MISUSED;
}

/* The last --config, or NULL; and whether all words are options. */
static enum command_status find_config(const struct command_line *line, const char **config_out)
{
    int letter;

    *config_out = NULL;
    for (optind = 0; (letter = next_option(line)) != -1;) {
        if (letter == '?' || letter == ':')
            return not_understood(line, letter);
        if (option_of(letter)->take == NULL)
            *config_out = optarg;
    }
    return COMMAND_DONE;
}

static enum command_status take_words(const struct command_line *line, struct record_options *options)
{
    uint64_t seen = 0;
    int letter;

    for (optind = 0; (letter = next_option(line)) != -1;) {
        const struct record_option *option = option_of(letter);
        const char *value = option->form == OPTION_SWITCH ? "true" : optarg;
        uint64_t bit = 1ull << (option - known);

        if (option->clear != NULL && !(seen & bit))
            option->clear(options);
        seen |= bit;
        if (option->take != NULL && !option->take(options, value)) {
            (void)error_set(line->call->error, EINVAL, "%s: --%s is %s; it should be %s", line->command, option->name,
                            value, wanted_of(options, option, value));
            return COMMAND_MISUSED;
        }
    }
    options->rest = line->words + optind;
    options->rest_count = line->count - optind;
    return COMMAND_DONE;
}

static enum command_status refuse(const struct command_line *line, const char *text)
{
    (void)error_set(line->call->error, EINVAL, "%s: %s", line->command, text);
    return COMMAND_MISUSED;
}

static bool has_trigger(const struct record_options *options, enum trigger_spec_kind kind)
{
    for (size_t i = 0; i < options->trigger_count; i++)
        if (options->triggers[i].kind == kind)
            return true;
    return false;
}

static enum command_status check(const struct command_line *line, const struct record_options *options)
{
    if (options->rotation.keep != 0 && options->rotation.bytes == 0 && options->rotation.age_ns == 0)
        return refuse(line, "--keep is for pieces; --rotate says how large or old they get");
    if (record_patterns_count(options) > AGENT_PATTERNS_MAX) {
        (void)error_set(line->call->error, EINVAL,
                        "%s: there are too many patterns in --hook, --probe, --exclude, --detail, --arg, --stack, "
                        "--trigger and --follow-thread: %zu of them, %u can be; a glob can stand for several",
                        line->command, record_patterns_count(options), AGENT_PATTERNS_MAX);
        return COMMAND_MISUSED;
    }
    if (options->hooks.count == 0)
        return COMMAND_DONE;
    if (options->has_events)
        return refuse(line, "--hook and --follow do not go together: what is hooked runs as it is, what is followed "
                            "does not; --follow call,ret records the calls of all functions, those of --hook as well");
    if (has_trigger(options, TRIGGER_SPEC_SIGNAL))
        return refuse(line, "--hook does not notice signals, as --trigger signal= needs; --follow does, which may be "
                            "none");
    if (options->threads.count != 0)
        return refuse(line, "--follow-thread is for --follow: a function is hooked for all threads");
    return COMMAND_DONE;
}

static bool has_pattern_trigger(const struct record_options *options)
{
    for (size_t i = 0; i < options->trigger_count; i++)
        if (options->triggers[i].pattern[0] != '\0')
            return true;
    return false;
}

/* Functions that are looked at closely are what is wanted, unless it is to be seen what is around a trigger. */
static bool names_functions(const struct record_options *options)
{
    return options->details.count + options->args.count + options->stacks.count != 0 && !has_pattern_trigger(options);
}

/*
 * Whoever says nothing that needs threads to be followed has all functions of the program hooked, unless some
 * functions, probes or system calls are what is wanted. Only of those that are followed the registers are known when
 * they crash.
 */
static void settle(struct record_options *options)
{
    bool needs_following = options->has_events || options->threads.count != 0 ||
                           has_trigger(options, TRIGGER_SPEC_SIGNAL) || has_trigger(options, TRIGGER_SPEC_CRASH);

    if (options->hooks.count == 0 && !needs_following && options->probes.count == 0 && !options->records_syscalls &&
        !names_functions(options))
        options->hooks_all = add_text(&options->hooks, "*");
    options->is_hooked = options->hooks.count != 0 || !needs_following;
    if (!options->is_hooked)
        return;
    options->events = GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE;
    options->with_times = true;
}

static enum command_status take_all(const struct command_line *line, struct record_options *options)
{
    const char *config;
    enum command_status status = find_config(line, &config);

    if (status != COMMAND_DONE)
        return status;
    if (config != NULL &&
        config_file_read(config, take_from_file, options, &options->config_bytes, line->call->error) != 0)
        return COMMAND_MISUSED;
    status = take_words(line, options);
    if (status == COMMAND_DONE)
        status = check(line, options);
    if (status == COMMAND_DONE)
        settle(options);
    return status;
}

static int argument_of(enum option_form form)
{
    switch (form) {
    case OPTION_SWITCH:
        return no_argument;
    case OPTION_OPTIONAL:
        return optional_argument;
    default:
        return required_argument;
    }
}

/* getopt wants the program's name first. */
static char **copy_words(const struct command_call *call)
{
    char **words = calloc((size_t)call->argument_count + 2, sizeof(*words));

    if (words == NULL)
        return NULL;
    words[0] = call->arguments[0];
    for (int i = 0; i < call->argument_count; i++)
        words[i + 1] = call->arguments[i];
    return words;
}

enum command_status record_options_parse(const struct command_call *call, const char *command,
                                         struct record_options *options_out)
{
    struct command_line line = {.call = call, .command = command, .count = call->argument_count + 1};

    line.words = copy_words(call);
    *options_out = (struct record_options){
        .output = "./traces",
        .events = GAIT_EVENT_CALL | GAIT_EVENT_RET,
        .overflow = -1,
        .with_children = true,
        .keeps_names = true,
        .stack_bytes = 128,
        .string_bytes = 64,
        .stack_depth = 32,
        .pre_roll_ms = ROLL_MS,
        .post_roll_ms = ROLL_MS,
        .words = line.words,
    };
    if (line.words == NULL) {
        (void)error_set(call->error, ENOMEM, "%s: no memory", command);
        return COMMAND_FAILED;
    }
    for (size_t i = 0; i < KNOWN_COUNT; i++)
        line.long_options[i] =
            (struct option){known[i].name, argument_of(known[i].form), NULL, (int)(OPTIONS_MAX * 2 + i)};
    opterr = 0;
    return take_all(&line, options_out);
}

void record_options_release(struct record_options *options)
{
    free(options->hooks.texts);
    free(options->probes.texts);
    free(options->kernel_probes.texts);
    free(options->excludes.texts);
    free(options->details.texts);
    free(options->args.texts);
    free(options->stacks.texts);
    free(options->threads.texts);
    free(options->triggers);
    free(options->words);
    free(options->config_bytes);
    *options = (struct record_options){0};
}
