/* SPDX-License-Identifier: MIT */
#include "cli/each_trace.h"

#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "gait/error.h"
#include "trace/stream_reader.h"

#include <stdio.h>

#define TEXT_BYTES 4200

static void put_head(const struct command_call *call, const char *path, bool is_first)
{
    char clean[TEXT_BYTES], text[TEXT_BYTES + 16];

    snprintf(text, sizeof(text), "%s==> %s <==\n", is_first ? "" : "\n", printable(clean, sizeof(clean), path));
    screen_put(call->screen, SCREEN_STRONG, 0, text);
}

/* As it is at the end of a command, where there is room for one error only. */
static void say_error(const struct command_call *call)
{
    bool is_warning = stream_error_is_cut_off(call->error);

    (void)fflush(call->screen->stream);
    if (call->error->text[0] != '\0')
        fprintf(stderr, "gait: %s%s\n", is_warning ? "warning: " : "", call->error->text);
    *call->error = (struct gait_error){.code = 0};
}

enum command_status each_trace_show(const struct command_call *call, const char *const *paths, size_t count,
                                    const struct each_trace *each)
{
    enum command_status first = COMMAND_DONE;

    for (size_t i = 0; i < count; i++) {
        enum command_status status;

        if (count > 1 && each->has_heads)
            put_head(call, paths[i], i == 0);
        status = each->show(call, paths[i], each->context);
        if (i + 1 < count)
            say_error(call);
        first = first == COMMAND_DONE ? status : first;
        /* What is wrong with the arguments is so for all. */
        if (status == COMMAND_MISUSED)
            break;
    }
    return first;
}
