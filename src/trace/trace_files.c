/* SPDX-License-Identifier: MIT */
/* Names decide: what is in a folder that is called like a process, and is itself called as the format says. */
#define _GNU_SOURCE
#include "trace/trace_files.h"

#include "base/text_parse.h"
#include "libgait/error.h"
#include "trace/trace_layout.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int add(struct trace_files *files, const struct trace_file *file)
{
    if (files->count == files->capacity) {
        size_t capacity = files->capacity == 0 ? 16 : 2 * files->capacity;
        struct trace_file *grown = realloc(files->files, capacity * sizeof(*grown));

        if (grown == NULL)
            return -ENOMEM;
        files->files = grown;
        files->capacity = capacity;
    }
    files->files[files->count++] = *file;
    return 0;
}

/* A number as names have it: no zero, no zeroes before it. */
static bool parse_number(const char *text, size_t length, uint32_t *number_out)
{
    uint64_t number;

    if (length == 0 || text[0] == '0' || text_parse_decimal(text, length, &number) != 0 || number > INT32_MAX)
        return false;
    *number_out = (uint32_t)number;
    return true;
}

/* What the kinds of streams of threads are called. */
static const struct {
    enum trace_file_kind kind;
    const char *suffix;
} thread_kinds[] = {
    {TRACE_FILE_INDEX, TRACE_INDEX_SUFFIX},
    {TRACE_FILE_DETAIL, TRACE_DETAIL_SUFFIX},
};

#define THREAD_KINDS (sizeof(thread_kinds) / sizeof(thread_kinds[0]))

/* The number of the piece in front of the last part of a name: none in the first one. */
static bool parse_piece(const char *text, uint32_t *piece_out)
{
    size_t length = *text == '.' ? strcspn(text + 1, ".") : 0;

    *piece_out = 1;
    if (strcmp(text, TRACE_STREAM_SUFFIX) == 0)
        return true;
    return parse_number(text + 1, length, piece_out) && *piece_out > 1 &&
           strcmp(text + 1 + length, TRACE_STREAM_SUFFIX) == 0;
}

/* What a stream of a thread is, by what its name ends with. */
static void classify_thread(struct trace_file *file, const char *text)
{
    for (size_t i = 0; i < THREAD_KINDS; i++) {
        size_t length = strlen(thread_kinds[i].suffix);

        if (strncmp(text, thread_kinds[i].suffix, length) == 0 && parse_piece(text + length, &file->piece))
            file->kind = thread_kinds[i].kind;
    }
    if (file->kind == TRACE_FILE_OTHER)
        file->piece = 0;
}

void trace_thread_name(const struct trace_file *file, char name_out[TRACE_THREAD_NAME_BYTES])
{
    const char *suffix = "";
    char piece[16] = "";

    for (size_t i = 0; i < THREAD_KINDS; i++)
        if (thread_kinds[i].kind == file->kind)
            suffix = thread_kinds[i].suffix;
    if (file->piece > 1)
        snprintf(piece, sizeof(piece), ".%" PRIu32, file->piece);
    snprintf(name_out, TRACE_THREAD_NAME_BYTES, "%" PRIu32 ".%" PRIu32 "%s%s" TRACE_STREAM_SUFFIX, file->tid,
             file->generation, suffix, piece);
}

static void classify(struct trace_file *file, const char *name)
{
    size_t tid = strcspn(name, "."), generation = name[tid] == '.' ? strcspn(name + tid + 1, ".") : 0;

    file->kind = TRACE_FILE_OTHER;
    if (strcmp(name, TRACE_MODULES_NAME) == 0)
        file->kind = TRACE_FILE_MODULES;
    else if (strcmp(name, TRACE_BLOCKS_NAME) == 0)
        file->kind = TRACE_FILE_BLOCKS;
    else if (strcmp(name, TRACE_CRASH_NAME) == 0)
        file->kind = TRACE_FILE_CRASH;
    else if (parse_number(name, tid, &file->tid) && parse_number(name + tid + 1, generation, &file->generation))
        classify_thread(file, name + tid + 1 + generation);
}

void trace_process_name(uint32_t pid, uint32_t image, char name_out[TRACE_PROCESS_NAME_BYTES])
{
    if (image <= 1)
        snprintf(name_out, TRACE_PROCESS_NAME_BYTES, "%" PRIu32, pid);
    else
        snprintf(name_out, TRACE_PROCESS_NAME_BYTES, "%" PRIu32 ".%" PRIu32, pid, image);
}

static bool parse_process_name(const char *name, struct trace_file *process_out)
{
    size_t pid = strcspn(name, ".");

    process_out->image = 1;
    if (!parse_number(name, pid, &process_out->pid))
        return false;
    return name[pid] == '\0' ||
           (parse_number(name + pid + 1, strlen(name + pid + 1), &process_out->image) && process_out->image > 1);
}

/* Calls `visit` for each name in the folder, which is the trace's, or that of a process. */
static int walk(int folder, int (*visit)(struct trace_files *, const struct trace_file *process, const char *name),
                struct trace_files *files, const struct trace_file *process)
{
    DIR *directory = fdopendir(folder);
    struct dirent *entry;
    int result = 0;

    if (directory == NULL) {
        result = -errno;
        close(folder);
        return result;
    }
    while (result == 0 && (errno = 0, entry = readdir(directory)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            result = visit(files, process, entry->d_name);
    if (result == 0 && errno != 0)
        result = -errno;
    closedir(directory);
    return result;
}

static int visit_process(struct trace_files *files, const struct trace_file *process, const char *name)
{
    struct trace_file file = {.pid = process->pid, .image = process->image};
    char folder[TRACE_PROCESS_NAME_BYTES];

    classify(&file, name);
    trace_process_name(file.pid, file.image, folder);
    snprintf(file.path, sizeof(file.path), "%s/%s", folder, name);
    return add(files, &file);
}

static int visit_trace(struct trace_files *files, const struct trace_file *unused, const char *name)
{
    struct trace_file file = {.kind = TRACE_FILE_OTHER}, process = {.kind = TRACE_FILE_OTHER};

    (void)unused;
    if (parse_process_name(name, &process)) {
        int folder = openat(files->folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);

        if (folder >= 0)
            return walk(folder, visit_process, files, &process);
        if (errno != ENOTDIR)
            return -errno;
    }
    if (strcmp(name, TRACE_MANIFEST_NAME) == 0)
        file.kind = TRACE_FILE_MANIFEST;
    snprintf(file.path, sizeof(file.path), "%s", name);
    return add(files, &file);
}

static int compare_numbers(uint64_t left, uint64_t right)
{
    return left < right ? -1 : left > right;
}

static int compare(const void *left_file, const void *right_file)
{
    const struct trace_file *left = left_file, *right = right_file;
    int order = compare_numbers(left->kind == TRACE_FILE_OTHER, right->kind == TRACE_FILE_OTHER);

    if (order == 0)
        order = compare_numbers(left->pid, right->pid);
    if (order == 0)
        order = compare_numbers(left->image, right->image);
    if (order == 0)
        order = compare_numbers(left->kind, right->kind);
    if (order == 0)
        order = compare_numbers(left->tid, right->tid);
    if (order == 0)
        order = compare_numbers(left->generation, right->generation);
    if (order == 0)
        order = compare_numbers(left->piece, right->piece);
    return order != 0 ? order : strcmp(left->path, right->path);
}

static int explain_open(const char *path, int code, struct gait_error *err)
{
    switch (-code) {
    case ENOENT:
        return error_set(err, code, "cannot open '%s': there is no such folder; try another path", path);
    case ENOTDIR:
        return error_set(err, code,
                         "cannot open '%s': it is no folder, and a trace is one; try the folder that was "
                         "recorded into",
                         path);
    case EACCES:
        return error_set(err, code, "cannot open '%s': you may not read it; try as the user who recorded it", path);
    default:
        return error_set(err, code, "cannot read '%s': %s; try another folder", path, strerror(-code));
    }
}

static bool is_trace(const struct trace_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->files[i].kind != TRACE_FILE_OTHER)
            return true;
    return false;
}

int trace_files_open(struct trace_files *files, const char *path, struct gait_error *err)
{
    struct trace_files made = {.folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    int listed = made.folder < 0 ? -1 : openat(made.folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = listed < 0 ? -errno : walk(listed, visit_trace, &made, NULL);

    if (result != 0)
        result = explain_open(path, result, err);
    else if (!is_trace(&made))
        result = error_set(err, ENOENT,
                           "cannot read '%s': there is no trace in it; try the folder that was recorded "
                           "into",
                           path);
    if (result != 0) {
        if (made.folder >= 0)
            close(made.folder);
        free(made.files);
        return result;
    }
    qsort(made.files, made.count, sizeof(made.files[0]), compare);
    *files = made;
    return 0;
}

static bool is_same_stream(const struct trace_file *left, const struct trace_file *right)
{
    return left->kind == right->kind && left->pid == right->pid && left->image == right->image &&
           left->tid == right->tid && left->generation == right->generation;
}

size_t trace_files_pieces(const struct trace_files *files, size_t first)
{
    size_t end = first + 1;

    while (files->files[first].piece != 0 && end < files->count &&
           is_same_stream(&files->files[first], &files->files[end]))
        end++;
    return end - first;
}

void trace_files_close(struct trace_files *files)
{
    close(files->folder);
    free(files->files);
    *files = (struct trace_files){.folder = -1};
}
