/* SPDX-License-Identifier: MIT */
/* A qualifier is a line in a table, with all of its names. */
#define _GNU_SOURCE
#include "cli/options/syscalls_expressions.h"

#include "cli/hints.h"
#include "cli/options/nearest_name.h"
#include "cli/screens/printable.h"
#include "hosted/error_text.h"
#include "syscalls/subject_texts.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BYTES 64

/* Of -e quiet=; the last is another name of the one before. */
#define QUIET_WORDS       "attach|exit|path-resolution|personality|thread-execve|superseded"
#define QUIET_ENDS        (1u << 1)
#define QUIET_REPLACEMENT (1u << 4 | 1u << 5)

enum command_status syscalls_value_refuse(const struct command_call *call, const char *option, const char *value,
                                          const char *why)
{
    char clean[128];

    (void)error_set(call->error, EINVAL, "cannot use '%s%s': %s; see gait help syscalls", option,
                    printable(clean, sizeof(clean), value), why);
    return COMMAND_MISUSED;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* The place of a word in "a|b|c", or -1. */
static int place_of(const char *words, const char *word, size_t length)
{
    for (int place = 0;; place++) {
        size_t here = strcspn(words, "|");

        if (here == length && memcmp(words, word, length) == 0)
            return place;
        if (words[here] == '\0')
            return -1;
        words += here + 1;
    }
}

static enum command_status refuse_word(const struct command_call *call, const char *option, const char *text,
                                       const char *words)
{
    char why[256], list[192];
    size_t used = 0;

    for (; *words != '\0' && used + 3 < sizeof(list); words++) {
        list[used++] = *words == '|' ? ',' : *words;
        if (*words == '|')
            list[used++] = ' ';
    }
    list[used] = '\0';
    snprintf(why, sizeof(why), "it takes %s", list);
    return syscalls_value_refuse(call, option, text, why);
}

enum command_status syscalls_word_read(const struct command_call *call, const char *option, const char *text,
                                       const char *words, unsigned *place_out)
{
    int place = place_of(words, text, strlen(text));

    if (place < 0)
        return refuse_word(call, option, text, words);
    *place_out = (unsigned)place;
    return COMMAND_DONE;
}

/* A bit for each word of a list; "all", "none", and ! before it for all others. */
static enum command_status read_words(const struct command_call *call, const char *option, const char *text,
                                      const char *words, unsigned *bits_out)
{
    bool is_inverted = text[0] == '!';
    unsigned bits = 0;

    for (const char *at = text + is_inverted;; at++) {
        size_t length = strcspn(at, ",");
        int place = place_of(words, at, length);

        if (length == 3 && memcmp(at, "all", 3) == 0)
            bits = ~0u;
        else if (place >= 0)
            bits |= 1u << place;
        else if (length != 4 || memcmp(at, "none", 4) != 0)
            return refuse_word(call, option, text, words);
        at += length;
        if (*at == '\0')
            break;
    }
    *bits_out = is_inverted ? ~bits : bits;
    return COMMAND_DONE;
}

enum command_status syscalls_number_read(const struct command_call *call, const char *option, const char *text,
                                         unsigned most, unsigned *value_out)
{
    char *end, why[96];
    long value = strtol(text, &end, 10);

    if (end != text && *end == '\0' && value >= 0 && (unsigned long)value <= most) {
        *value_out = (unsigned)value;
        return COMMAND_DONE;
    }
    snprintf(why, sizeof(why), "a number of %s from 0 to %u has to follow it",
             strcmp(option, "-s ") == 0 ? "bytes" : "columns", most);
    return syscalls_value_refuse(call, option, text, why);
}

enum command_status syscalls_precision_read(const struct command_call *call, const char *option, const char *text,
                                            unsigned *digits_out)
{
    unsigned place = 0;
    enum command_status status;

    if (strncmp(text, "precision:", strlen("precision:")) == 0)
        text += strlen("precision:");
    status = syscalls_word_read(call, option, text, "s|ms|us|ns", &place);
    if (status == COMMAND_DONE)
        *digits_out = 3 * place;
    return status;
}

static enum command_status read_timestamp_word(const struct command_call *call, struct syscalls_options *options,
                                               const char *word)
{
    static const char formats[] = "none|time|unix";
    bool is_format = strncmp(word, "format:", strlen("format:")) == 0;
    int place = place_of(formats, word + (is_format ? strlen("format:") : 0),
                         strlen(word) - (is_format ? strlen("format:") : 0));

    if (place >= 0) {
        options->lines.times = (enum system_call_times)place;
        return COMMAND_DONE;
    }
    if (is_format)
        return refuse_word(call, "--absolute-timestamps=", word, formats);
    if (syscalls_precision_read(call, "--absolute-timestamps=", word, &options->lines.time_digits) == COMMAND_DONE)
        return COMMAND_DONE;
    return refuse_word(call, "--absolute-timestamps=", word, "none|time|unix|s|ms|us|ns");
}

enum command_status syscalls_timestamps_read(const struct command_call *call, struct syscalls_options *options,
                                             const char *text)
{
    enum command_status status = COMMAND_DONE;

    options->lines.times = SYSTEM_CALL_TIMES_OF_DAY;
    options->lines.time_digits = 0;
    while (status == COMMAND_DONE) {
        size_t length = strcspn(text, ",");
        char word[WORD_BYTES];

        snprintf(word, sizeof(word), "%.*s", (int)length, text);
        status = read_timestamp_word(call, options, word);
        text += length;
        if (*text == '\0')
            break;
        text++;
    }
    return status;
}

/* ---- qualifiers -------------------------------------------------------------------------------------------------- */

typedef enum command_status qualifier_reader(const struct command_call *call, struct syscalls_options *options,
                                             const char *option, const char *text);

static enum command_status read_set(const struct command_call *call, const char *option, const char *text,
                                    struct system_call_set *set_out)
{
    struct system_call_set_fault fault;

    if (system_call_set_parse(text, set_out, &fault) == 0)
        return COMMAND_DONE;
    system_call_hint(option, &fault, call->error);
    return COMMAND_MISUSED;
}

static void invert(struct system_call_set *set)
{
    for (size_t i = 0; i < SYSTEM_CALL_SET_WORDS; i++)
        set->bits[i] = ~set->bits[i];
    set->has_others = !set->has_others;
}

static enum command_status read_trace(const struct command_call *call, struct syscalls_options *options,
                                      const char *option, const char *text)
{
    return read_set(call, option, text, &options->set);
}

static enum command_status read_abbrev(const struct command_call *call, struct syscalls_options *options,
                                       const char *option, const char *text)
{
    enum command_status status = read_set(call, option, text, &options->text_sets.whole);

    options->lines.text.is_verbose = false;
    if (status == COMMAND_DONE)
        invert(&options->text_sets.whole);
    return status;
}

static enum command_status read_verbose(const struct command_call *call, struct syscalls_options *options,
                                        const char *option, const char *text)
{
    enum command_status status = read_set(call, option, text, &options->text_sets.shallow);

    if (status == COMMAND_DONE)
        invert(&options->text_sets.shallow);
    return status;
}

static enum command_status read_raw(const struct command_call *call, struct syscalls_options *options,
                                    const char *option, const char *text)
{
    return read_set(call, option, text, &options->text_sets.numbers);
}

/* As people write it: SIGUSR1, usr1, 10. */
static int find_signal(const char *word)
{
    char upper[WORD_BYTES];
    size_t length = strlen(word);

    for (size_t i = 0; i <= length; i++)
        upper[i] = (char)toupper((unsigned char)word[i]);
    return signal_by_name(upper);
}

/* Signals that are shown at all are seen only by who stops the program. */
static enum command_status read_signal(const struct command_call *call, struct syscalls_options *options,
                                       const char *option, const char *text)
{
    bool is_inverted = text[0] == '!';
    uint64_t shown = 0;

    for (const char *at = text + is_inverted;; at++) {
        size_t length = strcspn(at, ",");
        char word[WORD_BYTES];
        int signal;

        snprintf(word, sizeof(word), "%.*s", (int)length, at);
        signal = find_signal(word);
        if (strcmp(word, "all") == 0)
            shown = UINT64_MAX;
        else if (signal > 0 && signal <= 64)
            shown |= 1ull << (signal - 1);
        else if (strcmp(word, "none") != 0)
            return syscalls_value_refuse(call, option, text, "there is no such signal");
        at += length;
        if (*at == '\0')
            break;
    }
    options->lines.filter.hidden_signals = is_inverted ? shown : ~shown;
    if (options->lines.filter.hidden_signals != UINT64_MAX)
        options->stopping = "-e signal";
    return COMMAND_DONE;
}

static enum command_status read_dumped(const struct command_call *call, struct syscalls_options *options,
                                       const char *option, const char *text, struct data_dump_set *set)
{
    if (data_dump_set_parse(text, set) != 0)
        return syscalls_value_refuse(call, option, text, "it takes numbers of descriptors, all or none");
    options->lines.dumped = &options->dumped;
    options->stopping = option[3] == 'r' ? "-e read" : "-e write";
    return COMMAND_DONE;
}

static enum command_status read_read(const struct command_call *call, struct syscalls_options *options,
                                     const char *option, const char *text)
{
    return read_dumped(call, options, option, text, &options->dumped.read);
}

static enum command_status read_write(const struct command_call *call, struct syscalls_options *options,
                                      const char *option, const char *text)
{
    return read_dumped(call, options, option, text, &options->dumped.written);
}

static enum command_status read_injection(const struct command_call *call, struct syscalls_options *options,
                                          const char *option, const char *text, bool is_fault)
{
    struct injections *injections = &options->injections;
    struct system_call_set_fault fault;

    if (injections->count == INJECTIONS_MAX)
        return syscalls_value_refuse(call, option, text, "these are too many injections");
    if (injection_parse(text, is_fault, &injections->all[injections->count], &fault) != 0) {
        system_call_hint(option, &fault, call->error);
        return COMMAND_MISUSED;
    }
    injections->count++;
    return COMMAND_DONE;
}

static enum command_status read_inject(const struct command_call *call, struct syscalls_options *options,
                                       const char *option, const char *text)
{
    return read_injection(call, options, option, text, false);
}

static enum command_status read_fault(const struct command_call *call, struct syscalls_options *options,
                                      const char *option, const char *text)
{
    return read_injection(call, options, option, text, true);
}

static enum command_status read_status(const struct command_call *call, struct syscalls_options *options,
                                       const char *option, const char *text)
{
    unsigned shown = 0;
    enum command_status status =
        read_words(call, option, text, "successful|failed|unfinished|unavailable|detached", &shown);

    options->lines.filter.hidden_statuses = ~shown & SYSTEM_CALL_STATUS_ALL;
    return status;
}

static void set_quiet(struct syscalls_options *options, unsigned bits)
{
    options->lines.hides_ends = (bits & QUIET_ENDS) != 0;
    options->lines.hides_replacements = (bits & QUIET_REPLACEMENT) != 0;
}

static enum command_status read_quiet(const struct command_call *call, struct syscalls_options *options,
                                      const char *option, const char *text)
{
    unsigned bits = 0;
    enum command_status status = read_words(call, option, text, QUIET_WORDS, &bits);

    if (status == COMMAND_DONE)
        set_quiet(options, bits);
    return status;
}

void syscalls_quiet_more(struct syscalls_options *options, unsigned count)
{
    if (count > 1)
        set_quiet(options, count > 2 ? ~0u : QUIET_ENDS);
}

static enum command_status read_fds(const struct command_call *call, struct syscalls_options *options,
                                    const char *option, const char *text)
{
    return read_words(call, option, text, "path|socket|dev|pidfd", &options->fd_details);
}

static enum command_status read_pids(const struct command_call *call, struct syscalls_options *options,
                                     const char *option, const char *text)
{
    unsigned bits = 0;
    enum command_status status = read_words(call, option, text, "comm|pidns", &bits);

    if (status == COMMAND_DONE)
        options->lines.has_names = (bits & 1) != 0;
    return status;
}

static enum command_status read_kvm(const struct command_call *call, struct syscalls_options *options,
                                    const char *option, const char *text)
{
    (void)options;
    return syscalls_value_refuse(call, option, text, "why virtual CPUs leave their guest is not shown; leave it out");
}

static const struct {
    const char *names; /* with | between them, the one that messages use first */
    qualifier_reader *read;
} qualifiers[] = {
    {"trace|t", read_trace},
    {"abbrev|a", read_abbrev},
    {"verbose|v", read_verbose},
    {"raw|x", read_raw},
    {"signal|signals|s", read_signal},
    {"read|reads|r", read_read},
    {"write|writes|w", read_write},
    {"inject", read_inject},
    {"fault", read_fault},
    {"status", read_status},
    {"quiet|silent|silence|q", read_quiet},
    {"decode-fds|decode-fd", read_fds},
    {"decode-pids|decode-pid", read_pids},
    {"kvm", read_kvm},
};

#define QUALIFIER_COUNT (sizeof(qualifiers) / sizeof(qualifiers[0]))

static enum command_status refuse_qualifier(const struct command_call *call, const char *text, size_t length)
{
    struct nearest_names nearest;
    char word[WORD_BYTES], why[256];

    snprintf(word, sizeof(word), "%.*s", (int)length, text);
    nearest_names_init(&nearest, word);
    for (size_t i = 0; i < QUALIFIER_COUNT; i++)
        nearest_names_offer(&nearest, qualifiers[i].names, strcspn(qualifiers[i].names, "|"));
    if (nearest.count == 0)
        snprintf(why, sizeof(why), "trace=SET, inject=SET:... and the like can stand here");
    else
        snprintf(why, sizeof(why), "there is no such expression; did you mean %s=", nearest.best[0].name);
    return syscalls_value_refuse(call, "-e ", text, why);
}

enum command_status syscalls_qualifier_read(const struct command_call *call, struct syscalls_options *options,
                                            const char *name, const char *text)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < QUALIFIER_COUNT; i++) {
        char option[WORD_BYTES];

        if (place_of(qualifiers[i].names, name, length) < 0)
            continue;
        snprintf(option, sizeof(option), "-e %.*s=", (int)strcspn(qualifiers[i].names, "|"), qualifiers[i].names);
        return qualifiers[i].read(call, options, option, text);
    }
    return refuse_qualifier(call, name, length);
}

enum command_status syscalls_expression_read(const struct command_call *call, struct syscalls_options *options,
                                             const char *text)
{
    const char *equals = strchr(text, '=');
    char name[WORD_BYTES];

    /* An expression may have one, too. */
    if (equals == NULL || text[0] == '/' || text[0] == '!')
        return read_set(call, "-e ", text, &options->set);
    if ((size_t)(equals - text) >= sizeof(name))
        return refuse_qualifier(call, text, (size_t)(equals - text));
    snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
    return syscalls_qualifier_read(call, options, name, equals + 1);
}
