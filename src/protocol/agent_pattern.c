/* SPDX-License-Identifier: MIT */
#include "protocol/agent_pattern.h"

#include "base/memory_functions.h"
#include "base/text_parse.h"

/* What /proc puts behind the path of a file that is gone. */
#define GONE " (deleted)"

/* Nobody has checked that it ends. */
static struct glob_text find_text(const char start[AGENT_PATTERN_BYTES])
{
    struct glob_text text = {start, 0};

    while (text.length < AGENT_PATTERN_BYTES && start[text.length] != '\0')
        text.length++;
    return text;
}

/* 0: it is none. */
static uint64_t read_address(struct glob_text text)
{
    uint64_t address;

    if (text.length < 3 || text.start[0] != '0' || text.start[1] != 'x' ||
        text_parse_number(text.start, text.length, &address) != 0)
        return 0;
    return address;
}

void agent_pattern_split(const struct agent_pattern *pattern, struct agent_pattern_parts *parts_out)
{
    struct glob_text text = find_text(pattern->text);
    size_t mark = 0;

    *parts_out = (struct agent_pattern_parts){{text.start, 0}, {text.start, 0}, find_text(pattern->other), 0};
    while (mark < text.length && text.start[mark] != '!')
        mark++;
    if (mark < text.length) {
        parts_out->module.length = mark;
        parts_out->function = (struct glob_text){text.start + mark + 1, text.length - mark - 1};
    } else if (pattern->use == AGENT_PATTERN_EXCLUDE) {
        parts_out->module = text;
    } else {
        parts_out->function = text;
    }
    parts_out->address = read_address(parts_out->function);
}

static struct glob_text without_gone(struct glob_text path)
{
    size_t mark = sizeof(GONE) - 1;

    if (path.length > mark && memcmp(path.start + path.length - mark, GONE, mark) == 0)
        path.length -= mark;
    return path;
}

static bool has_slash(struct glob_text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.start[i] == '/')
            return true;
    return false;
}

static struct glob_text base_name(struct glob_text path)
{
    size_t start = path.length;

    while (start > 0 && path.start[start - 1] != '/')
        start--;
    return (struct glob_text){path.start + start, path.length - start};
}

bool agent_pattern_has_module(const struct agent_pattern_parts *parts, struct glob_text path, bool is_program)
{
    if (parts->module.length == 0)
        return is_program && parts->function.length != 0;
    path = without_gone(path);
    return glob_matches(parts->module, has_slash(parts->module) ? path : base_name(path));
}

bool agent_pattern_has_function(const struct agent_pattern_parts *parts, struct glob_text name)
{
    return glob_matches(parts->function, name) || (parts->other.length != 0 && glob_matches(parts->other, name));
}

bool agent_pattern_is_whole(const struct agent_pattern_parts *parts)
{
    return parts->function.length == 0 || glob_is_all(parts->function);
}
