/* SPDX-License-Identifier: MIT */
/*
 * Takes the selectors in a fixed order, skips those that change nothing, and makes a switch of the first that does.
 * Switches with the same selector and children are made once.
 */
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SWITCH_LIMIT (0x10000u - X86_NODE_SWITCH)

static uint16_t switches[SWITCH_LIMIT];
static size_t switch_count;
static unsigned forms[X86_NODE_SWITCH];
static size_t used_forms = 1;

static const enum x86_selector order[X86_SELECTOR_COUNT] = {
    X86_SELECT_PREFIX,    X86_SELECT_MOD_REGISTER, X86_SELECT_REG,          X86_SELECT_W,
    X86_SELECT_BROADCAST, X86_SELECT_LENGTH,       X86_SELECT_ADDRESS_SIZE, X86_SELECT_RM,
};

static void fail(const char *reason)
{
    fprintf(stderr, "x86_tables: %s\n", reason);
    exit(1);
}

static uint16_t final_number(unsigned form)
{
    if (form == X86_FORM_INVALID)
        return X86_FORM_INVALID;
    for (size_t i = 1; i < used_forms; i++)
        if (forms[i] == form)
            return (uint16_t)i;
    if (used_forms == X86_NODE_SWITCH)
        fail("more forms than a node can name");
    forms[used_forms] = form;
    return (uint16_t)used_forms++;
}

static uint16_t add_switch(enum x86_selector selector, const uint16_t *children, size_t count)
{
    size_t size = 1 + count;
    uint16_t entry[16] = {(uint16_t)selector};

    memcpy(entry + 1, children, count * sizeof(*children));
    for (size_t place = 0; place + size <= switch_count; place++)
        if (memcmp(&switches[place], entry, size * sizeof(*entry)) == 0)
            return (uint16_t)(X86_NODE_SWITCH + place);
    if (switch_count + size > SWITCH_LIMIT)
        fail("more switches than a node can name");
    memcpy(&switches[switch_count], entry, size * sizeof(*entry));
    switch_count += size;
    return (uint16_t)(X86_NODE_SWITCH + switch_count - size);
}

/* The node for the part of the survey in which the selectors before `level` have the given values. */
static uint16_t build(const struct survey *survey, unsigned values[X86_SELECTOR_COUNT], int level)
{
    uint16_t children[8];
    bool differ = false;

    if (level == X86_SELECTOR_COUNT)
        return final_number(survey->forms[survey_place(survey, values)]);

    enum x86_selector selector = order[level];
    unsigned count = survey->sizes[selector];

    for (unsigned value = 0; value < count; value++) {
        values[selector] = value;
        children[value] = build(survey, values, level + 1);
        differ = differ || children[value] != children[0];
    }
    values[selector] = 0;
    return differ ? add_switch(selector, children, count) : children[0];
}

uint16_t tree_build(const struct survey *survey)
{
    unsigned values[X86_SELECTOR_COUNT] = {0};

    return build(survey, values, 0);
}

const uint16_t *tree_switches(size_t *count_out)
{
    *count_out = switch_count;
    return switches;
}

const unsigned *tree_forms(size_t *count_out)
{
    *count_out = used_forms;
    return forms;
}
