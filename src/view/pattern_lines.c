/* SPDX-License-Identifier: MIT */
#include "view/pattern_lines.h"

#include "symbolize/spelled_functions.h"

#include <stdlib.h>
#include <string.h>

struct pattern_line {
    struct pattern_line *next;
    const struct recorded_module *module;
    char *source;
    uint32_t line;
    struct spelled_list list; /* their starts, as the file has them */
};

void pattern_lines_deinit(struct pattern_lines *lines)
{
    while (lines->first != NULL) {
        struct pattern_line *line = lines->first;

        lines->first = line->next;
        spelled_list_deinit(&line->list);
        free(line->source);
        free(line);
    }
}

static bool is_for(const struct pattern_line *line, const struct function_spelling *spelling,
                   const struct recorded_module *module)
{
    return line->module == module && line->line == spelling->line && strlen(line->source) == spelling->source.length &&
           memcmp(line->source, spelling->source.start, spelling->source.length) == 0;
}

/* `distance` is how far the module is from where its file says. */
static void find_starts(struct spelled_list *list, struct function_names *names, const struct recorded_module *module,
                        uint64_t distance)
{
    struct symbol_place place;

    for (size_t i = 0; i < list->count; i++) {
        symbolizer_find_symbol(&names->symbolizer, module, list->ones[i].at + distance, &place);
        list->ones[i].start = list->ones[i].at - (place.symbol == NULL ? 0 : place.distance);
    }
}

/* NULL: there is no memory. */
static struct pattern_line *obtain(struct pattern_lines *lines, struct function_names *names,
                                   const struct function_spelling *spelling, const struct recorded_module *module,
                                   uint64_t distance)
{
    struct pattern_line *line = lines->first;

    while (line != NULL && !is_for(line, spelling, module))
        line = line->next;
    if (line != NULL)
        return line;
    line = calloc(1, sizeof(*line));
    if (line == NULL)
        return NULL;
    line->source = strndup(spelling->source.start, spelling->source.length);
    if (line->source == NULL) {
        free(line);
        return NULL;
    }
    line->module = module;
    line->line = spelling->line;
    if (spelled_lines_find(function_names_path(names, module), spelling, &line->list) == 0)
        find_starts(&line->list, names, module, distance);
    line->next = lines->first;
    lines->first = line;
    return line;
}

bool pattern_lines_has(struct pattern_lines *lines, struct function_names *names,
                       const struct function_spelling *spelling, const struct recorded_module *module, uint64_t address)
{
    const struct pattern_line *line;
    uint64_t place;

    if (function_names_place(names, module, address, &place) != 0)
        return false;
    line = obtain(lines, names, spelling, module, address - place);
    for (size_t i = 0; line != NULL && i < line->list.count; i++)
        if (line->list.ones[i].start == place)
            return true;
    return false;
}
