/* SPDX-License-Identifier: MIT */
#include "syscalls/injection.h"

#include "syscalls/names/errno_name.h"
#include "syscalls/subject_texts.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 512

static int refuse(struct system_call_set_fault *fault, const char *word, const char *reason)
{
    *fault = (struct system_call_set_fault){.word = word, .length = strcspn(word, ":"), .reason = reason};
    return -EINVAL;
}

/* Microseconds, or a number with s, ms, us or ns. */
bool injection_parse_duration(const char *text, uint64_t *ns_out)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"", 1e3}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"ns", 1}};
    char *end;
    double value = strtod(text, &end);

    if (end == text || !(value >= 0) || value > 1e12)
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(end, units[i].unit) != 0 || value * units[i].ns > 9e18)
            continue;
        *ns_out = (uint64_t)(value * units[i].ns);
        return true;
    }
    return false;
}

static bool read_count(const char **text, uint32_t *count_out)
{
    char *end;
    unsigned long value = strtoul(*text, &end, 10);

    if (end == *text || **text < '0' || **text > '9' || value == 0 || value > UINT32_MAX)
        return false;
    *count_out = (uint32_t)value;
    *text = end;
    return true;
}

/* N, N+, N+STEP, N..M, N..M+STEP. */
static bool read_when(const char *text, struct injection *injection)
{
    if (!read_count(&text, &injection->first))
        return false;
    injection->last = injection->first;
    injection->step = 1;
    if (strncmp(text, "..", 2) == 0) {
        text += 2;
        if (!read_count(&text, &injection->last) || injection->last < injection->first)
            return false;
    } else if (*text == '+') {
        injection->last = UINT32_MAX;
    }
    if (*text != '+')
        return *text == '\0';
    text++;
    return *text == '\0' || (read_count(&text, &injection->step) && *text == '\0');
}

/* @arg1=HEX, and more of them with commas. */
static bool is_poke(const char *text)
{
    for (;; text++) {
        if (strncmp(text, "@arg", 4) != 0 || text[4] < '1' || text[4] > '6' || text[5] != '=')
            return false;
        size_t digits = strspn(text + 6, "0123456789abcdefABCDEF");

        if (digits == 0 || digits % 2 != 0)
            return false;
        text += 6 + digits;
        if (*text != ',')
            return *text == '\0';
    }
}

static bool read_poke(const char *text, char poke_out[INJECTION_POKE_BYTES])
{
    if (!is_poke(text) || strlen(text) >= INJECTION_POKE_BYTES)
        return false;
    memcpy(poke_out, text, strlen(text) + 1);
    return true;
}

size_t injection_poke(const char *poke, unsigned which, uint8_t bytes_out[INJECTION_POKE_BYTES])
{
    char name[8] = {'@', 'a', 'r', 'g', (char)('1' + which), '='};
    const char *digits = strstr(poke, name);
    size_t count = 0;

    if (digits == NULL)
        return 0;
    for (digits += strlen(name); digits[0] != '\0' && digits[0] != ','; digits += 2) {
        char byte[3] = {digits[0], digits[1]};

        bytes_out[count++] = (uint8_t)strtoul(byte, NULL, 16);
    }
    return count;
}

/* Calls that only answer: what is made in place of the one that is left out, which nobody sees. */
static bool is_pure(const char *name)
{
    const struct system_call_signature *call = system_call_by_name(name, strlen(name));

    return call != NULL && (call->classes & SYSTEM_CALL_CLASS_PURE) != 0;
}

static int read_part(const char *part, const char *value, struct injection *injection, const char **reason_out)
{
    size_t name = (size_t)(value - part);
    char *end;

    if (strncmp(part, "error=", name) == 0 && name == 6) {
        injection->result = -errno_by_name(value);
        injection->has_result = true;
        *reason_out = "there is no such error; ENOENT, for example, is one";
        return injection->result == 1 ? -EINVAL : 0;
    }
    if (strncmp(part, "retval=", name) == 0 && name == 7) {
        injection->result = strtoll(value, &end, 0);
        injection->has_result = true;
        *reason_out = "a number has to follow retval=";
        return end == value || *end != '\0' ? -EINVAL : 0;
    }
    if (strncmp(part, "signal=", name) == 0 && name == 7) {
        injection->signal = signal_by_name(value);
        *reason_out = "there is no such signal";
        return injection->signal == 0 ? -EINVAL : 0;
    }
    *reason_out = "a time has to follow, in microseconds or with s, ms, us or ns behind it";
    if (strncmp(part, "delay_enter=", name) == 0 && name == 12)
        return injection_parse_duration(value, &injection->delay_enter_ns) ? 0 : -EINVAL;
    if (strncmp(part, "delay_exit=", name) == 0 && name == 11)
        return injection_parse_duration(value, &injection->delay_exit_ns) ? 0 : -EINVAL;
    *reason_out = "what is to be written has to follow: @arg1=00ff, in hexadecimal";
    if (strncmp(part, "poke_enter=", name) == 0 && name == 11)
        return read_poke(value, injection->poke_enter) ? 0 : -EINVAL;
    if (strncmp(part, "poke_exit=", name) == 0 && name == 10)
        return read_poke(value, injection->poke_exit) ? 0 : -EINVAL;
    *reason_out = "only calls without arguments that never fail can stand here, as getpid";
    if (strncmp(part, "syscall=", name) == 0 && name == 8)
        return is_pure(value) ? 0 : -EINVAL;
    *reason_out = "when= takes N, N+, N+STEP, N..M or N..M+STEP";
    if (strncmp(part, "when=", name) == 0 && name == 5)
        return read_when(value, injection) ? 0 : -EINVAL;
    *reason_out =
        "only error=, retval=, signal=, syscall=, delay_enter=, delay_exit=, poke_enter=, poke_exit= and when= can "
        "stand here";
    return -EINVAL;
}

static bool does_something(const struct injection *injection)
{
    return injection->has_result || injection->signal != 0 || injection->delay_enter_ns != 0 ||
           injection->delay_exit_ns != 0 || injection->poke_enter[0] != '\0' || injection->poke_exit[0] != '\0';
}

int injection_parse(const char *text, bool is_fault, struct injection *injection_out,
                    struct system_call_set_fault *fault_out)
{
    struct injection injection = {.first = 1, .last = UINT32_MAX, .step = 1};
    size_t set_length = strcspn(text, ":");
    const char *part = text + set_length;
    char copy[TEXT_BYTES];
    int result;

    if (strlen(text) >= sizeof(copy))
        return refuse(fault_out, text, "this is too long");
    memcpy(copy, text, set_length);
    copy[set_length] = '\0';
    result = system_call_set_parse(copy, &injection.set, fault_out);
    if (result != 0) {
        fault_out->word = text + (fault_out->word - copy);
        return result;
    }
    while (*part == ':') {
        char piece[TEXT_BYTES];
        size_t length = strcspn(++part, ":");
        const char *reason, *equals;

        memcpy(piece, part, length);
        piece[length] = '\0';
        equals = strchr(piece, '=');
        if (read_part(piece, equals == NULL ? piece : equals + 1, &injection, &reason) != 0)
            return refuse(fault_out, part, reason);
        part += length;
    }
    if (is_fault && !injection.has_result) {
        injection.has_result = true;
        injection.result = -ENOSYS;
    }
    if (!does_something(&injection))
        return refuse(fault_out, text, "what is to happen is missing: error=, retval=, signal= or delay_enter=");
    *injection_out = injection;
    return 0;
}

bool injection_needs_stop(const struct injection *injection)
{
    return (injection->signal != 0 && !injection->has_result) || injection->poke_enter[0] != '\0' ||
           injection->poke_exit[0] != '\0';
}

bool injection_applies(const struct injection *injection, uint32_t count)
{
    return count >= injection->first && count <= injection->last && (count - injection->first) % injection->step == 0;
}
