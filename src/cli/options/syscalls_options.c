/* SPDX-License-Identifier: MIT */
/* Read by getopt_long, since people type -ttT and -fp1234 as they are used to. */
#define _GNU_SOURCE
#include "cli/options/syscalls_options.h"

#include "cli/hints.h"
#include "cli/options/nearest_name.h"
#include "cli/screens/printable.h"
#include "hosted/error_text.h"
#include "syscalls/subject_texts.h"
#include "syscalls/system_call_stack.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define STRING_BYTES     32
#define STRING_BYTES_MAX (1 << 20)

enum long_option {
    OPTION_VIA = 256,
    OPTION_JSON,
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},  {"follow-forks", no_argument, NULL, 'f'},
    {"attach", required_argument, NULL, 'p'},  {"trace", required_argument, NULL, 'e'},
    {"summary-only", no_argument, NULL, 'c'},  {"summary", no_argument, NULL, 'C'},
    {"syscall-times", no_argument, NULL, 'T'}, {"relative-timestamps", no_argument, NULL, 'r'},
    {"stack-traces", no_argument, NULL, 'k'},  {"string-limit", required_argument, NULL, 's'},
    {"decode-fds", no_argument, NULL, 'y'},    {"no-abbrev", no_argument, NULL, 'v'},
    {"quiet", no_argument, NULL, 'q'},         {"via", required_argument, NULL, OPTION_VIA},
    {"json", no_argument, NULL, OPTION_JSON},  {NULL, 0, NULL, 0},
};

static enum command_status misused(const struct command_call *call, const char *option, const char *value,
                                   const char *why)
{
    char clean[128];

    (void)error_set(call->error, EINVAL, "cannot use '%s%s': %s; see gait help syscalls", option,
                    printable(clean, sizeof(clean), value), why);
    return COMMAND_MISUSED;
}

static enum command_status read_pids(const struct command_call *call, struct syscalls_options *options,
                                     const char *text)
{
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
    return options->pid_count > 0 ? COMMAND_DONE : misused(call, "-p ", text, "the id of a process has to follow it");
}

static enum command_status read_set(const struct command_call *call, struct syscalls_options *options,
                                    const char *option, const char *text)
{
    struct system_call_set_fault fault;

    if (system_call_set_parse(text, &options->set, &fault) == 0)
        return COMMAND_DONE;
    system_call_hint(option, &fault, call->error);
    return COMMAND_MISUSED;
}

static enum command_status read_injection(const struct command_call *call, struct syscalls_options *options,
                                          const char *text, bool is_fault)
{
    struct system_call_set_fault fault;

    if (options->injections.count == INJECTIONS_MAX)
        return misused(call, "-e inject=", text, "these are too many injections");
    if (injection_parse(text, is_fault, &options->injections.all[options->injections.count], &fault) != 0) {
        system_call_hint(is_fault ? "-e fault=" : "-e inject=", &fault, call->error);
        return COMMAND_MISUSED;
    }
    options->injections.count++;
    return COMMAND_DONE;
}

static enum command_status read_expression(const struct command_call *call, struct syscalls_options *options,
                                           const char *text)
{
    const char *equals = strchr(text, '=');
    size_t length = equals == NULL ? 0 : (size_t)(equals - text);

    if (length == 0)
        return read_set(call, options, "-e ", text);
    if ((length == 5 && memcmp(text, "trace", 5) == 0) || (length == 1 && text[0] == 't'))
        return read_set(call, options, "-e trace=", equals + 1);
    if (length == 6 && memcmp(text, "inject", 6) == 0)
        return read_injection(call, options, equals + 1, false);
    if (length == 5 && memcmp(text, "fault", 5) == 0)
        return read_injection(call, options, equals + 1, true);
    return misused(call, "-e ", text, "trace=SET, inject=SET:... and fault=SET:... can stand here");
}

static enum command_status read_limit(const struct command_call *call, struct syscalls_options *options,
                                      const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (end == text || *end != '\0' || value < 0 || value > STRING_BYTES_MAX)
        return misused(call, "-s ", text, "a number of bytes from 0 to 1048576 has to follow it");
    options->lines.text.string_bytes = (unsigned)value;
    return COMMAND_DONE;
}

static enum command_status read_source(const struct command_call *call, struct syscalls_options *options,
                                       const char *text)
{
    options->source = system_call_source_find(text);
    return options->source != NULL
               ? COMMAND_DONE
               : misused(call, "--via ", text, "there is no such way; try inside, ptrace or kernel");
}

static enum command_status read_option(const struct command_call *call, struct syscalls_options *options, int option)
{
    switch (option) {
    case 'o':
        options->output = optarg;
        return COMMAND_DONE;
    case 'f':
        options->follows = true;
        return COMMAND_DONE;
    case 'p':
        return read_pids(call, options, optarg);
    case 'e':
        return read_expression(call, options, optarg);
    case 'c':
        options->only_counts = true;
        return COMMAND_DONE;
    case 'C':
        options->also_counts = true;
        return COMMAND_DONE;
    case 'T':
        options->lines.has_durations = true;
        return COMMAND_DONE;
    case 't':
        if (options->lines.times < SYSTEM_CALL_TIMES_SINCE_1970)
            options->lines.times++;
        return COMMAND_DONE;
    case 'r':
        options->lines.times = SYSTEM_CALL_TIMES_RELATIVE;
        return COMMAND_DONE;
    case 'k':
        options->has_stacks = true;
        return system_call_stack_is_there() ? COMMAND_DONE
                                            : misused(call, "-k", "", "this gait was built without libdw");
    case 's':
        return read_limit(call, options, optarg);
    case 'y':
        options->lines.text.put_fd = process_fd_put;
        return COMMAND_DONE;
    case 'v':
        options->lines.text.is_verbose = true;
        return COMMAND_DONE;
    case 'q':
        options->lines.is_quiet = true;
        return COMMAND_DONE;
    case OPTION_VIA:
        return read_source(call, options, optarg);
    case OPTION_JSON:
        options->is_json = true;
        return COMMAND_DONE;
    default:
        return COMMAND_MISUSED;
    }
}

/* What getopt did not like: an option that there is not, or one whose value is missing. */
static enum command_status refuse(const struct command_call *call, char **words, int result)
{
    char shown[64];
    struct nearest_names nearest;
    const char *word = words[optind - 1];

    if (optopt > ' ' && optopt < 127)
        snprintf(shown, sizeof(shown), "-%c", optopt);
    else
        snprintf(shown, sizeof(shown), "%s", word);
    if (result == ':')
        return misused(call, shown, "", "a value has to follow it");
    nearest_names_init(&nearest, word + strspn(word, "-"));
    for (size_t i = 0; strncmp(word, "--", 2) == 0 && long_options[i].name != NULL; i++)
        nearest_names_offer(&nearest, long_options[i].name, strlen(long_options[i].name));
    if (nearest.count == 0)
        return misused(call, shown, "", "there is no such option");
    (void)error_set(call->error, EINVAL,
                    "cannot use '%s': there is no such option; try '--%s', or 'gait help syscalls'", shown,
                    nearest.best[0].name);
    return COMMAND_MISUSED;
}

static enum command_status check(const struct command_call *call, const struct syscalls_options *options)
{
    if (options->has_stacks && options->source == system_call_source_find("kernel"))
        return misused(call, "-k", "", "stacks are not seen in the kernel; try --via inside");
    if (options->program != NULL && options->pid_count > 0)
        return misused(call, "-p", "", "a program is given as well: either start one or attach to one");
    if (options->program != NULL || options->pid_count > 0)
        return COMMAND_DONE;
    (void)error_set(call->error, EINVAL, "syscalls: which program, or which process (-p PID)? See gait help syscalls");
    return COMMAND_MISUSED;
}

/* What sends signals while calls are made has to stop them. */
static const struct system_call_source *choose_source(const struct syscalls_options *options)
{
    bool has_signals = false;

    for (size_t i = 0; i < options->injections.count; i++)
        has_signals |= options->injections.all[i].signal != 0 && !options->injections.all[i].has_result;
    return has_signals ? system_call_source_find("ptrace") : system_call_source_at(0);
}

enum command_status syscalls_options_parse(const struct command_call *call, struct syscalls_options *options)
{
    /* getopt wants the command's name in front. */
    char **words = calloc((size_t)call->argument_count + 2, sizeof(*words));
    char name[] = "syscalls";
    enum command_status status = COMMAND_DONE;
    int option;

    memset(options, 0, sizeof(*options));
    options->lines.text.string_bytes = STRING_BYTES;
    options->lines.text.netlink_protocol = process_netlink_protocol;
    system_call_set_fill(&options->set);
    if (words == NULL) {
        (void)error_set(call->error, ENOMEM, "syscalls: there is no memory");
        return COMMAND_FAILED;
    }
    words[0] = name;
    memcpy(words + 1, call->arguments, (size_t)call->argument_count * sizeof(*words));
    optind = 0;
    opterr = 0;
    while (status == COMMAND_DONE &&
           (option = getopt_long(call->argument_count + 1, words, "+:o:fp:e:cCTtrks:yvq", long_options, NULL)) != -1)
        status = option == '?' || option == ':' ? refuse(call, words, option) : read_option(call, options, option);
    if (status == COMMAND_DONE && optind <= call->argument_count)
        options->program = call->arguments + optind - 1;
    free(words);
    if (options->source == NULL)
        options->source = choose_source(options);
    return status == COMMAND_DONE ? check(call, options) : status;
}
