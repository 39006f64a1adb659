/* SPDX-License-Identifier: MIT */
/*
 * Operations of prctl by the table prctl_forms.def: how many arguments each has, what they are, and what its result
 * means. Those that are not in it are in dependent_text.c. Stateless.
 */
#include "syscalls/subject_texts.h"

#include "syscalls/constant_set.h"
#include "syscalls/value_forms.h"

#include <sys/prctl.h>

#define ARGUMENTS_MAX 4
#define PRCTL_SET     1 /* of PR_MCE_KILL, and of PR_CAP_AMBIENT the two that take a capability */
#define AMBIENT_FIRST 1
#define AMBIENT_LAST  3

struct prctl_form {
    uint32_t operation;
    uint8_t count;
    uint8_t answer_bytes; /* 0: it answers nothing */
    struct value_form forms[ARGUMENTS_MAX];
};

struct prctl_result {
    uint32_t operation;
    uint16_t set;
};

#define NUMBER HEX

static const struct prctl_form operations[] = {
#define OPERATION(number, count, ...)            {number, count, 0, {__VA_ARGS__}},
#define ANSWER(number, kind, detail, size_bytes) {number, 1, size_bytes, {{kind, detail}}},
#define RESULT(number, set)
#include "syscalls/prctl_forms.def"
#undef OPERATION
#undef ANSWER
#undef RESULT
};

static const struct prctl_result results[] = {
#define OPERATION(number, count, ...)
#define ANSWER(...)
#define RESULT(number, set) {number, SYSTEM_CALL_SET_##set},
#include "syscalls/prctl_forms.def"
#undef OPERATION
#undef ANSWER
#undef RESULT
};

static const struct prctl_form *find_form(uint64_t operation)
{
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        if (operations[i].operation == (uint32_t)operation)
            return &operations[i];
    return NULL;
}

int prctl_text_count(uint64_t operation)
{
    const struct prctl_form *form = find_form(operation);

    return form == NULL ? -1 : form->count;
}

bool prctl_text_is_answer(uint64_t operation)
{
    const struct prctl_form *form = find_form(operation);

    return form != NULL && form->answer_bytes != 0;
}

/* What an argument is, where another one decides. */
static struct value_form form_of(const struct call_text *text, const struct prctl_form *form, unsigned which)
{
    uint64_t first = text->arguments[1];

    if (form->operation == PR_MCE_KILL && which == 2 && first == PRCTL_SET)
        return (struct value_form){CHOICE(machine_check_policy)};
    if (form->operation == PR_CAP_AMBIENT && which == 2 && (first < AMBIENT_FIRST || first > AMBIENT_LAST))
        return (struct value_form){HEX};
    return form->forms[which - 1];
}

static void put_answer(const struct call_text *text, const struct prctl_form *form, uint64_t address)
{
    uint64_t value = 0;

    if (text->has_failed || !call_text_read(text, address, &value, form->answer_bytes)) {
        call_text_put_address(text, address);
        return;
    }
    text_put_char(text->out, '[');
    (void)value_text_put(text, form->forms[0], &value, form->answer_bytes);
    text_put_char(text->out, ']');
}

bool prctl_text_put(const struct call_text *text, unsigned which)
{
    const struct prctl_form *form = find_form(text->arguments[0]);

    if (form == NULL || which > form->count)
        return false;
    if (form->answer_bytes != 0)
        put_answer(text, form, text->arguments[which]);
    else
        (void)value_text_put(text, form_of(text, form, which), &text->arguments[which], sizeof(uint64_t));
    return true;
}

bool prctl_text_put_result(const struct call_text *text)
{
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        bool is_flags = results[i].set == SYSTEM_CALL_SET_secure_bits ||
                        results[i].set == SYSTEM_CALL_SET_speculation_control ||
                        results[i].set == SYSTEM_CALL_SET_float_mode;

        if (results[i].operation != (uint32_t)text->arguments[0])
            continue;
        if (is_flags && text->result == 0 && results[i].set != SYSTEM_CALL_SET_speculation_control)
            return false;
        if (is_flags)
            call_text_put_hex(text, (uint64_t)text->result);
        else
            text_put_unsigned(text->out, (uint64_t)text->result);
        text_put_string(text->out, " (");
        if (is_flags)
            constant_set_put_flags(text->out, results[i].set, (uint64_t)text->result);
        else
            constant_set_put_choice(text->out, results[i].set, (uint64_t)text->result);
        text_put_char(text->out, ')');
        return true;
    }
    return false;
}
