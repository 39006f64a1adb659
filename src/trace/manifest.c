/* SPDX-License-Identifier: MIT */
/*
 * Written with a FILE to a temporary name, which replaces the manifest when all of it is on the disk. Read as a tree of
 * values, out of which what is known is taken; other members are left alone, so that later versions can add some.
 */
#include "trace/manifest.h"

#include "hosted/error_text.h"
#include "hosted/json_writer.h"
#include "ring/left_log.h"
#include "trace/event_names.h"
#include "trace/json_reader.h"
#include "trace/trace_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPORARY_NAME "manifest.json.new"
#define FORMAT_NAME    "gait trace"
#define FILE_MODE      0600
#define FILE_BYTES_MAX (64 << 20)

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void put_events(struct json_writer *json, uint32_t events)
{
    json_writer_open_line(json, 2, "events", '[');
    for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
        if (events & 1u << bit)
            json_writer_text(json, NULL, event_name(bit));
    json_writer_close(json, ']');
}

static void put_arguments(struct json_writer *json, char *const *arguments)
{
    json_writer_open_line(json, 2, "arguments", '[');
    for (size_t i = 0; arguments != NULL && arguments[i] != NULL; i++)
        json_writer_text(json, NULL, arguments[i]);
    json_writer_close(json, ']');
}

static void put_clocks(struct json_writer *json, const struct manifest *manifest)
{
    json_writer_open_line(json, 2, "clocks", '[');
    for (size_t i = 0; i < manifest->clock_count; i++) {
        json_writer_open_line(json, 4, NULL, '{');
        json_writer_count(json, "counter", manifest->clocks[i].counter);
        json_writer_count(json, "monotonic_ns", manifest->clocks[i].monotonic_ns);
        json_writer_close(json, '}');
    }
    json_writer_close(json, ']');
}

static void put_threads(struct json_writer *json, const struct manifest_process *process)
{
    json_writer_open_line(json, 6, "threads", '[');
    for (size_t i = 0; i < process->thread_count; i++) {
        const struct manifest_thread *thread = &process->threads[i];
        char name[sizeof(thread->name) + 1] = "";

        memcpy(name, thread->name, sizeof(thread->name));
        json_writer_open_line(json, 8, NULL, '{');
        json_writer_count(json, "tid", thread->tid);
        json_writer_count(json, "generation", thread->generation);
        json_writer_text(json, "name", name);
        json_writer_count(json, "lost_bytes", thread->lost_bytes);
        json_writer_count(json, "lost_detail_bytes", thread->lost_detail_bytes);
        if (thread->unwritten_bytes != 0)
            json_writer_count(json, "unwritten_bytes", thread->unwritten_bytes);
        json_writer_count(json, "waits", thread->wait_count);
        json_writer_count(json, "waited_ns", thread->waited_ns);
        json_writer_close(json, '}');
    }
    json_writer_close(json, ']');
}

static void put_losses(struct json_writer *json, const struct manifest_losses *losses)
{
    json_writer_open_line(json, 6, "lost", '{');
    json_writer_count(json, "late_bytes", losses->late_bytes);
    json_writer_count(json, "no_lane_bytes", losses->no_lane_bytes);
    json_writer_count(json, "no_room", losses->no_room_count);
    json_writer_count(json, "no_memory", losses->no_memory_count);
    json_writer_count(json, "not_hooked", losses->not_hooked_count);
    json_writer_close(json, '}');
}

static const char *const left_names[RING_LEFT_REASONS] = {
    [RING_LEFT_INSTRUCTION] = "instruction", [RING_LEFT_MEMORY] = "memory",   [RING_LEFT_BLIND] = "blind",
    [RING_LEFT_NEW_THREAD] = "new thread",   [RING_LEFT_COUNTER] = "counter",
    [RING_LEFT_UNREADABLE] = "unreadable",
};

static void put_left(struct json_writer *json, const struct manifest_process *process)
{
    json_writer_break(json, 6);
    json_writer_count(json, "left_count", process->left_count);
    json_writer_open(json, "left", '[');
    for (size_t i = 0; i < process->left_listed; i++) {
        const struct manifest_left *left = &process->left[i];
        bool is_known = left->reason != 0 && left->reason < RING_LEFT_REASONS;

        json_writer_open_line(json, 8, NULL, '{');
        json_writer_count(json, "tid", left->tid);
        json_writer_count(json, "time", left->time);
        json_writer_count(json, "pc", left->pc);
        json_writer_text(json, "why", is_known ? left_names[left->reason] : "?");
        json_writer_bytes(json, "code", left->code,
                          left->code_bytes < sizeof(left->code) ? left->code_bytes : sizeof(left->code));
        json_writer_close(json, '}');
    }
    json_writer_close(json, ']');
}

static void put_unhooked(struct json_writer *json, const struct manifest_process *process)
{
    json_writer_open_line(json, 6, "unhooked", '[');
    for (size_t i = 0; i < process->unhooked_listed; i++) {
        const struct manifest_unhooked *unhooked = &process->unhooked[i];

        json_writer_open_line(json, 8, NULL, '{');
        json_writer_text(json, "function", unhooked->name);
        json_writer_text(json, "why", unhooked->why);
        json_writer_bool(json, "named", unhooked->is_named);
        json_writer_close(json, '}');
    }
    json_writer_close(json, ']');
}

static void put_indirect(struct json_writer *json, const struct manifest_process *process)
{
    json_writer_open_line(json, 6, "indirect", '[');
    for (size_t i = 0; i < process->indirect_count; i++) {
        json_writer_open_line(json, 8, NULL, '{');
        json_writer_count(json, "address", process->indirect[i].address);
        json_writer_text(json, "name", process->indirect[i].name == NULL ? "" : process->indirect[i].name);
        json_writer_close(json, '}');
    }
    json_writer_close(json, ']');
}

/* By name, those that are not zero; nothing if all are. */
static void put_counters(struct json_writer *json, const struct counters_snapshot *counters)
{
    bool is_open = false;

    for (unsigned i = 0; i < COUNTER_COUNT; i++) {
        if (counters->values[i] == 0)
            continue;
        if (!is_open) {
            json_writer_open_line(json, 6, "counters", '{');
            is_open = true;
        }
        json_writer_count(json, counter_describe((enum counter)i)->name, counters->values[i]);
    }
    if (is_open)
        json_writer_close(json, '}');
}

static void put_probes(struct json_writer *json, const struct manifest_process *process)
{
    json_writer_open_line(json, 6, "probes", '[');
    for (size_t i = 0; i < process->probe_count; i++) {
        const struct manifest_probe *probe = &process->probes[i];

        json_writer_open_line(json, 8, NULL, '{');
        json_writer_text(json, "provider", probe->provider);
        json_writer_text(json, "name", probe->name);
        json_writer_text(json, "arguments", probe->arguments);
        json_writer_count(json, "address", probe->address);
        json_writer_text(json, "path", probe->path);
        json_writer_close(json, '}');
    }
    json_writer_close(json, ']');
}

static void put_process(struct json_writer *json, const struct manifest_process *process)
{
    json_writer_open_line(json, 4, NULL, '{');
    json_writer_count(json, "pid", process->pid);
    json_writer_count(json, "image", process->image);
    json_writer_count(json, "parent_pid", process->parent_pid);
    json_writer_signed(json, "status", process->status);
    json_writer_text(json, "command", process->command == NULL ? "" : process->command);
    put_losses(json, &process->losses);
    put_counters(json, &process->counters);
    if (process->left_count != 0)
        put_left(json, process);
    if (process->indirect_count != 0)
        put_indirect(json, process);
    if (process->unhooked_listed != 0)
        put_unhooked(json, process);
    if (process->probe_count != 0)
        put_probes(json, process);
    put_threads(json, process);
    json_writer_close(json, '}');
}

static void put_triggers(struct json_writer *json, const struct manifest *manifest)
{
    json_writer_open_line(json, 2, "triggers", '[');
    for (size_t i = 0; i < manifest->trigger_count; i++) {
        const struct manifest_trigger *trigger = &manifest->triggers[i];

        json_writer_open_line(json, 4, NULL, '{');
        json_writer_text(json, "kind", trigger->kind);
        json_writer_text(json, "text", trigger->text == NULL ? "" : trigger->text);
        json_writer_count(json, "time", trigger->time);
        json_writer_count(json, "pid", trigger->pid);
        json_writer_count(json, "tid", trigger->tid);
        json_writer_close(json, '}');
    }
    json_writer_close(json, ']');
    json_writer_break(json, 2);
    json_writer_count(json, "triggers_left_out", manifest->triggers_left_out);
}

static void put_windows(struct json_writer *json, const struct manifest *manifest)
{
    json_writer_break(json, 2);
    json_writer_bool(json, "flight", manifest->is_flight);
    json_writer_open_line(json, 2, "windows", '[');
    for (size_t i = 0; i < manifest->window_count; i++) {
        json_writer_open_line(json, 4, NULL, '{');
        json_writer_count(json, "from", manifest->windows[i].from);
        json_writer_count(json, "to", manifest->windows[i].to);
        json_writer_bool(json, "cut", manifest->windows[i].is_cut);
        json_writer_close(json, '}');
    }
    json_writer_close(json, ']');
}

static void put_pieces(struct json_writer *json, const struct manifest *manifest)
{
    json_writer_open_line(json, 2, "pieces", '[');
    for (size_t i = 0; i < manifest->piece_count; i++) {
        json_writer_open_line(json, 4, NULL, '{');
        json_writer_count(json, "number", manifest->pieces[i].number);
        json_writer_count(json, "from", manifest->pieces[i].from);
        json_writer_close(json, '}');
    }
    json_writer_close(json, ']');
}

static void put_member(struct json_writer *json, const char *name, const char *text)
{
    json_writer_break(json, 2);
    json_writer_text(json, name, text == NULL ? "" : text);
}

static void put_members(struct json_writer *json, const struct manifest *manifest)
{
    put_member(json, "format", FORMAT_NAME);
    json_writer_break(json, 2);
    json_writer_signed(json, "version", TRACE_VERSION);
    put_member(json, "program", manifest->program);
    put_arguments(json, manifest->arguments);
    put_events(json, manifest->events);
    json_writer_break(json, 2);
    json_writer_bool(json, "with_times", manifest->with_times);
    json_writer_break(json, 2);
    json_writer_signed(json, "began_unix_ns", manifest->began_unix_ns);
    put_member(json, "ended", manifest->ended);
    put_clocks(json, manifest);
    put_triggers(json, manifest);
    put_windows(json, manifest);
    put_pieces(json, manifest);
    json_writer_open_line(json, 2, "processes", '[');
    for (size_t i = 0; i < manifest->process_count; i++)
        put_process(json, &manifest->processes[i]);
    json_writer_close(json, ']');
}

static void put_manifest(FILE *file, const struct manifest *manifest)
{
    struct json_writer json = {.stream = file, .layout = JSON_SPACED};

    json_writer_open(&json, NULL, '{');
    put_members(&json, manifest);
    json_writer_break(&json, 0);
    json_writer_close(&json, '}');
    fputs("\n", file);
}

/* Makes the temporary file. Whether it is on the disk is for whoever records to see to, as with streams. */
static int write_temporary(const struct manifest *manifest, int folder)
{
    int fd = openat(folder, TEMPORARY_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    int result = 0;

    if (file == NULL) {
        result = -errno;
        if (fd >= 0)
            close(fd);
        return result;
    }
    put_manifest(file, manifest);
    if (fflush(file) != 0 || ferror(file))
        result = errno == 0 ? -EIO : -errno;
    if (fclose(file) != 0 && result == 0)
        result = -errno;
    return result;
}

int manifest_write(const struct manifest *manifest, int folder, struct gait_error *err)
{
    int result = write_temporary(manifest, folder);

    if (result == 0 && renameat(folder, TEMPORARY_NAME, folder, TRACE_MANIFEST_NAME) != 0)
        result = -errno;
    if (result == 0)
        return 0;
    unlinkat(folder, TEMPORARY_NAME, 0);
    return error_set(err, result, "cannot write '" TRACE_MANIFEST_NAME "' of the trace: %s; the one before is kept; %s",
                     strerror(-result),
                     result == -ENOSPC || result == -EDQUOT ? "free some space" : "try another folder");
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static int read_file(int folder, char **text_out, size_t *size_out)
{
    int fd = openat(folder, TRACE_MANIFEST_NAME, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    size_t used = 0;
    char *text = NULL;
    int result = 0;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &status) != 0)
        result = -errno;
    else if (!S_ISREG(status.st_mode))
        result = S_ISDIR(status.st_mode) ? -EISDIR : -EPROTO;
    else if (status.st_size > FILE_BYTES_MAX)
        result = -EFBIG;
    else if ((text = malloc((size_t)status.st_size + 1)) == NULL)
        result = -ENOMEM;
    while (result == 0 && used < (size_t)status.st_size) {
        ssize_t count = read(fd, text + used, (size_t)status.st_size - used);

        if (count == 0)
            break;
        if (count > 0)
            used += (size_t)count;
        else if (errno != EINTR)
            result = -errno;
    }
    close(fd);
    if (result != 0) {
        free(text);
        return result;
    }
    *text_out = text;
    *size_out = used;
    return 0;
}

static int explain_read(int code, struct gait_error *err)
{
    switch (-code) {
    case ENOENT:
        return error_set(err, code,
                         "cannot read '" TRACE_MANIFEST_NAME
                         "': there is none, so this is no trace; try the folder that "
                         "was recorded into");
    case EACCES:
        return error_set(err, code,
                         "cannot read '" TRACE_MANIFEST_NAME
                         "': this user may not read it; try as the user who recorded it");
    default:
        return error_set(err, code, "cannot read '" TRACE_MANIFEST_NAME "': %s; try another trace",
                         code == -EPROTO ? "it is no file" : strerror(-code));
    }
}

/* Takes values out of the tree. The first that is missing or wrong is remembered. */
struct manifest_source {
    const char *wrong; /* its name */
    unsigned line;
    bool is_out_of_memory;
};

static const struct json_value *want(struct manifest_source *source, const struct json_value *object, const char *name,
                                     enum json_kind kind)
{
    const struct json_value *value = json_member(object, name);

    if (value != NULL && value->kind == kind)
        return value;
    if (source->wrong == NULL) {
        source->wrong = name;
        source->line = value == NULL ? object->line : value->line;
    }
    return NULL;
}

static void note_wrong(struct manifest_source *source, const struct json_value *value, const char *name)
{
    if (source->wrong != NULL)
        return;
    source->wrong = name;
    source->line = value->line;
}

static char *take_text(struct manifest_source *source, const struct json_value *object, const char *name)
{
    const struct json_value *value = want(source, object, name, JSON_STRING);
    char *copy = value == NULL ? NULL : strdup(value->text);

    source->is_out_of_memory |= value != NULL && copy == NULL;
    return copy;
}

static uint64_t take_number(struct manifest_source *source, const struct json_value *object, const char *name,
                            uint64_t largest)
{
    const struct json_value *value = want(source, object, name, JSON_NUMBER);
    uint64_t number = 0;

    if (value != NULL && (!json_to_u64(value, &number) || number > largest)) {
        note_wrong(source, value, name);
        return 0;
    }
    return number;
}

static int64_t take_signed(struct manifest_source *source, const struct json_value *object, const char *name,
                           int64_t least, int64_t largest)
{
    const struct json_value *value = want(source, object, name, JSON_NUMBER);
    int64_t number = 0;

    if (value != NULL && (!json_to_i64(value, &number) || number < least || number > largest)) {
        note_wrong(source, value, name);
        return 0;
    }
    return number;
}

static bool take_flag(struct manifest_source *source, const struct json_value *object, const char *name)
{
    const struct json_value *value = json_member(object, name);

    if (value != NULL && value->kind == JSON_TRUE)
        return true;
    want(source, object, name, JSON_FALSE);
    return false;
}

/* Memory for as many as the array has; *items_out is the first of them, NULL: there are none. */
static void *take_array(struct manifest_source *source, const struct json_value *object, const char *name,
                        size_t item_bytes, const struct json_value **items_out)
{
    const struct json_value *array = want(source, object, name, JSON_ARRAY);
    void *storage;

    *items_out = NULL;
    if (array == NULL)
        return NULL;
    /* One more than there are, so that there is always something; it is zero, as the end of arguments is. */
    storage = calloc(json_count(array) + 1, item_bytes);
    if (storage == NULL)
        source->is_out_of_memory = true;
    else
        *items_out = array->first;
    return storage;
}

static void take_arguments(struct manifest_source *source, const struct json_value *root, struct manifest *manifest)
{
    const struct json_value *item;
    char **arguments = take_array(source, root, "arguments", sizeof(*arguments), &item);

    for (size_t i = 0; item != NULL; item = item->next) {
        if (item->kind != JSON_STRING) {
            note_wrong(source, item, "arguments");
            continue;
        }
        arguments[i] = strdup(item->text);
        source->is_out_of_memory |= arguments[i] == NULL;
        i++;
    }
    manifest->arguments = arguments;
}

static void take_events(struct manifest_source *source, const struct json_value *root, struct manifest *manifest)
{
    const struct json_value *events = want(source, root, "events", JSON_ARRAY);

    for (const struct json_value *item = events == NULL ? NULL : events->first; item != NULL; item = item->next) {
        uint32_t kind = item->kind == JSON_STRING ? event_kind_by_name(item->text) : 0;

        if (kind == 0)
            note_wrong(source, item, "events");
        manifest->events |= kind;
    }
}

static void take_clocks(struct manifest_source *source, const struct json_value *root, struct manifest *manifest)
{
    const struct json_value *item;

    manifest->clocks = take_array(source, root, "clocks", sizeof(*manifest->clocks), &item);
    for (; item != NULL; item = item->next)
        manifest->clocks[manifest->clock_count++] = (struct clock_pair){
            take_number(source, item, "counter", UINT64_MAX),
            take_number(source, item, "monotonic_ns", UINT64_MAX),
        };
}

/* What the first traces did not have. */
static bool has_member(const struct json_value *object, const char *name)
{
    return json_member(object, name) != NULL;
}

static void take_threads(struct manifest_source *source, const struct json_value *object,
                         struct manifest_process *process)
{
    const struct json_value *item;

    process->threads = take_array(source, object, "threads", sizeof(*process->threads), &item);
    for (; item != NULL; item = item->next) {
        struct manifest_thread *thread = &process->threads[process->thread_count++];
        const struct json_value *name = want(source, item, "name", JSON_STRING);

        thread->tid = (uint32_t)take_number(source, item, "tid", INT32_MAX);
        thread->generation = (uint32_t)take_number(source, item, "generation", UINT32_MAX);
        thread->lost_bytes = take_number(source, item, "lost_bytes", UINT64_MAX);
        if (has_member(item, "lost_detail_bytes"))
            thread->lost_detail_bytes = take_number(source, item, "lost_detail_bytes", UINT64_MAX);
        if (has_member(item, "unwritten_bytes"))
            thread->unwritten_bytes = take_number(source, item, "unwritten_bytes", UINT64_MAX);
        if (has_member(item, "waits")) {
            thread->wait_count = take_number(source, item, "waits", UINT64_MAX);
            thread->waited_ns = take_number(source, item, "waited_ns", UINT64_MAX);
        }
        if (name != NULL)
            snprintf(thread->name, sizeof(thread->name), "%s", name->text);
    }
}

static void take_losses(struct manifest_source *source, const struct json_value *object, struct manifest_losses *losses)
{
    const struct json_value *lost = has_member(object, "lost") ? want(source, object, "lost", JSON_OBJECT) : NULL;

    if (lost == NULL)
        return;
    losses->late_bytes = take_number(source, lost, "late_bytes", UINT64_MAX);
    losses->no_lane_bytes = take_number(source, lost, "no_lane_bytes", UINT64_MAX);
    losses->no_room_count = take_number(source, lost, "no_room", UINT64_MAX);
    losses->no_memory_count = take_number(source, lost, "no_memory", UINT64_MAX);
    if (has_member(lost, "not_hooked"))
        losses->not_hooked_count = take_number(source, lost, "not_hooked", UINT64_MAX);
}

static uint32_t left_reason(const char *name)
{
    uint32_t reason = RING_LEFT_REASONS;

    while (--reason > 0 && strcmp(left_names[reason], name) != 0)
        ;
    return reason;
}

static int hex_digit(char character)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = character == '\0' ? NULL : strchr(digits, character);

    return found == NULL ? -1 : (int)(found - digits);
}

/* As far as it is one. */
static void take_code(const char *text, struct manifest_left *left)
{
    while (left->code_bytes < sizeof(left->code) && hex_digit(text[0]) >= 0 && hex_digit(text[1]) >= 0) {
        left->code[left->code_bytes++] = (uint8_t)(hex_digit(text[0]) << 4 | hex_digit(text[1]));
        text += 2;
    }
}

static void take_left(struct manifest_source *source, const struct json_value *object, struct manifest_process *process)
{
    const struct json_value *item;

    if (!has_member(object, "left"))
        return;
    process->left_count = take_number(source, object, "left_count", UINT64_MAX);
    process->left = take_array(source, object, "left", sizeof(*process->left), &item);
    for (; item != NULL; item = item->next) {
        struct manifest_left *left = &process->left[process->left_listed++];
        const struct json_value *why = want(source, item, "why", JSON_STRING);
        const struct json_value *code = want(source, item, "code", JSON_STRING);

        left->tid = (uint32_t)take_number(source, item, "tid", INT32_MAX);
        left->time = take_number(source, item, "time", UINT64_MAX);
        left->pc = take_number(source, item, "pc", UINT64_MAX);
        left->reason = why == NULL ? 0 : left_reason(why->text);
        if (code != NULL)
            take_code(code->text, left);
    }
}

static void take_indirect(struct manifest_source *source, const struct json_value *object,
                          struct manifest_process *process)
{
    const struct json_value *item;

    if (!has_member(object, "indirect"))
        return;
    process->indirect = take_array(source, object, "indirect", sizeof(*process->indirect), &item);
    for (; item != NULL; item = item->next) {
        struct manifest_indirect *indirect = &process->indirect[process->indirect_count++];

        indirect->address = take_number(source, item, "address", UINT64_MAX);
        indirect->name = take_text(source, item, "name");
    }
}

static void take_unhooked(struct manifest_source *source, const struct json_value *object,
                          struct manifest_process *process)
{
    const struct json_value *item;

    if (!has_member(object, "unhooked"))
        return;
    process->unhooked = take_array(source, object, "unhooked", sizeof(*process->unhooked), &item);
    for (; item != NULL; item = item->next) {
        struct manifest_unhooked *unhooked = &process->unhooked[process->unhooked_listed++];

        unhooked->name = take_text(source, item, "function");
        unhooked->why = take_text(source, item, "why");
        unhooked->is_named = take_flag(source, item, "named");
    }
}

/* What another gait counts, and this one does not know, is passed over. */
static void take_counters(struct manifest_source *source, const struct json_value *object,
                          struct counters_snapshot *counters)
{
    const struct json_value *list = NULL;
    enum counter counter;

    if (has_member(object, "counters"))
        list = want(source, object, "counters", JSON_OBJECT);
    for (const struct json_value *item = list == NULL ? NULL : list->first; item != NULL; item = item->next)
        if (counter_find(item->name, &counter) == 0)
            counters->values[counter] = take_number(source, list, item->name, UINT64_MAX);
}

static void take_probes(struct manifest_source *source, const struct json_value *object,
                        struct manifest_process *process)
{
    const struct json_value *item;

    if (!has_member(object, "probes"))
        return;
    process->probes = take_array(source, object, "probes", sizeof(*process->probes), &item);
    for (; item != NULL; item = item->next) {
        struct manifest_probe *probe = &process->probes[process->probe_count++];

        probe->provider = take_text(source, item, "provider");
        probe->name = take_text(source, item, "name");
        probe->arguments = take_text(source, item, "arguments");
        probe->address = take_number(source, item, "address", UINT64_MAX);
        probe->path = take_text(source, item, "path");
    }
}

static void take_processes(struct manifest_source *source, const struct json_value *root, struct manifest *manifest)
{
    const struct json_value *item;

    manifest->processes = take_array(source, root, "processes", sizeof(*manifest->processes), &item);
    for (; item != NULL; item = item->next) {
        struct manifest_process *process = &manifest->processes[manifest->process_count++];

        process->pid = (uint32_t)take_number(source, item, "pid", INT32_MAX);
        process->image = 1;
        if (json_member(item, "image") != NULL)
            process->image = (uint32_t)take_number(source, item, "image", INT32_MAX);
        process->parent_pid = (uint32_t)take_number(source, item, "parent_pid", INT32_MAX);
        process->status = (int)take_signed(source, item, "status", INT32_MIN, INT32_MAX);
        process->command = take_text(source, item, "command");
        take_losses(source, item, &process->losses);
        take_counters(source, item, &process->counters);
        take_left(source, item, process);
        take_indirect(source, item, process);
        take_unhooked(source, item, process);
        take_probes(source, item, process);
        take_threads(source, item, process);
    }
}

static void take_triggers(struct manifest_source *source, const struct json_value *root, struct manifest *manifest)
{
    const struct json_value *item;

    if (!has_member(root, "triggers"))
        return;
    manifest->triggers = take_array(source, root, "triggers", sizeof(*manifest->triggers), &item);
    manifest->triggers_left_out = take_number(source, root, "triggers_left_out", UINT64_MAX);
    for (; item != NULL; item = item->next) {
        struct manifest_trigger *trigger = &manifest->triggers[manifest->trigger_count++];
        const struct json_value *kind = want(source, item, "kind", JSON_STRING);

        if (kind != NULL)
            snprintf(trigger->kind, sizeof(trigger->kind), "%s", kind->text);
        trigger->text = take_text(source, item, "text");
        trigger->time = take_number(source, item, "time", UINT64_MAX);
        trigger->pid = (uint32_t)take_number(source, item, "pid", INT32_MAX);
        trigger->tid = (uint32_t)take_number(source, item, "tid", INT32_MAX);
    }
}

static void take_windows(struct manifest_source *source, const struct json_value *root, struct manifest *manifest)
{
    const struct json_value *item;

    if (!has_member(root, "windows"))
        return;
    manifest->is_flight = take_flag(source, root, "flight");
    manifest->windows = take_array(source, root, "windows", sizeof(*manifest->windows), &item);
    for (; item != NULL; item = item->next)
        manifest->windows[manifest->window_count++] = (struct manifest_window){
            .from = take_number(source, item, "from", UINT64_MAX),
            .to = take_number(source, item, "to", UINT64_MAX),
            .is_cut = take_flag(source, item, "cut"),
        };
}

static void take_pieces(struct manifest_source *source, const struct json_value *root, struct manifest *manifest)
{
    const struct json_value *item;

    if (!has_member(root, "pieces"))
        return;
    manifest->pieces = take_array(source, root, "pieces", sizeof(*manifest->pieces), &item);
    for (; item != NULL; item = item->next)
        manifest->pieces[manifest->piece_count++] = (struct manifest_piece){
            .number = (uint32_t)take_number(source, item, "number", INT32_MAX),
            .from = take_number(source, item, "from", UINT64_MAX),
        };
}

static int take_manifest(const struct json_value *root, struct manifest *manifest, struct gait_error *err)
{
    struct manifest_source source = {.wrong = NULL};
    const struct json_value *format = json_member(root, "format");
    uint64_t version = take_number(&source, root, "version", UINT32_MAX);

    if (format == NULL || format->kind != JSON_STRING || strcmp(format->text, FORMAT_NAME) != 0)
        return error_set(err, EPROTO,
                         "cannot read '" TRACE_MANIFEST_NAME "': it is not that of a trace; try the folder that was "
                         "recorded into");
    if (source.wrong == NULL && version != TRACE_VERSION)
        return error_set(err, EPROTO,
                         "cannot read '" TRACE_MANIFEST_NAME "': it has version %" PRIu64 " of the format, this gait "
                         "knows version %d; try the gait that recorded it",
                         version, TRACE_VERSION);
    manifest->program = take_text(&source, root, "program");
    manifest->with_times = take_flag(&source, root, "with_times");
    manifest->began_unix_ns = take_signed(&source, root, "began_unix_ns", INT64_MIN, INT64_MAX);
    manifest->ended = take_text(&source, root, "ended");
    take_arguments(&source, root, manifest);
    take_events(&source, root, manifest);
    take_clocks(&source, root, manifest);
    take_processes(&source, root, manifest);
    take_triggers(&source, root, manifest);
    take_windows(&source, root, manifest);
    take_pieces(&source, root, manifest);
    if (source.is_out_of_memory)
        return explain_read(-ENOMEM, err);
    if (source.wrong != NULL)
        return error_set(err, EPROTO,
                         "cannot read '" TRACE_MANIFEST_NAME "': line %u: \"%s\" is missing or has the wrong form; it "
                         "was written by something else than gait, or is damaged",
                         source.line, source.wrong);
    return 0;
}

int manifest_read(int folder, struct manifest *manifest_out, struct gait_error *err)
{
    struct manifest manifest = {.program = NULL};
    struct json_value *root;
    char *text = NULL;
    size_t size_bytes = 0;
    int result = read_file(folder, &text, &size_bytes);

    if (result != 0)
        return explain_read(result, err);
    result = json_read(TRACE_MANIFEST_NAME, text, size_bytes, &root, err);
    free(text);
    if (result != 0)
        return result;
    result = take_manifest(root, &manifest, err);
    json_free(root);
    if (result != 0) {
        manifest_free(&manifest);
        return result;
    }
    *manifest_out = manifest;
    return 0;
}

void manifest_free_probes(struct manifest_process *process)
{
    for (size_t i = 0; i < process->probe_count; i++) {
        free(process->probes[i].provider);
        free(process->probes[i].name);
        free(process->probes[i].arguments);
        free(process->probes[i].path);
    }
    free(process->probes);
    process->probes = NULL;
    process->probe_count = 0;
}

void manifest_free_indirect(struct manifest_process *process)
{
    for (size_t i = 0; i < process->indirect_count; i++)
        free(process->indirect[i].name);
    free(process->indirect);
    process->indirect = NULL;
    process->indirect_count = 0;
}

void manifest_free_unhooked(struct manifest_process *process)
{
    for (size_t i = 0; i < process->unhooked_listed; i++) {
        free(process->unhooked[i].name);
        free(process->unhooked[i].why);
    }
    free(process->unhooked);
    process->unhooked = NULL;
    process->unhooked_listed = 0;
}

void manifest_free(struct manifest *manifest)
{
    for (size_t i = 0; manifest->arguments != NULL && manifest->arguments[i] != NULL; i++)
        free(manifest->arguments[i]);
    for (size_t i = 0; i < manifest->process_count; i++) {
        free(manifest->processes[i].command);
        free(manifest->processes[i].threads);
        free(manifest->processes[i].left);
        manifest_free_indirect(&manifest->processes[i]);
        manifest_free_unhooked(&manifest->processes[i]);
        manifest_free_probes(&manifest->processes[i]);
    }
    for (size_t i = 0; i < manifest->trigger_count; i++)
        free(manifest->triggers[i].text);
    free(manifest->triggers);
    free(manifest->windows);
    free(manifest->pieces);
    free((void *)(uintptr_t)manifest->arguments);
    free((void *)(uintptr_t)manifest->ended);
    free(manifest->program);
    free(manifest->clocks);
    free(manifest->processes);
    *manifest = (struct manifest){.program = NULL};
}
