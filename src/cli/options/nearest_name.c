/* SPDX-License-Identifier: MIT */
/* The usual edit distance, row by row, and an ordered list of the best. Stateless but for the caller's storage. */
#include "cli/options/nearest_name.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static unsigned smallest(unsigned a, unsigned b, unsigned c)
{
    unsigned least = a < b ? a : b;

    return least < c ? least : c;
}

/* Two characters in the wrong order count once. rows[0] is the newest of three. */
static unsigned distance(const char *left, const char *right)
{
    unsigned storage[3][NEAREST_NAME_BYTES], *rows[3] = {storage[0], storage[1], storage[2]};
    size_t width = strlen(right);

    for (unsigned j = 0; j <= width; j++)
        rows[0][j] = j;
    for (unsigned i = 1; left[i - 1] != '\0'; i++) {
        unsigned *oldest = rows[2];

        rows[2] = rows[1];
        rows[1] = rows[0];
        rows[0] = oldest;
        rows[0][0] = i;
        for (unsigned j = 1; j <= width; j++) {
            bool differ = left[i - 1] != right[j - 1];

            rows[0][j] = smallest(rows[1][j] + 1, rows[0][j - 1] + 1, rows[1][j - 1] + differ);
            if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1])
                rows[0][j] = smallest(rows[0][j], rows[2][j - 2] + 1, rows[0][j]);
        }
    }
    return rows[0][width];
}

void nearest_names_init(struct nearest_names *names, const char *wanted)
{
    names->count = 0;
    snprintf(names->wanted, sizeof(names->wanted), "%s", wanted);
}

/* A third of the name may be wrong; a name that goes on behind what was typed is near too. */
static unsigned judge(const struct nearest_names *names, const char *name)
{
    size_t wanted_length = strlen(names->wanted);
    unsigned changes = distance(names->wanted, name);

    if (wanted_length >= 3 && strncmp(name, names->wanted, wanted_length) == 0 && changes > 2)
        return 2;
    return changes <= (wanted_length + 2) / 3 ? changes : ~0u;
}

void nearest_names_offer(struct nearest_names *names, const char *name, size_t length)
{
    struct nearest_name candidate;
    size_t place;

    snprintf(candidate.name, sizeof(candidate.name), "%.*s", (int)(length < INT16_MAX ? length : INT16_MAX), name);
    candidate.distance = judge(names, candidate.name);
    if (candidate.distance == ~0u)
        return;
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->best[i].name, candidate.name) == 0)
            return;
    for (place = 0; place < names->count && names->best[place].distance <= candidate.distance; place++)
        ;
    if (place == NEAREST_NAMES_MAX)
        return;
    if (names->count < NEAREST_NAMES_MAX)
        names->count++;
    for (size_t i = names->count - 1; i > place; i--)
        names->best[i] = names->best[i - 1];
    names->best[place] = candidate;
}

void nearest_names_offer_other(struct nearest_names *names, const char *name, size_t length)
{
    if (strlen(names->wanted) != length || strncmp(names->wanted, name, length) != 0)
        nearest_names_offer(names, name, length);
}

void nearest_names_join(const struct nearest_names *names, char *text, size_t text_bytes)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < names->count && used < text_bytes; i++) {
        const char *separator = i == 0 ? "" : i + 1 == names->count ? " or " : ", ";

        used += (size_t)snprintf(text + used, text_bytes - used, "%s%s", separator, names->best[i].name);
    }
}
