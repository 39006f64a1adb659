/* SPDX-License-Identifier: MIT */
/*
 * Lines of the help that belong together are gathered: a paragraph, or an option with what it does. If all of them fit
 * they are printed as they are, since somebody has chosen where they end; else their words are laid out again.
 */
#include "cli/screens/help_screen.h"

#include "cli/command.h"
#include "cli/help_text.h"
#include "cli/screens/screen.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS_MAX  80u
#define COLUMNS_MIN  40u
#define LINES_MAX    64u
#define USAGE_INDENT 12u

/* Lines that belong together. */
struct help_block {
    struct help_line lines[LINES_MAX];
    size_t count;
};

/* Where words are laid out. */
struct help_flow {
    struct screen *screen;
    size_t width;
    size_t indent; /* of all lines but the first */
    size_t column;
};

static size_t width_of(const struct screen *screen)
{
    if (screen->width < COLUMNS_MIN)
        return COLUMNS_MIN;
    return screen->width < COLUMNS_MAX ? screen->width : COLUMNS_MAX;
}

static void put_spaces(struct help_flow *flow, size_t column)
{
    screen_print(flow->screen, "%*s", column > flow->column ? (int)(column - flow->column) : 0, "");
    flow->column = column > flow->column ? column : flow->column;
}

static void put_word(struct help_flow *flow, const char *word, size_t length)
{
    bool is_first = flow->column == flow->indent;

    if (!is_first && flow->column + 1 + length > flow->width) {
        screen_print(flow->screen, "\n");
        flow->column = 0;
        put_spaces(flow, flow->indent);
        is_first = true;
    }
    screen_print(flow->screen, "%s%.*s", is_first ? "" : " ", (int)length, word);
    flow->column += length + !is_first;
}

static void put_words(struct help_flow *flow, const char *text, size_t length)
{
    const char *end = text + length;

    while (text < end) {
        const char *space = memchr(text, ' ', (size_t)(end - text));
        size_t word = space == NULL ? (size_t)(end - text) : (size_t)(space - text);

        if (word != 0)
            put_word(flow, text, word);
        text += word + (space != NULL);
    }
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static bool fits(const struct help_block *block, size_t width)
{
    for (size_t i = 0; i < block->count; i++)
        if (block->lines[i].indent + block->lines[i].length > width)
            return false;
    return true;
}

static void put_as_it_is(struct screen *screen, const struct help_line *line)
{
    screen_print(screen, "%*s%.*s\n", (int)line->indent, "", (int)line->length, line->text);
}

/* What an option does begins behind what is typed, and goes on where its next line begins. */
static void put_option(struct help_flow *flow, const struct help_block *block)
{
    const struct help_line *first = &block->lines[0];
    size_t text = first->term_bytes + strspn(first->text + first->term_bytes, " ");

    if (text > first->length)
        text = first->length;
    flow->indent = block->count > 1 ? block->lines[1].indent : first->indent + text;
    put_spaces(flow, first->indent);
    screen_print(flow->screen, "%.*s", (int)first->term_bytes, first->text);
    flow->column += first->term_bytes;
    /* Words behind a long one are put with a space of their own. */
    put_spaces(flow, flow->column < flow->indent ? flow->indent : flow->column);
    put_words(flow, first->text + text, first->length - text);
}

static void put_block(struct screen *screen, struct help_block *block)
{
    struct help_flow flow = {.screen = screen, .width = width_of(screen)};

    if (block->count == 0)
        return;
    if (fits(block, flow.width)) {
        for (size_t i = 0; i < block->count; i++)
            put_as_it_is(screen, &block->lines[i]);
    } else {
        size_t done = block->lines[0].kind == HELP_OPTION;

        if (done != 0)
            put_option(&flow, block);
        for (size_t i = done; i < block->count; i++)
            put_words(&flow, block->lines[i].text, block->lines[i].length);
        screen_print(screen, "\n");
    }
    block->count = 0;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* What is in brackets stays together. */
static void put_usage(struct screen *screen, const struct command *command)
{
    struct help_flow flow = {.screen = screen, .width = width_of(screen), .indent = USAGE_INDENT};
    const char *at = command->arguments;

    screen_put(screen, SCREEN_STRONG, 0, "usage: gait ");
    screen_put(screen, SCREEN_STRONG, 0, command->name);
    flow.column = USAGE_INDENT + strlen(command->name);
    while (*at != '\0') {
        size_t length = 0;
        int depth = 0;

        for (; at[length] != '\0' && (depth > 0 || at[length] != ' '); length++)
            depth += (at[length] == '[') - (at[length] == ']');
        put_word(&flow, at, length);
        at += length + (at[length] == ' ');
    }
    screen_print(screen, "\n\n");
}

void help_screen_put(struct screen *screen, const struct command *command)
{
    struct help_block block = {.count = 0};
    struct help_text help;
    struct help_line line;

    put_usage(screen, command);
    help_text_begin(&help, command->details);
    while (help_text_next(&help, &line)) {
        bool goes_on = line.kind == HELP_MORE ||
                       (line.kind == HELP_PROSE && block.count != 0 && block.lines[0].kind == HELP_PROSE);

        if (!goes_on || block.count == LINES_MAX)
            put_block(screen, &block);
        if (line.kind == HELP_PROSE || line.kind == HELP_OPTION || line.kind == HELP_MORE)
            block.lines[block.count++] = line;
        else
            put_as_it_is(screen, &line);
    }
    put_block(screen, &block);
}
