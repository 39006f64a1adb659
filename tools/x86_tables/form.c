/* SPDX-License-Identifier: MIT */
/* Keeps the forms, each once. Forms are compared byte by byte, so they must be zeroed before they are filled. */
#include "form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORM_LIMIT 200000u
#define TABLE_SIZE (1u << 19)

static struct form *forms;
static unsigned count;
static unsigned *table;

static uint64_t hash(const struct form *form)
{
    const unsigned char *bytes = (const unsigned char *)form;
    uint64_t value = 0xcbf29ce484222325u;

    for (size_t i = 0; i < sizeof(*form); i++)
        value = (value ^ bytes[i]) * 0x100000001b3u;
    return value ^ value >> 29;
}

unsigned form_intern(const struct form *form)
{
    if (forms == NULL) {
        forms = calloc(FORM_LIMIT, sizeof(*forms));
        table = calloc(TABLE_SIZE, sizeof(*table));
        if (forms == NULL || table == NULL)
            abort();
        count = 1;
    }
    for (uint64_t slot = hash(form);; slot++) {
        unsigned *entry = &table[slot & (TABLE_SIZE - 1)];

        if (*entry != 0 && memcmp(&forms[*entry], form, sizeof(*form)) == 0)
            return *entry;
        if (*entry != 0)
            continue;
        if (count == FORM_LIMIT) {
            fprintf(stderr, "x86_tables: too many forms\n");
            exit(1);
        }
        forms[count] = *form;
        *entry = count;
        return count++;
    }
}

const struct form *form_get(unsigned number)
{
    return &forms[number];
}

unsigned form_count(void)
{
    return count;
}

/* Takes from the form of one size what belongs to that size. */
static void adopt_size(struct form *merged, const struct form *form, int size)
{
    merged->immediate.size[size] = form->immediate.size[size];
    merged->disp8_shift[size] = form->disp8_shift[size];
    for (int i = 0; i < merged->operand_count; i++) {
        merged->operands[i].type.register_class[size] = form->operands[i].type.register_class[size];
        merged->operands[i].type.size_bits[size] = form->operands[i].type.size_bits[size];
    }
}

unsigned form_merge(const unsigned by_size[3])
{
    struct form merged = forms[by_size[1]];

    for (int size = 0; size < 3; size++) {
        struct form other = forms[by_size[size]];

        if (other.operand_count != merged.operand_count)
            return 0;
        /* Equal once each has taken over the sizes of the other: then only sizes differ. */
        for (int i = 0; i < 3; i++)
            adopt_size(&other, &forms[by_size[1]], i);
        if (memcmp(&other, &forms[by_size[1]], sizeof(other)) != 0)
            return 0;
        adopt_size(&merged, &forms[by_size[size]], size);
    }
    return form_intern(&merged);
}
