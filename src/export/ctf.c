/* SPDX-License-Identifier: MIT */
/*
 * A folder in the Common Trace Format 1.8, which babeltrace2 and Trace Compass read: a file "metadata" that says what
 * the others look like, and a stream for each thread, in which calls begin and end by name. The folder must not be
 * there yet, or be empty: other files in it would be taken for streams.
 */
#define _GNU_SOURCE
#include "export/call_flag_names.h"
#include "export/ctf_metadata.h"
#include "export/ctf_packets.h"
#include "export/export_calls.h"
#include "export/export_text.h"
#include "export/function_texts.h"
#include "libgait/error.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define STREAM_NAME_BYTES 80

struct ctf {
    const struct export_job *job;
    int folder;
    struct function_texts texts;
    struct ctf_packets *packets;
};

/* ---- events ------------------------------------------------------------------------------------------------------ */

static int put_begin(void *context, const struct export_call *call)
{
    struct ctf *ctf = context;
    const char *name = function_texts_get(&ctf->texts, call->function);

    if (name == NULL)
        return -ENOMEM;
    ctf_begin_event(ctf->packets, CTF_CALL_BEGIN, call->begin_ns);
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

/* ---- files ------------------------------------------------------------------------------------------------------- */

static FILE *open_file(const struct ctf *ctf, const char *name)
{
    int fd = openat(ctf->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");

    if (stream == NULL && fd >= 0)
        close(fd);
    return stream;
}

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

static void get_stream_name(const struct view_trace *trace, size_t thread, char name_out[STREAM_NAME_BYTES])
{
    const struct view_process *process = view_trace_process_of(trace, thread);

    snprintf(name_out, STREAM_NAME_BYTES, "process_%" PRIu32 ".%" PRIu32 "_thread_%" PRIu32 ".%" PRIu32, process->pid,
             process->image, trace->threads[thread].tid, trace->threads[thread].generation);
}

/* *written_out: 0, or an error after which nothing of the folder is of use; the result is that of reading. */
static int write_thread(struct ctf *ctf, size_t thread, int *written_out, struct gait_error *err)
{
    const struct export_receiver receiver = {put_begin, put_end, put_gap, ctf};
    const struct view_trace *trace = ctf->job->trace;
    char name[STREAM_NAME_BYTES], thread_name[4 * sizeof(trace->manifest.processes->threads->name)];
    struct gait_error why;
    int result;

    get_stream_name(trace, thread, name);
    (void)export_text_clean(thread_name, sizeof(thread_name), trace->threads[thread].name);
    ctf->packets->stream = open_file(ctf, name);
    if (ctf->packets->stream == NULL)
        return *written_out = refuse(ctf, name, errno, err);
    ctf->packets->pid = view_trace_process_of(trace, thread)->pid;
    ctf->packets->tid = trace->threads[thread].tid;
    ctf->packets->thread = thread_name;
    result = export_calls_read(ctf->job, thread, &receiver, err);
    ctf_end_packet(ctf->packets);
    *written_out = close_file(ctf, ctf->packets->stream, name, &why);
    if (*written_out != 0 && err != NULL)
        *err = why;
    return *written_out != 0 ? *written_out : result;
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

static void remove_folder(const struct ctf *ctf)
{
    char name[STREAM_NAME_BYTES];

    for (size_t i = 0; i < ctf->job->thread_count; i++) {
        get_stream_name(ctf->job->trace, ctf->job->threads[i], name);
        unlinkat(ctf->folder, name, 0);
    }
    unlinkat(ctf->folder, "metadata", 0);
    rmdir(ctf->job->path);
}

static int write_folder(struct ctf *ctf, struct gait_error *err)
{
    int first = 0, written = write_metadata(ctf, err);

    for (size_t i = 0; i < ctf->job->thread_count && written == 0; i++) {
        struct gait_error why;
        int result = write_thread(ctf, ctf->job->threads[i], &written, &why);

        if (result != 0 && (first == 0 || written != 0)) {
            first = result;
            if (err != NULL)
                *err = why;
        }
    }
    if (written != 0)
        remove_folder(ctf);
    return first == 0 ? written : first;
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
