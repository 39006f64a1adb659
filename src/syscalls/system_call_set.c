/* SPDX-License-Identifier: MIT */
#include "syscalls/system_call_set.h"

#include <errno.h>
#include <regex.h>
#include <string.h>

#define WORD_BYTES 256

static const struct {
    const char *name;
    uint32_t bits;
    bool needs_percent;
} classes[] = {
    {"file", SYSTEM_CALL_CLASS_FILE, false},         {"desc", SYSTEM_CALL_CLASS_DESC, false},
    {"network", SYSTEM_CALL_CLASS_NETWORK, false},   {"net", SYSTEM_CALL_CLASS_NETWORK, true},
    {"process", SYSTEM_CALL_CLASS_PROCESS, false},   {"signal", SYSTEM_CALL_CLASS_SIGNALS, false},
    {"ipc", SYSTEM_CALL_CLASS_IPC, false},           {"memory", SYSTEM_CALL_CLASS_MEMORY, false},
    {"creds", SYSTEM_CALL_CLASS_CREDS, true},        {"clock", SYSTEM_CALL_CLASS_CLOCK, true},
    {"stat", SYSTEM_CALL_CLASS_STAT, true},          {"lstat", SYSTEM_CALL_CLASS_LSTAT, true},
    {"fstat", SYSTEM_CALL_CLASS_FSTAT, true},        {"statfs", SYSTEM_CALL_CLASS_STATFS, true},
    {"fstatfs", SYSTEM_CALL_CLASS_FSTATFS, true},    {"%stat", SYSTEM_CALL_CLASS_ANY_STAT, true},
    {"%statfs", SYSTEM_CALL_CLASS_ANY_STATFS, true}, {"pure", SYSTEM_CALL_CLASS_PURE, true},
};

#define CLASS_COUNT (sizeof(classes) / sizeof(classes[0]))

const char *system_call_set_class(size_t index)
{
    return index < CLASS_COUNT ? classes[index].name : NULL;
}

void system_call_set_fill(struct system_call_set *set)
{
    memset(set, 0xff, sizeof(set->bits));
    set->has_others = true;
}

static void add(struct system_call_set *set, const struct system_call_signature *call)
{
    set->bits[call->number / 64] |= 1ULL << call->number % 64;
}

static int refuse(struct system_call_set_fault *fault, const char *word, size_t length, const char *reason)
{
    *fault = (struct system_call_set_fault){.word = word, .length = length, .reason = reason};
    return -EINVAL;
}

static bool add_class(struct system_call_set *set, const char *word, size_t length, bool has_percent)
{
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        if (strlen(classes[i].name) != length || memcmp(classes[i].name, word, length) != 0 ||
            (classes[i].needs_percent && !has_percent))
            continue;
        for (size_t k = 0; k < system_call_count(); k++)
            if (system_call_at(k)->number >= 0 && (system_call_at(k)->classes & classes[i].bits) != 0)
                add(set, system_call_at(k));
        return true;
    }
    return false;
}

static int add_expression(struct system_call_set *set, const char *word, size_t length,
                          struct system_call_set_fault *fault)
{
    char pattern[WORD_BYTES];
    regex_t expression;
    unsigned found = 0;

    if (length >= sizeof(pattern))
        return refuse(fault, word, length, "this expression is too long");
    memcpy(pattern, word, length);
    pattern[length] = '\0';
    if (regcomp(&expression, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return refuse(fault, word, length, "this is not a regular expression");
    for (size_t i = 0; i < system_call_count(); i++) {
        const struct system_call_signature *call = system_call_at(i);

        if (call->number < 0 || regexec(&expression, call->name, 0, NULL, 0) != 0)
            continue;
        add(set, call);
        found++;
    }
    regfree(&expression);
    return found > 0 ? 0 : refuse(fault, word, length, "no system call matches this expression");
}

static bool add_number(struct system_call_set *set, const char *word, size_t length)
{
    uint64_t number = 0;

    if (length == 0 || length > 4 || strspn(word, "0123456789") < length)
        return false;
    for (size_t i = 0; i < length; i++)
        number = number * 10 + (uint64_t)(word[i] - '0');
    if (number >= SYSTEM_CALL_NUMBERS)
        return false;
    set->bits[number / 64] |= 1ULL << number % 64;
    return true;
}

static int add_word(struct system_call_set *set, const char *word, size_t length, struct system_call_set_fault *fault);

static bool ends_with(const char *word, size_t length, const char *end)
{
    size_t end_length = strlen(end);

    return length > end_length && memcmp(word + length - end_length, end, end_length) == 0;
}

/* Calls of other modes of the CPU mean other numbers, none of which is here. */
static int add_for_mode(struct system_call_set *set, const char *word, size_t length,
                        struct system_call_set_fault *fault)
{
    struct system_call_set others = {0};

    if (ends_with(word, length, "@64"))
        return add_word(set, word, length - strlen("@64"), fault);
    if (ends_with(word, length, "@32"))
        return add_word(&others, word, length - strlen("@32"), fault);
    if (ends_with(word, length, "@x32"))
        return add_word(&others, word, length - strlen("@x32"), fault);
    return add_word(set, word, length, fault);
}

static int add_word(struct system_call_set *set, const char *word, size_t length, struct system_call_set_fault *fault)
{
    bool is_optional = length > 0 && word[0] == '?';
    const struct system_call_signature *call;

    word += is_optional;
    length -= is_optional;
    if (length >= 2 && word[0] == '/')
        return add_expression(set, word + 1, length - 1 - (word[length - 1] == '/'), fault);
    if (length == 3 && memcmp(word, "all", 3) == 0) {
        system_call_set_fill(set);
        return 0;
    }
    if (length == 4 && memcmp(word, "none", 4) == 0)
        return 0;
    if (length > 0 && word[0] == '%') {
        if (add_class(set, word + 1, length - 1, true) || is_optional)
            return 0;
        (void)refuse(fault, word, length, "there is no such class of system calls");
        fault->is_class = true;
        return -EINVAL;
    }
    call = system_call_by_name(word, length);
    if (call != NULL)
        add(set, call);
    else if (!add_class(set, word, length, false) && !add_number(set, word, length) && !is_optional)
        return refuse(fault, word, length,
                      length == 0 ? "a name is missing" : "there is no such system call, and no such class of them");
    return 0;
}

/* Expressions may have commas in braces or brackets: they end with their slash. */
static size_t word_length(const char *text)
{
    size_t start = text[0] == '?';
    const char *end;

    if (text[start] == '/') {
        end = strchr(text + start + 1, '/');
        if (end != NULL && (end[1] == ',' || end[1] == '\0'))
            return (size_t)(end + 1 - text);
    }
    return strcspn(text, ",");
}

int system_call_set_parse(const char *text, struct system_call_set *set_out, struct system_call_set_fault *fault_out)
{
    struct system_call_set set = {0};
    bool is_inverted = text[0] == '!';

    for (text += is_inverted;; text++) {
        size_t length = word_length(text);
        int result = add_for_mode(&set, text, length, fault_out);

        if (result != 0)
            return result;
        text += length;
        if (*text == '\0')
            break;
    }
    for (size_t i = 0; is_inverted && i < SYSTEM_CALL_SET_WORDS; i++)
        set.bits[i] = ~set.bits[i];
    set.has_others = set.has_others != is_inverted;
    *set_out = set;
    return 0;
}
