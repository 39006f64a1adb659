/* SPDX-License-Identifier: MIT */
/* gait probe: watches places in the kernel and in programs, by the kernel. */
#define _GNU_SOURCE
#include "cli/command.h"

#include "base/hash_map.h"
#include "base/text_hash.h"
#include "cli/kernel_probes.h"
#include "cli/options/probe_options.h"
#include "cli/screens/printable.h"
#include "cli/screens/probe_screen.h"
#include "cli/screens/screen.h"
#include "hosted/error_text.h"
#include "hosted/system_clock.h"
#include "inject/stop_signals.h"
#include "kernel/kernel_recorder.h"
#include "kernel/perf_reader.h"
#include "kernel/stack_unwinder.h"
#include "kernel/watch.h"
#include "record/recording.h"
#include "syscalls/program_start.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS       50
#define SIGNAL_STATUS 128

struct probing {
    const struct command_call *call;
    const struct probe_options *options;
    struct chosen_probes list;
    struct watch watch;
    struct probe_screen shown;
    struct recording recording;
    struct kernel_recorder *recorder; /* NULL: events are shown, or counted */
    pid_t child;                      /* 0: none */
    struct program_start start;       /* of the child */
    bool is_released;                 /* it was let go */
    int status;                       /* its, when it has ended */
    bool has_ended;
    bool is_to_end; /* nobody reads what is shown */
    uint64_t end_ms;
    uint64_t next_ms; /* when counts are shown next */
};

static bool is_told_to_end(const struct probing *probing)
{
    return probing->is_to_end || stop_signals_were_sent() || stop_signals_were_typed();
}

/* ---- what to probe ----------------------------------------------------------------------------------------------- */

static enum command_status find_probes(struct probing *probing)
{
    const struct probe_options *options = probing->options;
    struct gait_error *err = probing->call->error;

    for (size_t i = 0; i < options->spec_count; i++) {
        int result = chosen_probes_add(&probing->list, options->specs[i], err);

        if (result == -ENOENT)
            kernel_probes_suggest(options->specs[i], err);
        if (result != 0)
            return result == -EINVAL || result == -ENOENT || result == -E2BIG ? COMMAND_MISUSED : COMMAND_FAILED;
    }
    if (probing->list.left_out != 0 && !options->is_quiet)
        fprintf(stderr, "gait: %zu places cannot be watched and are left out\n", probing->list.left_out);
    return COMMAND_DONE;
}

/* ---- listing ----------------------------------------------------------------------------------------------------- */

struct listed_places {
    struct probing *probing;
    size_t count;
    struct hash_map seen; /* hashes of what was listed */
};

/* Names may be in several tables of a file, and be those of several functions: what is asked for is the same. */
static bool was_listed(struct listed_places *listing, const char *text)
{
    uint64_t hash = text_hash(text), known;

    if (hash_map_lookup(&listing->seen, hash, &known))
        return true;
    /* Without memory, it may be listed again. */
    (void)!hash_map_set(&listing->seen, hash, 1);
    hash_map_reclaim(&listing->seen);
    return false;
}

static int list_one(void *context, const char *text)
{
    struct listed_places *listing = context;
    struct probe_spec spec;
    struct source_probe probe;
    struct gait_error err;
    char clean[1024];

    if (was_listed(listing, text))
        return 0;
    listing->count++;
    if (probe_spec_parse(text, &spec, &err) != 0)
        return 0;
    if (source_of(spec.kind)->resolve(&spec, &probe, &err) == 0) {
        probe_screen_put_probe(listing->probing->call->screen, &probe);
        source_probe_deinit(&probe);
    } else {
        screen_print(listing->probing->call->screen, "%s\n", printable(clean, sizeof(clean), text));
    }
    probe_spec_deinit(&spec);
    return is_told_to_end(listing->probing) ? -EINTR : 0;
}

static int list_spec(struct listed_places *listing, const char *text, struct gait_error *err)
{
    struct probe_spec spec;
    int result = probe_spec_parse(text, &spec, err);

    if (result != 0)
        return result;
    result = source_list(&spec, list_one, listing, err);
    probe_spec_deinit(&spec);
    return result;
}

/* Without a kind: in all sources that know their places without being told a file. */
static int list_everywhere(struct listed_places *listing, const char *glob, struct gait_error *err)
{
    static const char *const forms[] = {"tracepoint:*:%s", "software:%s", "hardware:%s", "kprobe:%s", "fentry:%s"};
    struct gait_error first = {.code = 0}, why;

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        char text[256];
        int result;

        /* What would be listed twice, or needs minutes, is listed when it is asked for. */
        if (i >= 3 && strcmp(glob, "*") == 0)
            break;
        snprintf(text, sizeof(text), forms[i], glob);
        result = list_spec(listing, text, &why);
        if (result == -EINTR)
            return 0;
        if (result != 0 && first.code == 0 && i < 3)
            first = why;
    }
    if (listing->count == 0 && first.code != 0) {
        *err = first;
        return -first.code;
    }
    return 0;
}

static enum command_status list(struct probing *probing)
{
    const struct probe_options *options = probing->options;
    struct listed_places listing = {.probing = probing};
    int result = hash_map_init(&listing.seen, 1024);

    if (result != 0)
        return error_set(probing->call->error, ENOMEM, "cannot list anything: there is no memory"), COMMAND_FAILED;
    if (options->spec_count == 0)
        result = list_everywhere(&listing, "*", probing->call->error);
    for (size_t i = 0; i < options->spec_count && result == 0; i++)
        result = strchr(options->specs[i], ':') == NULL
                     ? list_everywhere(&listing, options->specs[i], probing->call->error)
                     : list_spec(&listing, options->specs[i], probing->call->error);
    hash_map_deinit(&listing.seen);
    if (result != 0)
        return result == -EINVAL ? COMMAND_MISUSED : COMMAND_FAILED;
    if (listing.count != 0)
        return COMMAND_DONE;
    (void)error_set(probing->call->error, ENOENT,
                    "there is nothing like that to probe; try *, or part of a name as *open*");
    return COMMAND_FAILED;
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

/* It waits until all is set up. That there is no such program is told before anything is made. */
static int prepare_child(struct probing *probing)
{
    const struct program_setup setup = {.program = probing->options->program};
    int result;

    if (setup.program == NULL)
        return 0;
    result = program_start_begin(&setup, &probing->start, probing->call->error);
    if (result == 0)
        probing->child = probing->start.pid;
    return result;
}

static int release_child(struct probing *probing)
{
    if (probing->child == 0)
        return 0;
    probing->is_released = true;
    program_start_go(&probing->start);
    return program_start_finish(&probing->start, probing->options->program[0], probing->call->error);
}

/* One that has not begun never does; one that has is waited for. */
static void wait_for_child(struct probing *probing)
{
    if (probing->child == 0 || probing->has_ended)
        return;
    if (!probing->is_released)
        program_start_abandon(&probing->start);
    else
        while (waitpid(probing->child, &probing->status, 0) < 0 && errno == EINTR)
            continue;
    probing->has_ended = true;
}

/* The exit status that a shell would give. */
static enum command_status status_of(int status)
{
    return (enum command_status)(WIFSIGNALED(status) ? SIGNAL_STATUS + WTERMSIG(status) : WEXITSTATUS(status));
}

static void look_at_child(struct probing *probing)
{
    if (probing->child != 0 && !probing->has_ended)
        probing->has_ended = waitpid(probing->child, &probing->status, WNOHANG) == probing->child;
}

/* ---- watching ---------------------------------------------------------------------------------------------------- */

static int open_watch(struct probing *probing)
{
    const struct probe_options *options = probing->options;
    const struct watch_options wanted = {
        .session =
            {
                .pid = options->is_all       ? 0
                       : probing->child != 0 ? probing->child
                                             : options->pid,
                .starts_on_exec = probing->child != 0 && !options->is_all,
                .with_stacks = options->with_stacks,
                .with_copies = true,
                .is_ordered = options->output == NULL,
                .ring_bytes = options->buffer_bytes,
            },
        .condition = options->condition,
        .is_counting = options->is_counting,
        .by = options->by,
        .measure = options->measure,
    };

    return watch_open(&probing->watch, &probing->list, &wanted, probing->call->error);
}

static int open_recording(struct probing *probing)
{
    const struct probe_options *options = probing->options;
    const struct recording_options wanted = {
        .output = options->output,
        .program = options->program != NULL ? options->program[0] : "probe",
        .arguments = options->program != NULL ? options->program : options->specs,
        .compress = options->compress,
    };
    struct kernel_recorder_options kernel = {
        .compress = options->compress, .with_modules = options->with_stacks, .list = &probing->list};
    int result = recording_create(&wanted, &probing->recording, probing->call->error);

    /* There will be no process with which the manifest is written. */
    if (result == 0)
        result = ring_drain_take(&probing->recording.drain, probing->call->error);
    if (result != 0)
        return result;
    kernel.folder = probing->recording.folder;
    return kernel_recorder_create(&kernel, &probing->recorder, probing->call->error);
}

static int prepare_output(struct probing *probing)
{
    struct gait_error *err = probing->call->error;

    if (probing->options->output != NULL)
        return open_recording(probing);
    if (probe_screen_init(&probing->shown, probing->call->screen, &probing->list) != 0)
        return error_set(err, ENOMEM, "cannot show events: there is no memory");
    probing->shown.limit = probing->options->limit;
    return 0;
}

static bool is_over(struct probing *probing)
{
    look_at_child(probing);
    if (is_told_to_end(probing) || system_clock_ms() >= probing->end_ms)
        return true;
    if (probing->has_ended || (probing->options->pid != 0 && kill(probing->options->pid, 0) != 0 && errno == ESRCH))
        return true;
    if (probing->recorder != NULL)
        return probing->options->limit != 0 && kernel_recorder_events(probing->recorder) >= probing->options->limit;
    return !probing->options->is_counting && probe_screen_is_full(&probing->shown);
}

static void show_counts(struct probing *probing)
{
    probe_screen_put_counts(probing->call->screen, &probing->list, &probing->watch.programs, probing->options->by,
                            probing->options->measure);
    fflush(probing->call->screen->stream);
}

static void count(struct probing *probing)
{
    unsigned seconds = probing->options->interval_seconds;

    probing->next_ms = seconds == 0 ? UINT64_MAX : system_clock_ms() + 1000 * (uint64_t)seconds;
    while (!is_over(probing)) {
        struct timespec moment = {.tv_nsec = WAIT_MS * 1000000};

        nanosleep(&moment, NULL);
        if (system_clock_ms() >= probing->next_ms) {
            show_counts(probing);
            probing->next_ms += 1000 * (uint64_t)seconds;
        }
    }
    show_counts(probing);
}

static int drain(struct probing *probing, bool is_last)
{
    const struct perf_receiver receiver = probing->recorder != NULL ? kernel_recorder_receiver(probing->recorder)
                                                                    : probe_screen_receiver(&probing->shown);
    int result = 0;

    (void)perf_reader_drain(&probing->watch.session, &receiver, is_last);
    if (probing->recorder != NULL) {
        result = kernel_recorder_flush(probing->recorder);
        if (result != 0)
            (void)error_set(probing->call->error, result, "cannot write the trace: %s", strerror(-result));
    } else if (fflush(probing->call->screen->stream) != 0) {
        probing->is_to_end = true;
    }
    return result;
}

static int watch(struct probing *probing)
{
    int result = 0;

    while (result == 0 && !is_over(probing)) {
        perf_reader_wait(&probing->watch.session, -1, WAIT_MS);
        result = drain(probing, false);
    }
    perf_session_disable(&probing->watch.session);
    if (result == 0)
        result = drain(probing, true);
    return result;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* How many. */
static uint64_t say_losses(const struct probing *probing)
{
    uint64_t total = 0;

    for (size_t i = 0; i < probing->list.count; i++) {
        uint64_t lost = perf_session_lost(&probing->watch.session, i);

        if (lost != 0)
            fprintf(stderr, "gait: %" PRIu64 " events of %s were lost; a larger --buffer may help\n", lost,
                    probing->list.probes[i]->spec);
        total += lost;
    }
    return total;
}

/* Whoever sees an empty screen would not know whether anything was watched. */
static void say_end(const struct probing *probing, int result)
{
    const struct stack_unwinder *unwinder = probing->watch.session.unwinder;
    uint64_t lost = say_losses(probing);

    if (unwinder != NULL && unwinder->cut_count != 0 && !probing->options->is_quiet)
        fprintf(stderr, "gait: %" PRIu64 " stacks are cut off: they were too deep, or lead through code without tables\n",
                unwinder->cut_count);
    if (result == 0 && probing->recorder == NULL && probing->shown.shown == 0 && lost == 0 &&
        !probing->options->is_quiet)
        fprintf(stderr, "gait: there were no events\n");
}

static int finish_recording(struct probing *probing, int result)
{
    struct gait_error *err = probing->call->error;
    uint64_t events = kernel_recorder_events(probing->recorder), bytes;
    const char *how = result != 0                    ? "interrupted"
                      : !probing->has_ended          ? "detached"
                      : WIFSIGNALED(probing->status) ? "signal"
                                                     : "exit";
    int ended;

    (void)!kernel_recorder_flush(probing->recorder);
    bytes = kernel_recorder_bytes(probing->recorder);
    ended = kernel_recorder_end(probing->recorder, &probing->watch.session);
    if (ended != 0 && result == 0)
        result = error_set(err, ended, "cannot write the trace: %s", strerror(-ended));
    ended = recording_end(&probing->recording, how, result == 0 ? err : NULL);
    if (!probing->options->is_quiet)
        fprintf(stderr, "gait: %" PRIu64 " events of the kernel, %" PRIu64 " KiB, in %s\n", events,
                (bytes + 1023) >> 10, probing->recording.path);
    free(probing->recording.path);
    return result != 0 ? result : ended;
}

static enum command_status run_watch(struct probing *probing)
{
    int result = open_watch(probing);

    if (result != 0) {
        wait_for_child(probing);
        return result == -EINVAL || result == -ENOENT || result == -E2BIG ? COMMAND_MISUSED : COMMAND_FAILED;
    }
    result = prepare_output(probing);
    if (result == 0)
        result = watch_start(&probing->watch, probing->call->error);
    if (result == 0)
        result = release_child(probing);
    probing->end_ms = probing->options->duration_seconds == 0
                          ? UINT64_MAX
                          : system_clock_ms() + 1000 * (uint64_t)probing->options->duration_seconds;
    if (result == 0 && probing->options->is_counting)
        count(probing);
    else if (result == 0)
        result = watch(probing);
    wait_for_child(probing);
    if (!probing->options->is_counting)
        say_end(probing, result);
    if (probing->recorder != NULL)
        result = finish_recording(probing, result);
    else if (probing->shown.screen != NULL)
        probe_screen_deinit(&probing->shown);
    watch_close(&probing->watch);
    if (result != 0)
        return COMMAND_FAILED;
    return probing->child == 0 ? COMMAND_DONE : status_of(probing->status);
}

static enum command_status run(const struct command_call *call)
{
    struct probe_options options;
    struct probing probing = {.call = call, .options = &options};
    enum command_status status = probe_options_parse(call, &options);

    if (status != COMMAND_DONE)
        return status;
    stop_signals_take();
    if (options.is_list)
        return list(&probing);
    status = find_probes(&probing);
    if (status == COMMAND_DONE)
        status = prepare_child(&probing) == 0 ? run_watch(&probing) : COMMAND_FAILED;
    chosen_probes_deinit(&probing.list);
    return status;
}

extern const struct command command_probe;
const struct command command_probe = {
    .name = "probe",
    .arguments = "[options] SPEC... [-- PROGRAM [ARG...]]",
    .summary = "watches places in the kernel and in programs, by the kernel",
    .details = "Shows what passes the places that are named, of a program that it starts, and ends\n"
               "with its exit status; of a process (-p); or of the whole system. Places are\n"
               "written as for bpftrace; names may have * and ? in them:\n"
               "\n"
               "  tracepoint:GROUP:NAME          uprobe:PATH:FUNCTION[+OFFSET]\n"
               "  rawtracepoint:NAME             uretprobe:PATH:FUNCTION\n"
               "  kprobe:FUNCTION[+OFFSET]       usdt:PATH:[PROVIDER:]NAME\n"
               "  kretprobe:FUNCTION             software:EVENT[:COUNT]\n"
               "  fentry:FUNCTION                hardware:EVENT[:COUNT]\n"
               "  fexit:FUNCTION                 profile:hz:N\n"
               "\n"
               "  -p, --pid PID       only this process, and those that it makes\n"
               "  -a, --all           the whole system, also while a program is run\n"
               "  -l, --list [GLOB]   lists what there is, with arguments\n"
               "  -o, --output DIR    records into a trace in that folder, for gait report, replay,\n"
               "                      query and export\n"
               "  --if EXPR           only events for which it holds, chosen by the kernel:\n"
               "                      'fd == 3 && count > 4096'; arguments of functions have\n"
               "                      numbers besides their names: arg0, arg1\n"
               "  --stack             with call stacks, of the kernel and of the program\n"
               "  --count             only counts, in the kernel, and shows how many at the end\n"
               "  --by VALUE          the same for each value of a field, or of pid, tid, uid, cpu,\n"
               "                      comm\n"
               "  --hist FIELD        the same by powers of two of a field's value\n"
               "  --interval SEC      shows counts that often\n"
               "  --duration SEC      ends after that many seconds\n"
               "  --limit N           ends after that many events\n"
               "  --buffer SIZE       of each CPU's ring (8M); K and M count\n"
               "  --compress          compresses what is recorded\n"
               "  --quiet             prints nothing but errors\n"
               "\n"
               "Examples:\n"
               "  gait probe -l 'tracepoint:sched:*'\n"
               "  gait probe tracepoint:syscalls:sys_enter_openat -- ls\n"
               "  gait probe uprobe:libc:malloc --if 'arg0 > 4096' -p 1234\n"
               "  gait probe --by id tracepoint:raw_syscalls:sys_enter --duration 5\n"
               "  gait probe --hist ret tracepoint:syscalls:sys_exit_read -- cat /etc/passwd\n"
               "  gait probe -o . --stack profile:hz:99 -- make\n",
    .takes_program = true,
    .run = run,
};
