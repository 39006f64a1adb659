/* SPDX-License-Identifier: MIT */
/*
 * Paragraphs of the help are filled, options become entries of a list, tables and examples stay as they are. All text is
 * data: what man would take for a request or an escape is spelled so that it does not.
 */
#include "cli/screens/manual_page.h"

#include "cli/command.h"
#include "cli/help_text.h"
#include "cli/screens/screen.h"
#include "gait/version.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define VERBATIM_INDENT 1u /* the least that such lines have: man indents by itself */

struct manual_page {
    struct screen *screen;
    bool is_filled;   /* not between .nf and .fi */
    bool has_options; /* their heading was written */
    enum help_line_kind last;
    size_t last_indent;
};

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* A dash is one to be typed. A line that begins with a dot or an apostrophe is no request. */
static void put_text(struct screen *screen, const char *text, size_t length)
{
    if (length > 0 && (text[0] == '.' || text[0] == '\''))
        screen_print(screen, "\\&");
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\')
            screen_print(screen, "\\e");
        else if (text[i] == '-')
            screen_print(screen, "\\-");
        else if (text[i] == '\'')
            screen_print(screen, "\\(aq");
        else if (text[i] == '^' || text[i] == '~')
            screen_print(screen, text[i] == '^' ? "\\(ha" : "\\(ti");
        else
            screen_print(screen, "%c", text[i]);
    }
    screen_print(screen, "\n");
}

static void put_filled(struct manual_page *page, bool wants_filled)
{
    if (page->is_filled != wants_filled)
        screen_print(page->screen, wants_filled ? ".fi\n" : ".nf\n");
    page->is_filled = wants_filled;
}

/* Titles are in capitals. */
static void put_name(struct screen *screen, const char *name, bool as_title)
{
    for (; *name != '\0'; name++)
        screen_print(screen, *name == ' ' ? "\\-" : "%c", as_title ? toupper((unsigned char)*name) : *name);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static void put_option(struct manual_page *page, const struct help_line *line)
{
    const char *explanation = line->text + line->term_bytes;
    size_t rest = line->length - line->term_bytes, spaces = 0;

    put_filled(page, true);
    if (!page->has_options)
        screen_print(page->screen, ".SH OPTIONS\n");
    page->has_options = true;
    screen_print(page->screen, ".TP\n\\fB");
    put_text(page->screen, line->text, line->term_bytes);
    screen_print(page->screen, "\\fR");
    while (spaces < rest && explanation[spaces] == ' ')
        spaces++;
    if (rest > spaces)
        put_text(page->screen, explanation + spaces, rest - spaces);
}

/* Where the text of an option moves to the right, there is a list in it. */
static void put_more(struct manual_page *page, const struct help_line *line)
{
    if (page->last == HELP_BLANK || (page->last == HELP_MORE && page->last_indent != line->indent))
        screen_print(page->screen, ".br\n");
    put_text(page->screen, line->text, line->length);
}

static void put_prose(struct manual_page *page, const struct help_line *line)
{
    put_filled(page, true);
    if (page->has_options && page->last == HELP_BLANK)
        screen_print(page->screen, ".SH NOTES\n");
    page->has_options = page->has_options && page->last != HELP_BLANK;
    put_text(page->screen, line->text, line->length);
}

static void put_line(struct manual_page *page, const struct help_line *line)
{
    switch (line->kind) {
    case HELP_BLANK:
        put_filled(page, true);
        if (!page->has_options)
            screen_print(page->screen, ".PP\n");
        break;
    case HELP_PROSE:
        put_prose(page, line);
        break;
    case HELP_OPTION:
        put_option(page, line);
        break;
    case HELP_MORE:
        put_more(page, line);
        break;
    case HELP_EXAMPLES:
        put_filled(page, true);
        screen_print(page->screen, ".SH EXAMPLES\n");
        break;
    case HELP_VERBATIM:
    case HELP_EXAMPLE:
        put_filled(page, false);
        screen_print(page->screen, "%*s", (int)(line->indent - VERBATIM_INDENT), "");
        put_text(page->screen, line->text, line->length);
        break;
    }
    page->last = line->kind;
    page->last_indent = line->indent;
}

void manual_page_put(struct screen *screen, const struct command *command)
{
    struct manual_page page = {.screen = screen, .is_filled = true, .last = HELP_BLANK};
    struct help_text help;
    struct help_line line;

    screen_print(screen, ".\\\" SPDX-License-Identifier: MIT\n.TH \"GAIT\\-");
    put_name(screen, command->name, true);
    screen_print(screen, "\" 1 \"\" \"gait %d.%d.%d\" \"User Commands\"\n.SH NAME\ngait\\-", GAIT_VERSION_MAJOR,
                 GAIT_VERSION_MINOR, GAIT_VERSION_PATCH);
    put_name(screen, command->name, false);
    screen_print(screen, " \\- ");
    put_text(screen, command->summary, strlen(command->summary));
    screen_print(screen, ".SH SYNOPSIS\n.B gait %s\n", command->name);
    put_text(screen, command->arguments, strlen(command->arguments));
    screen_print(screen, ".SH DESCRIPTION\n");
    help_text_begin(&help, command->details);
    while (help_text_next(&help, &line))
        put_line(&page, &line);
    put_filled(&page, true);
    screen_print(screen, ".SH SEE ALSO\n.BR gait (1)\n");
}
