/* SPDX-License-Identifier: MIT */
/* Read by getopt_long, since people type -ttT and -fp1234 as they are used to, and abbreviate long options. */
#define _GNU_SOURCE
#include "cli/options/syscalls_options.h"

#include "cli/options/nearest_name.h"
#include "cli/options/syscalls_expressions.h"
#include "hosted/error_text.h"
#include "syscalls/program_user.h"
#include "syscalls/subject_texts.h"
#include "syscalls/system_call_stack.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STRING_BYTES     32
#define STRING_BYTES_MAX (1 << 20)
#define COLUMN_MAX       10000
#define RESULT_COLUMN    40
#define MICROSECONDS     6 /* digits */

#define SHORT_OPTIONS    "+:a:Ab:cCdDe:E:fFhiI:kno:O:p:P:qrs:S:tTu:U:vVwxX:yYzZ"

enum long_option {
    OPTION_VIA = 256,
    OPTION_JSON,
    OPTION_QUALIFIER, /* the option's name is that of an expression */
    OPTION_SEPARATELY,
    OPTION_TIMESTAMPS,
    OPTION_RELATIVE,
    OPTION_DURATIONS,
    OPTION_HEX,
    OPTION_DAEMON,
    OPTION_QUIET,
    OPTION_FDS,
    OPTION_PIDS_TRANSLATED,
    OPTION_SECCOMP,
    OPTION_TIPS,
    OPTION_SECONTEXT,
};

static const struct option long_options[] = {
    {"abbrev", required_argument, NULL, OPTION_QUALIFIER},
    {"absolute-timestamps", optional_argument, NULL, OPTION_TIMESTAMPS},
    {"attach", required_argument, NULL, 'p'},
    {"columns", required_argument, NULL, 'a'},
    {"const-print-style", required_argument, NULL, 'X'},
    {"daemonize", optional_argument, NULL, OPTION_DAEMON},
    {"debug", no_argument, NULL, 'd'},
    {"decode-fds", optional_argument, NULL, OPTION_FDS},
    {"decode-pids", required_argument, NULL, OPTION_QUALIFIER},
    {"detach-on", required_argument, NULL, 'b'},
    {"env", required_argument, NULL, 'E'},
    {"failed-only", no_argument, NULL, 'Z'},
    {"failing-only", no_argument, NULL, 'Z'},
    {"fault", required_argument, NULL, OPTION_QUALIFIER},
    {"follow-forks", no_argument, NULL, 'f'},
    {"help", no_argument, NULL, 'h'},
    {"inject", required_argument, NULL, OPTION_QUALIFIER},
    {"instruction-pointer", no_argument, NULL, 'i'},
    {"interruptible", required_argument, NULL, 'I'},
    {"json", no_argument, NULL, OPTION_JSON},
    {"kvm", required_argument, NULL, OPTION_QUALIFIER},
    {"no-abbrev", no_argument, NULL, 'v'},
    {"output", required_argument, NULL, 'o'},
    {"output-append-mode", no_argument, NULL, 'A'},
    {"output-separately", no_argument, NULL, OPTION_SEPARATELY},
    {"pidns-translation", no_argument, NULL, OPTION_PIDS_TRANSLATED},
    {"quiet", optional_argument, NULL, OPTION_QUIET},
    {"raw", required_argument, NULL, OPTION_QUALIFIER},
    {"read", required_argument, NULL, OPTION_QUALIFIER},
    {"relative-timestamps", optional_argument, NULL, OPTION_RELATIVE},
    {"seccomp-bpf", no_argument, NULL, OPTION_SECCOMP},
    {"secontext", optional_argument, NULL, OPTION_SECONTEXT},
    {"signal", required_argument, NULL, OPTION_QUALIFIER},
    {"silence", optional_argument, NULL, OPTION_QUIET},
    {"silent", optional_argument, NULL, OPTION_QUIET},
    {"stack-traces", no_argument, NULL, 'k'},
    {"status", required_argument, NULL, OPTION_QUALIFIER},
    {"string-limit", required_argument, NULL, 's'},
    {"strings-in-hex", optional_argument, NULL, OPTION_HEX},
    {"successful-only", no_argument, NULL, 'z'},
    {"summary", no_argument, NULL, 'C'},
    {"summary-columns", required_argument, NULL, 'U'},
    {"summary-only", no_argument, NULL, 'c'},
    {"summary-sort-by", required_argument, NULL, 'S'},
    {"summary-syscall-overhead", required_argument, NULL, 'O'},
    {"summary-wall-clock", no_argument, NULL, 'w'},
    {"syscall-number", no_argument, NULL, 'n'},
    {"syscall-times", optional_argument, NULL, OPTION_DURATIONS},
    {"timestamps", optional_argument, NULL, OPTION_TIMESTAMPS},
    {"tips", optional_argument, NULL, OPTION_TIPS},
    {"trace", required_argument, NULL, OPTION_QUALIFIER},
    {"trace-path", required_argument, NULL, 'P'},
    {"user", required_argument, NULL, 'u'},
    {"verbose", required_argument, NULL, OPTION_QUALIFIER},
    {"version", no_argument, NULL, 'V'},
    {"via", required_argument, NULL, OPTION_VIA},
    {"write", required_argument, NULL, OPTION_QUALIFIER},
    {NULL, 0, NULL, 0},
};

/* What is counted while options are read. */
struct option_reading {
    const struct command_call *call;
    struct syscalls_options *options;
    int which; /* of long_options */
    unsigned follow_count, time_count, hex_count, fd_count, quiet_count;
};

static enum command_status misused(const struct command_call *call, const char *option, const char *value,
                                   const char *why)
{
    return syscalls_value_refuse(call, option, value, why);
}

/* ---- options with a value ---------------------------------------------------------------------------------------- */

static enum command_status read_pids(const struct command_call *call, struct syscalls_options *options,
                                     const char *text)
{
    size_t former = options->pid_count;

    while (*text != '\0') {
        char *end;
        long pid = strtol(text, &end, 10);

        if (end == text || pid <= 0 || pid > INT32_MAX ||
            (*end != '\0' && *end != ',' && !isspace((unsigned char)*end)))
            return misused(call, "-p ", text, "the id of a process is a number from 1 on");
        if (options->pid_count == SYSCALLS_PIDS_MAX)
            return misused(call, "-p ", text, "these are too many processes");
        options->pids[options->pid_count++] = (int)pid;
        for (text = end; *text == ',' || isspace((unsigned char)*text); text++)
            continue;
    }
    return options->pid_count > former ? COMMAND_DONE
                                       : misused(call, "-p ", text, "the id of a process has to follow it");
}

static enum command_status read_source(const struct command_call *call, struct syscalls_options *options,
                                       const char *text)
{
    options->source = system_call_source_find(text);
    return options->source != NULL
               ? COMMAND_DONE
               : misused(call, "--via ", text, "there is no such way; inside, ptrace and kernel are there");
}

static enum command_status read_path(const struct command_call *call, struct syscalls_options *options,
                                     const char *text)
{
    options->stopping = "-P";
    return path_choice_add(&options->paths, text) == 0 ? COMMAND_DONE
                                                       : misused(call, "-P ", text, "these are too many paths");
}

static enum command_status read_user(const struct command_call *call, struct syscalls_options *options,
                                     const char *text)
{
    struct program_user user;

    options->user = text;
    options->stopping = "-u";
    if (getuid() != 0)
        return misused(call, "-u ", text, "only root can run a program as somebody else");
    return program_user_find(text, &user) == 0 ? COMMAND_DONE
                                               : misused(call, "-u ", text, "there is no such user in /etc/passwd");
}

static enum command_status read_variable(const struct command_call *call, struct syscalls_options *options,
                                         const char *text)
{
    if (options->variable_count == SYSCALLS_VARIABLES_MAX)
        return misused(call, "-E ", text, "these are too many variables");
    if (text[0] == '\0' || text[0] == '=')
        return misused(call, "-E ", text, "NAME=VALUE or NAME has to follow it");
    options->variables[options->variable_count++] = text;
    /* From inside, the program is looked for where its own PATH says. */
    if (strncmp(text, "PATH=", strlen("PATH=")) == 0 || strcmp(text, "PATH") == 0)
        options->stopping = "-E PATH";
    return COMMAND_DONE;
}

static enum command_status read_overhead(const struct command_call *call, struct syscalls_options *options,
                                         const char *text)
{
    if (injection_parse_duration(text, &options->table.overhead_ns))
        return COMMAND_DONE;
    return misused(call, "-O ", text, "a time has to follow, in microseconds or with s, ms, us or ns behind it");
}

static enum command_status read_interruptible(const struct command_call *call, struct syscalls_options *options,
                                              const char *text)
{
    unsigned place = 0;
    enum command_status status =
        syscalls_word_read(call, "-I ", text, "1|2|3|4|anywhere|waiting|never|never_tstp", &place);

    options->interruptible = place % 4 + 1;
    if (options->interruptible != 3)
        options->stopping = "-I";
    return status;
}

static enum command_status read_daemon(const struct command_call *call, struct syscalls_options *options,
                                       const char *text)
{
    unsigned place = 0;
    enum command_status status =
        syscalls_word_read(call, "--daemonize=", text, "grandchild|pgroup|session|pgrp", &place);

    options->daemon = place == 3 ? 2 : place + 1;
    options->stopping = "-D";
    return status;
}

static enum command_status read_hex(const struct command_call *call, struct syscalls_options *options, const char *text)
{
    static const enum quoted_text_hex by_place[] = {QUOTED_OCTAL, QUOTED_HEX_BYTES, QUOTED_HEX_IF_NOT_ASCII,
                                                    QUOTED_HEX};
    unsigned place = 0;
    enum command_status status =
        syscalls_word_read(call, "--strings-in-hex=", text, "none|non-ascii-chars|non-ascii|all", &place);

    options->lines.text.hex = by_place[place];
    return status;
}

static enum command_status read_style(const struct command_call *call, struct syscalls_options *options,
                                      const char *text)
{
    static const enum call_text_constants by_place[] = {CALL_TEXT_NUMBERS, CALL_TEXT_NAMES, CALL_TEXT_BOTH};
    unsigned place = 0;
    enum command_status status = syscalls_word_read(call, "-X ", text, "raw|abbrev|verbose", &place);

    options->lines.text.constants = by_place[place];
    return status;
}

static enum command_status read_table(const struct command_call *call, struct syscalls_options *options, int option,
                                      const char *text)
{
    if (option == 'S')
        return system_call_table_parse_sort(text, &options->table) == 0
                   ? COMMAND_DONE
                   : misused(call, "-S ", text,
                             "it takes time, min-time, max-time, avg-time, calls, errors, name or nothing");
    return system_call_table_parse_columns(text, &options->table) == 0
               ? COMMAND_DONE
               : misused(call, "-U ", text,
                         "it takes time-percent, total-time, min-time, max-time, avg-time, calls, errors and name, "
                         "with commas, each once");
}

static enum command_status read_detaching(const struct command_call *call, struct syscalls_options *options,
                                          const char *text)
{
    options->detaches_at_exec = true;
    options->stopping = "-b";
    return strcmp(text, "execve") == 0 ? COMMAND_DONE : misused(call, "-b ", text, "it takes execve only");
}

static enum command_status read_relative(const struct command_call *call, struct syscalls_options *options,
                                         const char *text)
{
    options->lines.is_relative = true;
    return text == NULL
               ? COMMAND_DONE
               : syscalls_precision_read(call, "--relative-timestamps=", text, &options->lines.relative_digits);
}

static enum command_status read_durations(const struct command_call *call, struct syscalls_options *options,
                                          const char *text)
{
    options->lines.has_durations = true;
    return text == NULL ? COMMAND_DONE
                        : syscalls_precision_read(call, "--syscall-times=", text, &options->lines.duration_digits);
}

/* Options whose value has a reader of its own. */
static enum command_status read_valued(struct option_reading *reading, int option)
{
    const struct command_call *call = reading->call;
    struct syscalls_options *options = reading->options;

    switch (option) {
    case 'a':
        return syscalls_number_read(call, "-a ", optarg, COLUMN_MAX, &options->lines.result_column);
    case 'b':
        return read_detaching(call, options, optarg);
    case 'e':
        return syscalls_expression_read(call, options, optarg);
    case 'E':
        return read_variable(call, options, optarg);
    case 'I':
        return read_interruptible(call, options, optarg);
    case 'O':
        return read_overhead(call, options, optarg);
    case 'p':
        return read_pids(call, options, optarg);
    case 'P':
        return read_path(call, options, optarg);
    case 's':
        return syscalls_number_read(call, "-s ", optarg, STRING_BYTES_MAX, &options->lines.text.string_bytes);
    case 'S':
    case 'U':
        return read_table(call, options, option, optarg);
    case 'u':
        return read_user(call, options, optarg);
    case 'X':
        return read_style(call, options, optarg);
    case OPTION_VIA:
        return read_source(call, options, optarg);
    case OPTION_QUALIFIER:
        return syscalls_qualifier_read(call, options, long_options[reading->which].name, optarg);
    case OPTION_TIMESTAMPS:
        return syscalls_timestamps_read(call, options, optarg == NULL ? "time" : optarg);
    case OPTION_RELATIVE:
        return read_relative(call, options, optarg);
    case OPTION_DURATIONS:
        return read_durations(call, options, optarg);
    case OPTION_HEX:
        return read_hex(call, options, optarg == NULL ? "all" : optarg);
    case OPTION_DAEMON:
        return read_daemon(call, options, optarg == NULL ? "grandchild" : optarg);
    case OPTION_FDS:
        return syscalls_qualifier_read(call, options, "decode-fds", optarg == NULL ? "path" : optarg);
    case OPTION_QUIET:
        return syscalls_qualifier_read(call, options, "quiet", optarg == NULL ? "attach,personality" : optarg);
    case OPTION_TIPS:
        return misused(call, "--tips", "", "gait gives none; its help has examples");
    case OPTION_SECONTEXT:
        return misused(call, "--secontext", "", "security contexts of SELinux are not shown");
    default:
        return COMMAND_MISUSED;
    }
}

/* ---- options without a value ------------------------------------------------------------------------------------- */

/* -t, -tt, -ttt and more. */
static void count_times(struct option_reading *reading)
{
    struct system_call_lines_options *lines = &reading->options->lines;

    reading->time_count++;
    lines->times = reading->time_count > 2 ? SYSTEM_CALL_TIMES_SINCE_1970 : SYSTEM_CALL_TIMES_OF_DAY;
    lines->time_digits = reading->time_count > 1 ? MICROSECONDS : 0;
}

static void show_only(struct syscalls_options *options, unsigned status)
{
    options->lines.filter.hidden_statuses = SYSTEM_CALL_STATUS_ALL & ~status;
}

/* Options of how lines look. False: it is none of them. */
static bool read_look(struct option_reading *reading, int option)
{
    struct system_call_lines_options *lines = &reading->options->lines;

    switch (option) {
    case 'i':
        lines->has_places = true;
        reading->options->stopping = "-i";
        return true;
    case 'n':
        lines->has_numbers = true;
        return true;
    case 'q':
        syscalls_quiet_more(reading->options, ++reading->quiet_count);
        return true;
    case 'r':
        lines->is_relative = true;
        return true;
    case 't':
        count_times(reading);
        return true;
    case 'T':
        lines->has_durations = true;
        return true;
    case 'v':
        lines->text.is_verbose = true;
        return true;
    case 'x':
        lines->text.hex = ++reading->hex_count > 1 ? QUOTED_HEX : QUOTED_HEX_IF_NOT_ASCII;
        return true;
    case 'y':
        reading->options->fd_details = ++reading->fd_count > 1 ? FD_DETAIL_ALL : FD_DETAIL_PATH;
        return true;
    case 'Y':
        lines->has_names = true;
        return true;
    case 'z':
        show_only(reading->options, SYSTEM_CALL_STATUS_SUCCESSFUL);
        return true;
    case 'Z':
        show_only(reading->options, SYSTEM_CALL_STATUS_FAILED);
        return true;
    default:
        return false;
    }
}

static enum command_status read_option(struct option_reading *reading, int option)
{
    struct syscalls_options *options = reading->options;

    if (read_look(reading, option))
        return COMMAND_DONE;
    switch (option) {
    case 'A':
        options->output.appends = true;
        return COMMAND_DONE;
    case 'c':
        options->only_counts = true;
        return COMMAND_DONE;
    case 'C':
        options->also_counts = true;
        return COMMAND_DONE;
    case 'd':
        options->is_debugging = true;
        return COMMAND_DONE;
    case 'D':
        options->daemon += options->daemon < 3;
        options->stopping = "-D";
        return COMMAND_DONE;
    case 'f':
        options->output.is_separate |= ++reading->follow_count > 1;
        options->follows = true;
        return COMMAND_DONE;
    case 'F':
        options->follows = true;
        return COMMAND_DONE;
    case 'h':
        options->request = SYSCALLS_REQUEST_HELP;
        return COMMAND_DONE;
    case 'k':
        options->has_stacks = true;
        return system_call_stack_is_there() ? COMMAND_DONE
                                            : misused(reading->call, "-k", "", "this gait was built without libdw");
    case 'o':
        options->output.name = optarg;
        return COMMAND_DONE;
    case 'V':
        options->request = SYSCALLS_REQUEST_VERSION;
        return COMMAND_DONE;
    case 'w':
        options->table.is_wall_clock = true;
        return COMMAND_DONE;
    case OPTION_JSON:
        options->is_json = true;
        return COMMAND_DONE;
    case OPTION_SEPARATELY:
        options->output.is_separate = true;
        return COMMAND_DONE;
    case OPTION_PIDS_TRANSLATED:
    case OPTION_SECCOMP: /* only what is asked for stops a program, or nothing does */
        return COMMAND_DONE;
    default:
        return read_valued(reading, option);
    }
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

/* What several long options begin with. */
static bool offer_beginnings(struct nearest_names *nearest, const char *word)
{
    size_t length = strcspn(word + 2, "="), found = 0;

    for (size_t i = 0; strncmp(word, "--", 2) == 0 && length != 0 && long_options[i].name != NULL; i++)
        found += strncmp(long_options[i].name, word + 2, length) == 0;
    for (size_t i = 0; found > 1 && long_options[i].name != NULL; i++)
        if (strncmp(long_options[i].name, word + 2, length) == 0 && nearest->count < NEAREST_NAMES_MAX)
            snprintf(nearest->best[nearest->count++].name, NEAREST_NAME_BYTES, "--%s", long_options[i].name);
    return found > 1;
}

/* What getopt did not like: an option that there is not, or one whose value is missing. */
static enum command_status refuse(const struct command_call *call, char **words, int result)
{
    char shown[64], names[NEAREST_NAMES_MAX * NEAREST_NAME_BYTES];
    struct nearest_names nearest;
    const char *word = words[optind - 1];

    if (optopt > ' ' && optopt < 127)
        snprintf(shown, sizeof(shown), "-%c", optopt);
    else
        snprintf(shown, sizeof(shown), "%s", word);
    if (result == ':')
        return misused(call, shown, "", "a value has to follow it");
    if (optopt > 127)
        return misused(call, shown, "", "this option takes no value");
    nearest_names_init(&nearest, word + strspn(word, "-"));
    nearest.wanted[strcspn(nearest.wanted, "=")] = '\0';
    if (offer_beginnings(&nearest, word)) {
        nearest_names_join(&nearest, names, sizeof(names));
        (void)error_set(call->error, EINVAL, "cannot use '%s': it may be %s; see 'gait help syscalls'", shown, names);
        return COMMAND_MISUSED;
    }
    for (size_t i = 0; strncmp(word, "--", 2) == 0 && long_options[i].name != NULL; i++)
        nearest_names_offer(&nearest, long_options[i].name, strlen(long_options[i].name));
    if (nearest.count == 0)
        return misused(call, shown, "", "there is no such option");
    (void)error_set(call->error, EINVAL,
                    "cannot use '%s': there is no such option; try '--%s', or 'gait help syscalls'", shown,
                    nearest.best[0].name);
    return COMMAND_MISUSED;
}

static bool is_command(const char *name)
{
    return name != NULL && (name[0] == '|' || name[0] == '!');
}

static enum command_status check_output(const struct command_call *call, const struct syscalls_options *options)
{
    bool has_counts = options->only_counts || options->also_counts;

    if (options->only_counts && options->also_counts)
        return misused(call, "-c", "", "-C is given as well: a table only, or lines and a table");
    if (options->output.is_separate && has_counts)
        return misused(call, options->only_counts ? "-c" : "-C", "",
                       "there is one table for all processes, and -ff writes a file for each");
    if (options->output.is_separate && is_command(options->output.name))
        return misused(call, "-o ", options->output.name,
                       "-ff writes a file for each process, and no command reads those");
    if (options->output.is_separate && options->is_json && options->output.name != NULL)
        return misused(call, "--json", "", "-ff writes lines; leave -f once to have objects with numbers of threads");
    return COMMAND_DONE;
}

static enum command_status check(const struct command_call *call, const struct syscalls_options *options)
{
    const struct system_call_source *source = options->source;

    if (options->has_stacks && source == system_call_source_find("kernel"))
        return misused(call, "-k", "", "stacks are not seen in the kernel; try --via inside");
    if (options->stopping != NULL && source != system_call_source_find("ptrace"))
        return misused(call, options->stopping, "",
                       "that needs calls that are stopped; leave --via out, or use --via ptrace");
    if (options->daemon != 0 && options->pid_count > 0)
        return misused(call, "-D", "", "it is about a program that is started, and -p is given");
    if (options->program != NULL || options->pid_count > 0)
        return check_output(call, options);
    (void)error_set(call->error, EINVAL, "syscalls: which program, or which process (-p PID)? See gait help syscalls");
    return COMMAND_MISUSED;
}

/* What sends signals while calls are made, or changes memory, has to stop them. */
static void note_injections(struct syscalls_options *options)
{
    /* Who was told how to see calls says itself what cannot be changed that way. */
    for (size_t i = 0; options->source == NULL && i < options->injections.count; i++)
        if (injection_needs_stop(&options->injections.all[i]))
            options->stopping = "-e inject";
}

static void begin(struct syscalls_options *options)
{
    memset(options, 0, sizeof(*options));
    options->lines.text.string_bytes = STRING_BYTES;
    options->lines.text.netlink_protocol = process_netlink_protocol;
    options->lines.text.sets = &options->text_sets;
    options->lines.result_column = RESULT_COLUMN;
    options->lines.time_digits = MICROSECONDS;
    options->lines.relative_digits = MICROSECONDS;
    options->lines.duration_digits = MICROSECONDS;
    system_call_table_options_init(&options->table);
    system_call_set_fill(&options->set);
}

/* What follows from several options, or from their lack. */
static void complete(struct syscalls_options *options)
{
    if (options->program != NULL && options->pid_count > 0)
        options->stopping = "-p";
    note_injections(options);
    if (options->source == NULL)
        options->source = options->stopping != NULL ? system_call_source_find("ptrace") : system_call_source_at(0);
    if (options->fd_details != 0)
        options->lines.text.put_fd = process_fd_put;
    options->lines.text.fd_details = options->fd_details;
    if (options->lines.has_names)
        options->lines.text.put_pid = process_name_put;
}

enum command_status syscalls_options_parse(const struct command_call *call, struct syscalls_options *options)
{
    /* getopt wants the command's name in front. */
    char **words = calloc((size_t)call->argument_count + 2, sizeof(*words));
    struct option_reading reading = {.call = call, .options = options};
    char name[] = "syscalls";
    enum command_status status = COMMAND_DONE;
    int option;

    begin(options);
    if (words == NULL) {
        (void)error_set(call->error, ENOMEM, "syscalls: there is no memory");
        return COMMAND_FAILED;
    }
    words[0] = name;
    memcpy(words + 1, call->arguments, (size_t)call->argument_count * sizeof(*words));
    optind = 0;
    opterr = 0;
    while (status == COMMAND_DONE && options->request == SYSCALLS_REQUEST_WATCH &&
           (option = getopt_long(call->argument_count + 1, words, SHORT_OPTIONS, long_options, &reading.which)) != -1)
        status = option == '?' || option == ':' ? refuse(call, words, option) : read_option(&reading, option);
    if (status == COMMAND_DONE && optind <= call->argument_count)
        options->program = call->arguments + optind - 1;
    free(words);
    complete(options);
    return status == COMMAND_DONE && options->request == SYSCALLS_REQUEST_WATCH ? check(call, options) : status;
}

void syscalls_options_deinit(struct syscalls_options *options)
{
    path_choice_deinit(&options->paths);
}
