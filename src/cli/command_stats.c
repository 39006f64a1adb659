/* SPDX-License-Identifier: MIT */
/* gait stats. */
#include "cli/command.h"

#include "base/counters.h"
#include "cli/control_client.h"
#include "cli/options/arguments.h"
#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/figures.h"
#include "ring/ring_pressure.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define BETWEEN_MS   250
#define NAME_COLUMNS 25

static void put_bytes(struct screen *screen, const char *name, uint64_t bytes, const char *what)
{
    char text[FIGURE_BYTES];

    screen_print(screen, "%-10s %s of %s\n", name, size_write(bytes, text), what);
}

static double seconds(uint64_t nanoseconds)
{
    return (double)nanoseconds / 1e9;
}

static double per_second(uint64_t count, uint64_t nanoseconds)
{
    return nanoseconds == 0 ? 0 : (double)count / seconds(nanoseconds);
}

/* How many there are now is what came between two answers; `before` is NULL if there was only one. */
static void put_events(struct screen *screen, const struct control_stats *stats, const struct control_stats *before)
{
    screen_print(screen, "events     %" PRIu64 ", %.0f a second", stats->record_count,
                 per_second(stats->record_count, stats->duration_ns));
    if (before != NULL && stats->duration_ns > before->duration_ns && stats->record_count >= before->record_count)
        screen_print(screen, ", now %.0f a second",
                     per_second(stats->record_count - before->record_count, stats->duration_ns - before->duration_ns));
    screen_print(screen, "\n");
}

static const char *state_name(uint32_t state)
{
    return state == CONTROL_LANE_FREE ? "free" : ring_pressure_name((enum ring_pressure)state);
}

static void put_lane(struct screen *screen, const struct control_lane *lane)
{
    char name[sizeof(lane->name) + 1] = "", shown[sizeof(name)], waited[FIGURE_BYTES];

    memcpy(name, lane->name, sizeof(lane->name));
    screen_print(screen, "%7d %7u  %-16s %-6s %-8s %-7s %3u %% %9" PRIu64 " %12s %12" PRIu64 "\n", (int)lane->pid,
                 lane->tid, printable(shown, sizeof(shown), name), lane->is_detail ? "detail" : "index",
                 state_name(lane->state), ring_drop_reason_name((enum ring_drop_reason)lane->drop_reason),
                 lane->full_percent, lane->wait_count, duration_write((double)lane->waited_ns, waited),
                 lane->lost_bytes);
}

static void put_lanes(struct screen *screen, const struct control_stats *stats)
{
    uint32_t used = 0;

    screen_print(screen, "lanes     ");
    for (uint32_t state = 0; state < CONTROL_LANE_STATES; state++) {
        screen_print(screen, "%s %u %s", state == 0 ? "" : ",", stats->lane_counts[state], state_name(state));
        used += state == CONTROL_LANE_FREE ? 0 : stats->lane_counts[state];
    }
    screen_print(screen, "\n");
    if (stats->lane_count == 0 || stats->lane_count > CONTROL_LANES_MAX)
        return;
    screen_print(screen, "\n");
    screen_put(screen, SCREEN_STRONG, 0,
               "    pid     tid  thread           lane   state    reason   full     waits       waited   bytes lost");
    screen_print(screen, "\n");
    for (uint32_t i = 0; i < stats->lane_count; i++)
        put_lane(screen, &stats->lanes[i]);
    if (used > stats->lane_count)
        screen_print(screen, "and %u more, in no worse a state\n", used - stats->lane_count);
}

/* A gait that records may count what this one does not know. */
static void put_counter(struct screen *screen, const struct control_counter *shared)
{
    static const struct counter_description unknown = {.unit = "?", .explanation = "(this gait does not know it)"};
    const struct counter_description *description = &unknown;
    char name[sizeof(shared->name) + 1] = "", shown[sizeof(name)];
    enum counter counter;

    memcpy(name, shared->name, sizeof(shared->name));
    if (counter_find(name, &counter) == 0)
        description = counter_describe(counter);
    screen_print(screen, "%15" PRIu64 " %-9s  %-*s  %s\n", shared->value, description->unit, NAME_COLUMNS,
                 printable(shown, sizeof(shown), name), description->explanation);
}

static void put_counters(struct screen *screen, const struct control_stats *stats)
{
    if (stats->counter_count == 0 || stats->counter_count > CONTROL_COUNTERS_MAX)
        return;
    screen_print(screen, "\n");
    screen_put(screen, SCREEN_STRONG, 0, "          count            counter");
    screen_print(screen, "\n");
    for (uint32_t i = 0; i < stats->counter_count; i++)
        put_counter(screen, &stats->counters[i]);
}

static void put_stats(struct screen *screen, pid_t pid, const struct control_answer *answer,
                      const struct control_stats *before)
{
    const struct control_stats *stats = &answer->stats;
    char path[CONTROL_TEXT_BYTES + 1], shown[CONTROL_TEXT_BYTES + 1], figure[FIGURE_BYTES];

    memcpy(path, answer->text, answer->text_bytes);
    path[answer->text_bytes] = '\0';
    screen_print(screen, "process    %d\n", (int)pid);
    screen_print(screen, "trace      %s\n", printable(shown, sizeof(shown), path));
    screen_print(screen, "recorded   for %s\n", duration_write((double)stats->duration_ns, figure));
    screen_print(screen, "followed   %u %s in %u %s\n", stats->thread_count,
                 stats->thread_count == 1 ? "thread" : "threads", stats->process_count,
                 stats->process_count == 1 ? "process" : "processes");
    put_events(screen, stats, before);
    put_bytes(screen, "written", stats->written_bytes, "event records");
    put_bytes(screen, "files", stats->file_bytes, "streams");
    put_bytes(screen, "lost", stats->lost_bytes, "event records");
    screen_print(screen, "waited     threads waited %s for the disk, %" PRIu64 " %s\n",
                 duration_write((double)stats->waited_ns, figure), stats->wait_count,
                 stats->wait_count == 1 ? "time" : "times");
    screen_print(screen, "buffers    %s full\n",
                 share_write((double)stats->buffered_bytes, (double)stats->buffer_bytes, figure));
    put_lanes(screen, stats);
    put_counters(screen, stats);
}

/* Asks twice: what came in between is how fast it is now. The second answer may not come: recordings end. */
static int ask(const struct control_question *question, struct control_answer *answer_out, struct control_stats *before,
               bool *has_before_out, struct gait_error *err)
{
    const struct timespec while_between = {.tv_nsec = BETWEEN_MS * 1000000};
    static struct control_answer first; /* large */
    struct gait_error ignored;
    int result = control_client_ask(question, &first, err);

    if (result != 0)
        return result;
    nanosleep(&while_between, NULL);
    *has_before_out = control_client_ask(question, answer_out, &ignored) == 0;
    if (*has_before_out)
        *before = first.stats;
    else
        *answer_out = first;
    return 0;
}

static enum command_status run(const struct command_call *call)
{
    static const char *const names[] = {"PID"};
    static const struct argument_rules rules = {.command = "stats", .names = names, .name_count = 1};
    struct control_question question = {.operation = CONTROL_STATS};
    static struct control_answer answer; /* large, both */
    static struct control_stats before;
    bool has_before;
    const char *pid;
    enum command_status status = arguments_parse(call, &rules, &pid);

    if (status == COMMAND_DONE)
        status = control_client_read_pid(call, "stats", pid, &question.pid);
    if (status != COMMAND_DONE)
        return status;
    if (ask(&question, &answer, &before, &has_before, call->error) != 0)
        return COMMAND_FAILED;
    put_stats(call->screen, question.pid, &answer, has_before ? &before : NULL);
    return COMMAND_DONE;
}

extern const struct command command_stats;
const struct command command_stats = {
    .name = "stats",
    .arguments = "PID",
    .summary = "show the progress of a running recording",
    .details = "Prints where the trace of the process is, for how long it has been recorded, how\n"
               "many events there were and are in a second, how much was written and lost, how\n"
               "long threads waited for it, and how full their buffers are; then the state of each\n"
               "lane, which is a thread's buffers, those that are worst off first:\n"
               "\n"
               "  filling     there is room\n"
               "  waiting     there is none, and the thread waits until there is\n"
               "  dropping    there is none, and what the thread does is lost. The reason: full\n"
               "              (of --overflow drop), silent (the recorder did nothing for two\n"
               "              seconds), leaving (the thread is no longer to be followed)\n"
               "\n"
               "An event is a record of the trace: a call, a return or a block, which also says\n"
               "the instructions in it and of the call at its end.\n"
               "\n"
               "Last come counters of what gait does inside of the processes, all of them\n"
               "together, with what they mean; those that are zero are left out.\n"
               "\n"
               "Examples:\n"
               "  gait stats 4711\n"
               "  watch -n 1 gait stats $(pidof redis-server)\n",
    .run = run,
};
