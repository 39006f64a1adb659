/* SPDX-License-Identifier: MIT */
/* One pass over the words. What is wrong is said with the nearest that would be right. Stateless. */
#include "cli/options/arguments.h"

#include "base/text_parse.h"
#include "cli/last_trace.h"
#include "cli/options/nearest_name.h"
#include "cli/options/unknown_option.h"
#include "hosted/error_text.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static const struct argument_option *find_option(const struct argument_rules *rules, const char *name, size_t length)
{
    for (size_t i = 0; i < rules->option_count; i++)
        if (strlen(rules->options[i].name) == length && memcmp(rules->options[i].name, name, length) == 0)
            return &rules->options[i];
    return NULL;
}

static enum command_status refuse_option(const struct command_call *call, const struct argument_rules *rules,
                                         const char *word)
{
    struct nearest_names nearest;

    unknown_option_begin(&nearest, word);
    for (size_t i = 0; i < rules->option_count; i++)
        nearest_names_offer(&nearest, rules->options[i].name, strlen(rules->options[i].name));
    (void)unknown_option_refuse(&nearest, rules->command, word, call->error);
    return COMMAND_MISUSED;
}

static int is_list(const char *values)
{
    return strchr(values, ',') != NULL;
}

/* The number of a value in "a|b|c" or "a,b,c", or -1. */
static int find_value(const char *values, const char *value, size_t length)
{
    for (int number = 0;; number++) {
        size_t here = strcspn(values, "|,");

        if (here == length && memcmp(values, value, length) == 0)
            return number;
        if (values[here] == '\0')
            return -1;
        values += here + 1;
    }
}

static int is_number(const char *values)
{
    return strcmp(values, ARGUMENT_NUMBER) == 0;
}

static int read_number(const char *value)
{
    uint64_t number;

    return text_parse_decimal(value, strlen(value), &number) == 0 && number > 0 && number <= INT_MAX ? (int)number : -1;
}

/* What the option's result is to be, or -1. */
static int read_value(const struct argument_option *option, const char *value)
{
    int bits = 0;

    if (is_number(option->values))
        return read_number(value);
    if (!is_list(option->values))
        return find_value(option->values, value, strlen(value));
    for (;; value++) {
        size_t length = strcspn(value, ",");
        int number = find_value(option->values, value, length);

        if (number < 0)
            return -1;
        bits |= 1 << number;
        value += length;
        if (*value == '\0')
            return bits;
    }
}

static enum command_status add_text(const struct command_call *call, const struct argument_rules *rules,
                                    const struct argument_option *option, const char *value)
{
    struct argument_texts *texts = option->result;

    if (value == NULL || texts->count == ARGUMENT_TEXTS_MAX) {
        error_set(call->error, EINVAL, "cannot use '--%s': %s; try 'gait help %s'", option->name,
                  value == NULL ? "its value is missing" : "it was given too often", rules->command);
        return COMMAND_MISUSED;
    }
    texts->texts[texts->count++] = value;
    return COMMAND_DONE;
}

static enum command_status set_text(const struct command_call *call, const struct argument_rules *rules,
                                    const struct argument_option *option, const char *value)
{
    if (value == NULL || value[0] == '\0') {
        error_set(call->error, EINVAL, "cannot use '--%s': a value has to follow it; try 'gait help %s'", option->name,
                  rules->command);
        return COMMAND_MISUSED;
    }
    *(const char **)option->result = value;
    return COMMAND_DONE;
}

static enum command_status set_option(const struct command_call *call, const struct argument_rules *rules,
                                      const struct argument_option *option, const char *value)
{
    if (option->values == NULL) {
        if (value != NULL) {
            error_set(call->error, EINVAL, "cannot use '--%s=%s': this option takes no value; try '--%s'", option->name,
                      value, option->name);
            return COMMAND_MISUSED;
        }
        *(int *)option->result = 1;
        return COMMAND_DONE;
    }
    if (strcmp(option->values, ARGUMENT_TEXT) == 0)
        return set_text(call, rules, option, value);
    if (strcmp(option->values, ARGUMENT_TEXTS) == 0)
        return add_text(call, rules, option, value);

    int number = value == NULL ? -1 : read_value(option, value);

    if (number < 0 && is_number(option->values)) {
        error_set(call->error, EINVAL, "cannot use '--%s%s%s': its value is a number from 1 on; try 'gait help %s'",
                  option->name, value == NULL ? "" : " ", value == NULL ? "" : value, rules->command);
        return COMMAND_MISUSED;
    }
    if (number < 0) {
        error_set(call->error, EINVAL, "cannot use '--%s%s%s': its value is %s of %s; try 'gait help %s'", option->name,
                  value == NULL ? "" : " ", value == NULL ? "" : value, is_list(option->values) ? "a list" : "one",
                  option->values, rules->command);
        return COMMAND_MISUSED;
    }
    *(int *)option->result = number;
    return COMMAND_DONE;
}

/* Reads the option at *at, and its value behind it. */
static enum command_status read_option(const struct command_call *call, const struct argument_rules *rules, int *at)
{
    const char *word = call->arguments[*at];
    size_t length = strncmp(word, "--", 2) == 0 ? strcspn(word + 2, "=") : 0;
    const struct argument_option *option = length == 0 ? NULL : find_option(rules, word + 2, length);
    const char *value = NULL;

    if (option == NULL)
        return refuse_option(call, rules, word);
    if (word[2 + length] == '=')
        value = word + 2 + length + 1;
    else if (option->values != NULL && *at + 1 < call->argument_count)
        value = call->arguments[++*at];
    return set_option(call, rules, option, value);
}

enum command_status arguments_parse(const struct command_call *call, const struct argument_rules *rules,
                                    const char **values_out)
{
    size_t count;

    return arguments_parse_more(call, rules, values_out, rules->name_count, &count);
}

enum command_status arguments_parse_more(const struct command_call *call, const struct argument_rules *rules,
                                         const char **values_out, size_t capacity, size_t *count_out)
{
    size_t found = 0;
    int only_names = 0;

    for (int i = 0; i < call->argument_count; i++) {
        const char *word = call->arguments[i];

        if (!only_names && strcmp(word, "--") == 0) {
            only_names = 1;
        } else if (!only_names && word[0] == '-' && word[1] != '\0') {
            enum command_status status = read_option(call, rules, &i);

            if (status != COMMAND_DONE)
                return status;
        } else if (found == capacity) {
            error_set(call->error, EINVAL, "cannot use '%s': 'gait %s' takes no more arguments; try 'gait help %s'",
                      word, rules->command, rules->command);
            return COMMAND_MISUSED;
        } else {
            values_out[found++] = word;
        }
    }
    /* The last one is meant. */
    if (found == 0 && rules->name_count != 0 && strcmp(rules->names[0], "TRACE") == 0) {
        values_out[found] = last_trace_take(rules->command, call->error);
        if (values_out[found++] == NULL)
            return COMMAND_MISUSED;
    }
    if (found < rules->name_count) {
        error_set(call->error, EINVAL, "cannot run 'gait %s': %s is missing; try 'gait help %s'", rules->command,
                  rules->names[found], rules->command);
        return COMMAND_MISUSED;
    }
    *count_out = found;
    return COMMAND_DONE;
}
