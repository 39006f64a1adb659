/* SPDX-License-Identifier: MIT */
/* The lines are fixed once read; threads only count. */
#include "support/difference_list.h"

#include "arch/x86_64/isa/decoder.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINES 1024
#define MAX_SHOWN 60

static int find_condition(struct difference_line *line, const struct difference_condition *conditions)
{
    if (strcmp(line->condition, "-") == 0)
        return 0;
    for (; conditions->keyword != NULL; conditions++) {
        if (strcmp(line->condition, conditions->keyword) == 0) {
            line->holds = conditions->holds;
            return 0;
        }
    }
    return -EINVAL;
}

static int read_lines(struct difference_list *list, FILE *file, const struct difference_condition *conditions)
{
    char text[512], reason[2];

    for (unsigned number = 1; fgets(text, sizeof(text), file) != NULL; number++) {
        struct difference_line *line = &list->lines[list->line_count];

        if (text[0] == '#' || text[0] == '\n')
            continue;
        line->number = number;
        if (list->line_count + 1 == MAX_LINES || strchr(text, '\n') == NULL ||
            sscanf(text, "%23s %31s %31s %1s", line->field, line->mnemonic, line->condition, reason) != 4) {
            printf("%s:%u: expected \"field mnemonic condition reason\"\n", list->path, number);
            return -EINVAL;
        }
        if (find_condition(line, conditions) != 0) {
            printf("%s:%u: there is no condition \"%s\"\n", list->path, number, line->condition);
            return -EINVAL;
        }
        list->line_count++;
    }
    return 0;
}

int difference_list_init(struct difference_list *list, const char *path, const struct difference_condition *conditions)
{
    FILE *file = fopen(path, "r");

    if (file == NULL) {
        printf("%s: %s (tests run in the top folder of the tree)\n", path, strerror(errno));
        return -ENOENT;
    }
    memset(list, 0, sizeof(*list));
    list->path = path;
    list->lines = calloc(MAX_LINES, sizeof(*list->lines));
    list->kinds = calloc(DIFFERENCE_MAX_KINDS, sizeof(*list->kinds));
    pthread_mutex_init(&list->lock, NULL);

    int result = list->lines == NULL || list->kinds == NULL ? -ENOMEM : read_lines(list, file, conditions);

    fclose(file);
    return result;
}

void difference_list_deinit(struct difference_list *list)
{
    free(list->lines);
    free(list->kinds);
    pthread_mutex_destroy(&list->lock);
    memset(list, 0, sizeof(*list));
}

bool difference_list_explains(struct difference_list *list, const struct difference *difference)
{
    for (size_t i = 0; i < list->line_count; i++) {
        struct difference_line *line = &list->lines[i];

        if (strcmp(line->field, difference->field) != 0 || (line->holds != NULL && !line->holds(difference)) ||
            fnmatch(line->mnemonic, difference->mnemonic, 0) != 0)
            continue;
        /* Only a count: nothing is published with it. */
        atomic_fetch_add_explicit(&line->uses, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&list->explained, 1, memory_order_relaxed);
        return true;
    }
    return false;
}

static void describe(const struct difference *difference, struct difference_kind *kind)
{
    char hex[3 * X86_MAX_INSN_BYTES + 1] = "";
    size_t count = difference->available < X86_MAX_INSN_BYTES ? difference->available : X86_MAX_INSN_BYTES;

    for (size_t i = 0; i < count; i++)
        snprintf(hex + 3 * i, 4, "%02x ", difference->bytes[i]);
    snprintf(kind->field, sizeof(kind->field), "%s", difference->field);
    snprintf(kind->mnemonic, sizeof(kind->mnemonic), "%s", difference->mnemonic);
    snprintf(kind->text, sizeof(kind->text), "%sours %" PRIx64 ", theirs %" PRIx64 " %s", hex, difference->ours,
             difference->theirs, difference->other_text != NULL ? difference->other_text : "");
}

static void note(struct difference_list *list, const struct difference *difference)
{
    list->unexplained++;
    for (size_t i = 0; i < list->kind_count; i++) {
        struct difference_kind *kind = &list->kinds[i];

        if (strcmp(kind->field, difference->field) == 0 && strcmp(kind->mnemonic, difference->mnemonic) == 0) {
            kind->count++;
            return;
        }
    }
    if (list->kind_count == DIFFERENCE_MAX_KINDS)
        return;
    list->kinds[list->kind_count].count = 1;
    describe(difference, &list->kinds[list->kind_count++]);
}

bool difference_list_judge(struct difference_list *list, const struct difference *difference)
{
    if (difference_list_explains(list, difference))
        return true;
    pthread_mutex_lock(&list->lock);
    note(list, difference);
    pthread_mutex_unlock(&list->lock);
    return false;
}

void difference_list_print_unexplained(const struct difference_list *list)
{
    for (size_t i = 0; i < list->kind_count && i < MAX_SHOWN; i++) {
        const struct difference_kind *kind = &list->kinds[i];

        printf("%llu times %s of %s, first %s\n", kind->count, kind->field, kind->mnemonic, kind->text);
    }
    printf("differences: %llu explained, %llu unexplained, of %zu kinds\n", list->explained, list->unexplained,
           list->kind_count);
}

unsigned long long difference_list_finish(const struct difference_list *list)
{
    unsigned long long stale = 0;

    difference_list_print_unexplained(list);
    for (size_t i = 0; i < list->line_count; i++) {
        const struct difference_line *line = &list->lines[i];

        if (line->uses == 0) {
            printf("%s:%u: explains a difference that does not occur: %s %s %s\n", list->path, line->number,
                   line->field, line->mnemonic, line->condition);
            stale++;
        }
    }
    return list->unexplained + stale;
}
