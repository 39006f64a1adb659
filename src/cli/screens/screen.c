/* SPDX-License-Identifier: MIT */
/* All that knows of terminals. Styles are ECMA-48 sequences, which every terminal of this century understands. */
#define _GNU_SOURCE
#include "cli/screens/screen.h"

#include "hosted/error_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_DEFAULT 100
#define WIDTH_MIN     40
#define WIDTH_MAX     400
#define WORD_ROOM_MIN 16

static const char *const style_begins[] = {
    [SCREEN_PLAIN] = "",
    [SCREEN_FAINT] = "\033[2m",
    [SCREEN_STRONG] = "\033[1m",
    [SCREEN_CHANGED] = "\033[33m",
};
static const char style_ends[] = "\033[0m";

static bool wants_colours(FILE *stream)
{
    const char *refusal = getenv("NO_COLOR"), *terminal = getenv("TERM");

    if (refusal != NULL && refusal[0] != '\0')
        return false;
    if (terminal == NULL || strcmp(terminal, "dumb") == 0)
        return false;
    return isatty(fileno(stream));
}

static unsigned find_width(FILE *stream)
{
    const char *columns = getenv("COLUMNS");
    long width = columns == NULL ? 0 : strtol(columns, NULL, 10);
    struct winsize size;

    if (width <= 0 && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    if (width <= 0)
        return WIDTH_DEFAULT;
    return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : (unsigned)width;
}

void screen_init(struct screen *screen, FILE *stream)
{
    int saved = errno;

    screen->stream = stream;
    screen->width = find_width(stream);
    screen->has_colours = wants_colours(stream);
    screen->is_terminal = isatty(fileno(stream));
    errno = saved;
}

void screen_print(struct screen *screen, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(screen->stream, format, arguments);
    va_end(arguments);
}

void screen_put(struct screen *screen, enum screen_style style, unsigned columns, const char *text)
{
    bool is_styled = screen->has_colours && style != SCREEN_PLAIN;
    unsigned length = (unsigned)strlen(text);

    if (is_styled)
        fputs(style_begins[style], screen->stream);
    if (columns != 0 && length > columns)
        fprintf(screen->stream, "%.*s%.*s", columns > 2 ? (int)columns - 2 : 0, text, columns > 2 ? 2 : (int)columns,
                "..");
    else
        fputs(text, screen->stream);
    if (is_styled)
        fputs(style_ends, screen->stream);
    if (length < columns)
        fprintf(screen->stream, "%*s", (int)(columns - length), "");
}

void screen_put_words(struct screen *screen, unsigned indent, const char *text)
{
    size_t room = !screen->is_terminal || screen->width <= indent + WORD_ROOM_MIN ? SIZE_MAX : screen->width - indent;

    while (strlen(text) > room) {
        const char *end = memrchr(text, ' ', room + 1);

        /* One that is longer than a line is divided by the terminal. */
        end = end == NULL || end == text ? strchrnul(text + 1, ' ') : end;
        if (*end == '\0')
            break;
        fprintf(screen->stream, "%.*s\n%*s", (int)(end - text), text, (int)indent, "");
        text = end + 1;
    }
    fprintf(screen->stream, "%s\n", text);
}

int screen_finish(struct screen *screen, struct gait_error *err)
{
    bool failed_before = ferror(screen->stream) != 0;
    int code;

    errno = 0;
    if (fflush(screen->stream) == 0 && !failed_before)
        return 0;
    code = errno == 0 ? EIO : errno;
    return error_set(err, code, "cannot write the output: %s; try another place for it", strerror(code));
}
