/* SPDX-License-Identifier: MIT */
/* Lines are told apart by how far they are indented, and by what they begin with. Stateless but for where it is. */
#include "cli/help_text.h"

#include <string.h>

static const char option_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";

void help_text_begin(struct help_text *help, const char *details)
{
    *help = (struct help_text){.at = details};
}

/* What is typed ends where two spaces are, or the line does. */
static size_t term_length(const struct help_line *line)
{
    for (size_t i = 0; i + 1 < line->length; i++)
        if (line->text[i] == ' ' && line->text[i + 1] == ' ')
            return i;
    return line->length;
}

static enum help_line_kind kind_of(struct help_text *help, const struct help_line *line)
{
    static const char examples[] = "Examples:";

    if (line->length == 0)
        return HELP_BLANK;
    if (line->indent == 0) {
        help->option_indent = 0;
        help->in_examples = line->length == sizeof(examples) - 1 && memcmp(line->text, examples, line->length) == 0;
        return help->in_examples ? HELP_EXAMPLES : HELP_PROSE;
    }
    if (help->in_examples)
        return HELP_EXAMPLE;
    if (line->text[0] == '-' && (help->option_indent == 0 || line->indent <= help->option_indent + 4)) {
        help->option_indent = line->indent;
        return HELP_OPTION;
    }
    return help->option_indent != 0 && line->indent > help->option_indent ? HELP_MORE : HELP_VERBATIM;
}

bool help_text_next(struct help_text *help, struct help_line *line_out)
{
    size_t length = strcspn(help->at, "\n");
    struct help_line line = {.indent = strspn(help->at, " ")};

    if (help->at[0] == '\0')
        return false;
    if (line.indent > length)
        line.indent = length;
    line.text = help->at + line.indent;
    line.length = length - line.indent;
    line.kind = kind_of(help, &line);
    if (line.kind == HELP_OPTION)
        line.term_bytes = term_length(&line);
    help->at += length + (help->at[length] == '\n');
    *line_out = line;
    return true;
}

bool help_option_next(const struct help_line *line, size_t *at, const char **name_out, size_t *name_bytes_out)
{
    for (; *at < line->term_bytes; (*at)++) {
        const char *name = line->text + *at;
        bool begins = *at == 0 || name[-1] == ' ';
        size_t length = strspn(name, option_letters);

        if (!begins || name[0] != '-' || length < 2)
            continue;
        *at += length;
        *name_out = name;
        *name_bytes_out = length;
        return true;
    }
    return false;
}
