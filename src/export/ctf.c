/* SPDX-License-Identifier: MIT */
/*
 * A folder in the Common Trace Format 1.8, which babeltrace2 and Trace Compass read: a file "metadata" that says what
 * the others look like, and a stream for each thread, in which calls begin and end by name. System calls and probes of
 * a thread are streams of their own, and so are the events of the kernel. The folder must not be there yet, or be
 * empty: other files in it would be taken for streams.
 */
#define _GNU_SOURCE
#include "export/call_flag_names.h"
#include "export/ctf_packets.h"
#include "export/export_calls.h"
#include "export/export_records.h"
#include "export/export_text.h"
#include "export/function_texts.h"
#include "hosted/error_text.h"
#include "trace/kernel_event_text.h"
#include "view/kernel_stack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define STREAM_NAME_BYTES  96
#define KERNEL_STREAM_NAME "kernel"

struct ctf {
    const struct export_job *job;
    int folder;
    struct function_texts texts;
    struct ctf_packets *packets;
    char name[STREAM_NAME_BYTES]; /* of the stream that is written */
    int open_error;               /* why it cannot be made; 0: it can */
};

/* ---- events ------------------------------------------------------------------------------------------------------ */

static int put_begin(void *context, const struct export_call *call)
{
    struct ctf *ctf = context;
    const char *name = function_texts_get(&ctf->texts, call->function);

    if (name == NULL)
        return -ENOMEM;
    ctf_begin_event(ctf->packets, call->flags & CALL_ENTRY_ONLY ? CTF_ENTRY : CTF_CALL_BEGIN, call->begin_ns);
    ctf_put_text(ctf->packets, name);
    ctf_put_number(ctf->packets, view_functions_at(ctf->job->functions, call->function)->address, 8);
    ctf_put_number(ctf->packets, call->depth, 4);
    return ferror(ctf->packets->stream) != 0;
}

static int put_end(void *context, const struct export_call *call)
{
    struct ctf *ctf = context;
    const char *name = function_texts_get(&ctf->texts, call->function);
    uint64_t duration_ns = call->end_ns - call->begin_ns;

    if (call->flags & CALL_ENTRY_ONLY)
        return 0;
    if (name == NULL)
        return -ENOMEM;
    ctf_begin_event(ctf->packets, CTF_CALL_END, call->end_ns);
    ctf_put_text(ctf->packets, name);
    ctf_put_number(ctf->packets, duration_ns, 8);
    ctf_put_number(ctf->packets, duration_ns - call->inner_ns, 8);
    ctf_put_text(ctf->packets, call_flag_names(call->flags));
    return ferror(ctf->packets->stream) != 0;
}

static int put_gap(void *context, size_t thread, uint64_t time_ns, uint64_t lost_bytes)
{
    struct ctf *ctf = context;

    (void)thread;
    ctf_begin_event(ctf->packets, CTF_LOST, time_ns);
    ctf_put_number(ctf->packets, lost_bytes, 8);
    return ferror(ctf->packets->stream) != 0;
}

static FILE *open_file(const struct ctf *ctf, const char *name)
{
    int fd = openat(ctf->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");

    if (stream == NULL && fd >= 0)
        close(fd);
    return stream;
}

/* Streams of what is no call are made when there is something for them, and are by time, as others are. */
static int begin_other(struct ctf *ctf, enum ctf_event event, uint64_t time_ns)
{
    struct ctf_packets *packets = ctf->packets;

    if (packets->stream == NULL) {
        packets->stream = open_file(ctf, ctf->name);
        packets->last_ns = 0;
    }
    if (packets->stream == NULL) {
        ctf->open_error = errno;
        return 1;
    }
    ctf_begin_event(packets, event, time_ns > packets->last_ns ? time_ns : packets->last_ns);
    return 0;
}

static void put_clean(struct ctf *ctf, const char *text)
{
    char clean[CTF_NAME_BYTES];

    export_text_clean(clean, sizeof(clean), text);
    ctf_put_text(ctf->packets, clean);
}

/* Told when it returns: that is the order in which they are read. */
static int put_system_call(void *context, const struct export_system_call *call)
{
    struct ctf *ctf = context;

    if (begin_other(ctf, CTF_SYSTEM_CALL, call->end_ns) != 0)
        return 1;
    put_clean(ctf, call->name);
    ctf_put_number(ctf->packets, call->end_ns - call->begin_ns, 8);
    ctf_put_number(ctf->packets, (uint64_t)call->result, 8);
    put_clean(ctf, call->text);
    return ferror(ctf->packets->stream) != 0;
}

static int put_probe(void *context, const struct export_probe *probe)
{
    struct ctf *ctf = context;

    if (begin_other(ctf, CTF_PROBE, probe->time_ns) != 0)
        return 1;
    put_clean(ctf, probe->name);
    put_clean(ctf, probe->arguments);
    return ferror(ctf->packets->stream) != 0;
}

static int put_kernel_event(void *context, const struct export_kernel_event *told)
{
    struct ctf *ctf = context;
    char fields[CTF_NAME_BYTES], *stack;

    if (begin_other(ctf, CTF_KERNEL, told->time_ns) != 0)
        return 1;
    (void)kernel_event_fields_write(told->source, told->event, fields, sizeof(fields));
    stack = kernel_stack_write(ctf->job->functions, told->sources, told->event);
    put_clean(ctf, told->source->name);
    ctf_put_number(ctf->packets, told->event->cpu, 4);
    ctf_put_number(ctf->packets, told->event->pid, 4);
    ctf_put_number(ctf->packets, told->event->tid, 4);
    put_clean(ctf, told->thread);
    put_clean(ctf, fields);
    put_clean(ctf, stack == NULL ? "" : stack);
    free(stack);
    return ferror(ctf->packets->stream) != 0;
}

/* ---- streams -------------------------------------------------------------------------------------------------------
 */

static int refuse(const struct ctf *ctf, const char *name, int code, struct gait_error *err)
{
    return error_set(err, code, "cannot write '%s/%s': %s", ctf->job->path, name, strerror(code));
}

/* What was written is whole, or there is an error. */
static int close_file(const struct ctf *ctf, FILE *stream, const char *name, struct gait_error *err)
{
    bool has_failed = ferror(stream) != 0;

    errno = 0;
    if (fclose(stream) != 0 || has_failed)
        return refuse(ctf, name, errno == 0 ? EIO : errno, err);
    return 0;
}

static int write_metadata(const struct ctf *ctf, struct gait_error *err)
{
    FILE *stream = open_file(ctf, "metadata");

    if (stream == NULL)
        return refuse(ctf, "metadata", errno, err);
    ctf_metadata_write(stream, &ctf->job->trace->manifest, ctf->packets->uuid);
    return close_file(ctf, stream, "metadata", err);
}

static void name_stream(struct ctf *ctf, size_t thread, const char *kind)
{
    const struct view_trace *trace = ctf->job->trace;
    const struct view_process *process = view_trace_process_of(trace, thread);

    snprintf(ctf->name, sizeof(ctf->name), "process_%" PRIu32 ".%" PRIu32 "_thread_%" PRIu32 ".%" PRIu32 "%s",
             process->pid, process->image, trace->threads[thread].tid, trace->threads[thread].generation, kind);
}

/* Ends the stream, if there is one. *written_out: as below. */
static int end_stream(struct ctf *ctf, int result, int *written_out, struct gait_error *err)
{
    struct gait_error why;

    *written_out = 0;
    if (ctf->open_error != 0) {
        *written_out = refuse(ctf, ctf->name, ctf->open_error, &why);
    } else if (ctf->packets->stream != NULL) {
        ctf_end_packet(ctf->packets);
        *written_out = close_file(ctf, ctf->packets->stream, ctf->name, &why);
    }
    ctf->packets->stream = NULL;
    if (*written_out != 0 && err != NULL)
        *err = why;
    return *written_out != 0 ? *written_out : result > 0 ? 0 : result;
}

/* *written_out: 0, or an error after which nothing of the folder is of use; the result is that of reading. */
static int write_calls(struct ctf *ctf, size_t thread, int *written_out, struct gait_error *err)
{
    const struct export_receiver receiver = {put_begin, put_end, put_gap, ctf};

    name_stream(ctf, thread, "");
    ctf->packets->stream = open_file(ctf, ctf->name);
    if (ctf->packets->stream == NULL)
        return *written_out = refuse(ctf, ctf->name, errno, err);
    return end_stream(ctf, export_calls_read(ctf->job, thread, &receiver, err), written_out, err);
}

static int write_system_calls(struct ctf *ctf, size_t thread, int *written_out, struct gait_error *err)
{
    const struct export_system_call_receiver receiver = {put_system_call, ctf};

    name_stream(ctf, thread, "_syscalls");
    return end_stream(ctf, export_system_calls_read(ctf->job, thread, &receiver, err), written_out, err);
}

static int write_probes(struct ctf *ctf, size_t thread, int *written_out, struct gait_error *err)
{
    const struct export_probe_receiver receiver = {put_probe, ctf};

    name_stream(ctf, thread, "_probes");
    return end_stream(ctf, export_probes_read(ctf->job, thread, &receiver, err), written_out, err);
}

static int write_thread(struct ctf *ctf, size_t thread, int *written_out, struct gait_error *err)
{
    const struct view_trace *trace = ctf->job->trace;
    char name[4 * sizeof(trace->manifest.processes->threads->name)];
    int (*const writers[])(struct ctf *, size_t, int *, struct gait_error *) = {write_calls, write_system_calls,
                                                                                write_probes};
    int first = 0;

    (void)export_text_clean(name, sizeof(name), trace->threads[thread].name);
    ctf->packets->pid = view_trace_process_of(trace, thread)->pid;
    ctf->packets->tid = trace->threads[thread].tid;
    ctf->packets->thread = name;
    for (size_t i = trace->threads[thread].piece_count == 0; i < 3 && *written_out == 0; i++) {
        int result = writers[i](ctf, thread, written_out, err);

        first = first == 0 || *written_out != 0 ? result : first;
    }
    ctf->packets->thread = "";
    return first;
}

static int write_kernel(struct ctf *ctf, int *written_out, struct gait_error *err)
{
    const struct export_kernel_receiver receiver = {put_kernel_event, ctf};

    snprintf(ctf->name, sizeof(ctf->name), KERNEL_STREAM_NAME);
    ctf->packets->pid = ctf->packets->tid = 0;
    ctf->packets->thread = KERNEL_STREAM_NAME;
    return end_stream(ctf, export_kernel_read(ctf->job, &receiver, err), written_out, err);
}

/* ---- the folder -------------------------------------------------------------------------------------------------- */

static int open_folder(struct ctf *ctf, struct gait_error *err)
{
    const char *path = ctf->job->path;

    /* Only an empty folder can be removed, and made again. */
    if (rmdir(path) != 0 && errno != ENOENT)
        return error_set(err, EEXIST, "cannot write '%s': it is there already, and no empty folder; try another name",
                         path);
    if (mkdir(path, 0777) != 0)
        return error_set(err, errno, "cannot make the folder '%s': %s", path, strerror(errno));
    ctf->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (ctf->folder < 0)
        return error_set(err, errno, "cannot open the folder '%s': %s", path, strerror(errno));
    return 0;
}

/* It was made here, and all that is in it. */
static void remove_folder(const struct ctf *ctf)
{
    DIR *folder = opendir(ctf->job->path);
    const struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.')
            unlinkat(ctf->folder, entry->d_name, 0);
    if (folder != NULL)
        closedir(folder);
    rmdir(ctf->job->path);
}

static int write_folder(struct ctf *ctf, struct gait_error *err)
{
    int first = 0, written = write_metadata(ctf, err);

    for (size_t i = 0; i < ctf->job->thread_count + ctf->job->silent_count && written == 0; i++) {
        int result = write_thread(ctf, ctf->job->threads[i], &written, err);

        first = first == 0 ? result : first;
    }
    if (written == 0) {
        int result = write_kernel(ctf, &written, err);

        first = first == 0 ? result : first;
    }
    if (written != 0)
        remove_folder(ctf);
    return written != 0 ? written : first;
}

static int write_ctf(const struct export_job *job, struct gait_error *err)
{
    struct ctf ctf = {.job = job, .packets = calloc(1, sizeof(*ctf.packets))};
    int result;

    if (ctf.packets == NULL)
        return error_set(err, ENOMEM, "cannot write '%s': there is no memory", job->path);
    result = open_folder(&ctf, err);
    if (result == 0) {
        /* Any number will do, if no other trace has it. */
        if (getrandom(ctf.packets->uuid, CTF_UUID_BYTES, 0) != CTF_UUID_BYTES)
            memcpy(ctf.packets->uuid, &job->trace->manifest.began_unix_ns, sizeof(int64_t));
        function_texts_init(&ctf.texts, job->functions, function_texts_name);
        result = write_folder(&ctf, err);
        function_texts_deinit(&ctf.texts);
        close(ctf.folder);
    }
    free(ctf.packets);
    return result;
}

extern const struct export_format export_format_ctf;
const struct export_format export_format_ctf = {
    .name = "ctf",
    .file_name = "trace.ctf",
    .kind = EXPORT_PATH,
    .write = write_ctf,
};
