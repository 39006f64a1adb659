/* SPDX-License-Identifier: MIT */
/* gait stats. */
#include "cli/command.h"

#include "cli/arguments.h"
#include "cli/control_client.h"
#include "cli/printable.h"
#include "cli/screen.h"

#include <inttypes.h>
#include <string.h>

static void put_bytes(struct screen *screen, const char *name, uint64_t bytes, const char *what)
{
    if (bytes < 1u << 20)
        screen_print(screen, "%-10s %" PRIu64 " bytes of %s\n", name, bytes, what);
    else
        screen_print(screen, "%-10s %.1f MiB of %s\n", name, (double)bytes / (1 << 20), what);
}

static void put_stats(struct screen *screen, pid_t pid, const struct control_answer *answer)
{
    const struct control_stats *stats = &answer->stats;
    char path[CONTROL_TEXT_BYTES + 1], shown[CONTROL_TEXT_BYTES + 1];

    memcpy(path, answer->text, answer->text_bytes);
    path[answer->text_bytes] = '\0';
    screen_print(screen, "process    %d\n", (int)pid);
    screen_print(screen, "trace      %s\n", printable(shown, sizeof(shown), path));
    screen_print(screen, "recorded   for %.1f s\n", (double)stats->duration_ns / 1e9);
    screen_print(screen, "followed   %u %s in %u %s\n", stats->thread_count,
                 stats->thread_count == 1 ? "thread" : "threads", stats->process_count,
                 stats->process_count == 1 ? "process" : "processes");
    put_bytes(screen, "written", stats->written_bytes, "event records");
    put_bytes(screen, "lost", stats->lost_bytes, "event records");
    screen_print(screen, "buffers    %.0f %% full\n",
                 stats->buffer_bytes == 0 ? 0.0 : 100.0 * (double)stats->buffered_bytes / (double)stats->buffer_bytes);
}

static enum command_status run(const struct command_call *call)
{
    static const char *const names[] = {"PID"};
    static const struct argument_rules rules = {.command = "stats", .names = names, .name_count = 1};
    struct control_question question = {.operation = CONTROL_STATS};
    struct control_answer answer;
    const char *pid;
    enum command_status status = arguments_parse(call, &rules, &pid);

    if (status == COMMAND_DONE)
        status = control_client_read_pid(call, "stats", pid, &question.pid);
    if (status != COMMAND_DONE)
        return status;
    if (control_client_ask(&question, &answer, call->error) != 0)
        return COMMAND_FAILED;
    put_stats(call->screen, question.pid, &answer);
    return COMMAND_DONE;
}

extern const struct command command_stats;
const struct command command_stats = {
    .name = "stats",
    .arguments = "PID",
    .summary = "tell how a running recording gets on",
    .details = "Prints where the trace of the process is, for how long it has been recorded, how\n"
               "much was written and lost, and how full its buffers are.\n",
    .run = run,
};
