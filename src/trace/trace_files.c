/* SPDX-License-Identifier: MIT */
/*
 * Names decide: what is in a folder that is called like a process, and is itself called as the format says; and what is
 * called so in the folders of names and of debug information.
 */
#define _GNU_SOURCE
#include "trace/trace_files.h"

#include "base/text_parse.h"
#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "trace/kernel_layout.h"
#include "trace/packed_trace.h"
#include "trace/temporary_folder.h"
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
    if (ARRAY_RESERVE(files->files, files->capacity, files->count + 1) != 0)
        return -ENOMEM;
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

/* Of a build ID, in the name of a file. */
#define ID_BYTES_MAX 64u

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

/* How many digits, as build IDs are written, a text begins with. */
static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789abcdef");
}

/* ID.gait, where the ID may be made from a path. */
static bool is_name_of_names(const char *name)
{
    size_t prefix = strncmp(name, TRACE_PATH_PREFIX, strlen(TRACE_PATH_PREFIX)) == 0 ? strlen(TRACE_PATH_PREFIX) : 0;
    size_t digits = count_digits(name + prefix);

    return (prefix == 0 ? digits >= 2 && digits <= 2 * ID_BYTES_MAX && digits % 2 == 0 : digits == 16) &&
           strcmp(name + prefix + digits, TRACE_STREAM_SUFFIX) == 0;
}

/* .build-id/12/3456.debug */
static bool is_name_of_debug(const char *name)
{
    size_t folder = strlen(TRACE_ID_FOLDER "/"), digits;

    if (strncmp(name, TRACE_ID_FOLDER "/", folder) != 0 || count_digits(name + folder) != 2 || name[folder + 2] != '/')
        return false;
    name += folder + 3;
    digits = count_digits(name);
    return digits >= 2 && digits <= 2 * ID_BYTES_MAX && strcmp(name + digits, TRACE_DEBUG_SUFFIX) == 0;
}

/* sources.gait, or 12.events.gait: the number of the CPU, which may be 0. */
static bool classify_kernel(struct trace_file *file, const char *name)
{
    size_t digits = strspn(name, "0123456789");

    if (strcmp(name, KERNEL_SOURCES_NAME) == 0) {
        file->kind = TRACE_FILE_KERNEL_SOURCES;
        return true;
    }
    if (strcmp(name + digits, KERNEL_EVENTS_SUFFIX) != 0 ||
        !(parse_number(name, digits, &file->tid) || (digits == 1 && name[0] == '0')))
        return false;
    file->kind = TRACE_FILE_KERNEL_EVENTS;
    return true;
}

/* What is behind a folder's name and a slash; NULL: it is in another one. */
static const char *find_inside(const char *path, const char *folder)
{
    size_t length = strlen(folder);

    return strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

bool trace_file_parse(const char *path, struct trace_file *file_out)
{
    const char *names = find_inside(path, TRACE_NAMES_FOLDER), *debug = find_inside(path, TRACE_DEBUG_FOLDER);
    const char *kernel = find_inside(path, KERNEL_FOLDER);
    struct trace_file file = {.kind = TRACE_FILE_OTHER};
    const char *slash = strchr(path, '/');
    char process[TRACE_PROCESS_NAME_BYTES];

    if (snprintf(file.path, sizeof(file.path), "%s", path) >= (int)sizeof(file.path))
        return false;
    if (strcmp(path, TRACE_MANIFEST_NAME) == 0)
        file.kind = TRACE_FILE_MANIFEST;
    else if (names != NULL && is_name_of_names(names))
        file.kind = TRACE_FILE_NAMES;
    else if (debug != NULL && is_name_of_debug(debug))
        file.kind = TRACE_FILE_DEBUG;
    else if (kernel != NULL)
        (void)classify_kernel(&file, kernel);
    else if (slash != NULL && (size_t)(slash - path) < sizeof(process)) {
        snprintf(process, sizeof(process), "%.*s", (int)(slash - path), path);
        if (parse_process_name(process, &file))
            classify(&file, slash + 1);
    }
    if (file.kind == TRACE_FILE_OTHER)
        return false;
    *file_out = file;
    return true;
}

/* ---- listing ----------------------------------------------------------------------------------------------------- */

/* Calls `visit` for each name in a folder of the trace's own, given by its path in there. */
static int walk(struct trace_files *files, const char *path, int (*visit)(struct trace_files *, const char *path))
{
    int folder = openat(files->folder, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    DIR *directory = folder < 0 ? NULL : fdopendir(folder);
    char inside[TRACE_FILE_PATH_BYTES];
    struct dirent *entry;
    int result = 0;

    if (directory == NULL) {
        result = -errno;
        if (folder >= 0)
            close(folder);
        return result;
    }
    while (result == 0 && (errno = 0, entry = readdir(directory)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            /* A name that is cut off does not belong to a trace, and does so no less when it is whole. */
            snprintf(inside, sizeof(inside), "%s%s%s", strcmp(path, ".") == 0 ? "" : path,
                     strcmp(path, ".") == 0 ? "" : "/", entry->d_name);
            result = visit(files, inside);
        }
    if (result == 0 && errno != 0)
        result = -errno;
    closedir(directory);
    return result;
}

static int visit_file(struct trace_files *files, const char *path)
{
    struct trace_file file = {.kind = TRACE_FILE_OTHER}, process = {.kind = TRACE_FILE_OTHER};
    char name[TRACE_PROCESS_NAME_BYTES];

    if (!trace_file_parse(path, &file)) {
        snprintf(file.path, sizeof(file.path), "%s", path);
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(path, "/"), path);
        /* What else is in the folder of a process is listed with it. */
        if (strchr(path, '/') != NULL && parse_process_name(name, &process)) {
            file.pid = process.pid;
            file.image = process.image;
        }
    }
    return add(files, &file);
}

/* The folders in which there is something else than files. */
static bool is_outer_folder(const char *path)
{
    const char *debug = find_inside(path, TRACE_DEBUG_FOLDER);
    const char *id = debug == NULL ? NULL : find_inside(debug, TRACE_ID_FOLDER);

    return strcmp(path, TRACE_DEBUG_FOLDER) == 0 || strcmp(path, TRACE_DEBUG_FOLDER "/" TRACE_ID_FOLDER) == 0 ||
           (id != NULL && strlen(id) == 2 && count_digits(id) == 2);
}

static int visit_trace(struct trace_files *files, const char *path)
{
    struct trace_file process;
    bool is_outer = is_outer_folder(path);
    int result = -ENOTDIR;

    if (is_outer || strcmp(path, TRACE_NAMES_FOLDER) == 0 || strcmp(path, KERNEL_FOLDER) == 0 ||
        parse_process_name(path, &process))
        result = walk(files, path, is_outer ? visit_trace : visit_file);
    return result == -ENOTDIR ? visit_file(files, path) : result;
}

static int compare_numbers(uint64_t left, uint64_t right)
{
    return left < right ? -1 : left > right;
}

/* What is of no process comes behind what is, but for the manifest. */
static unsigned rank(enum trace_file_kind kind)
{
    return kind == TRACE_FILE_OTHER ? 2 : kind >= TRACE_FILE_KERNEL_SOURCES ? 1 : 0;
}

static int compare(const void *left_file, const void *right_file)
{
    const struct trace_file *left = left_file, *right = right_file;
    int order = compare_numbers(rank(left->kind), rank(right->kind));

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
    case EACCES:
        return error_set(err, code, "cannot open '%s': this user may not read it; try as the user who recorded it",
                         path);
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

static int open_folder(struct trace_files *files, const char *path, struct gait_error *err)
{
    int result = 0;

    files->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (files->folder < 0 && errno == ENOTDIR)
        return trace_unpack_open(path, &files->unpacked, &files->folder, err);
    result = files->folder < 0 ? -errno : 0;
    return result == 0 ? 0 : explain_open(path, result, err);
}

static int list(struct trace_files *files, const char *path, struct gait_error *err)
{
    int result = walk(files, ".", visit_trace);

    if (result != 0)
        return explain_open(path, result, err);
    if (!is_trace(files))
        return error_set(err, ENOENT,
                         "cannot read '%s': there is no trace in it; try the folder that was recorded "
                         "into",
                         path);
    qsort(files->files, files->count, sizeof(files->files[0]), compare);
    return 0;
}

int trace_files_open(struct trace_files *files, const char *path, struct gait_error *err)
{
    struct trace_files made = {.folder = -1};
    int result = open_folder(&made, path, err);

    if (result == 0)
        result = list(&made, path, err);
    if (result != 0)
        trace_files_close(&made);
    else
        *files = made;
    return result;
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
    if (files->folder >= 0)
        close(files->folder);
    temporary_folder_remove(files->unpacked);
    free(files->files);
    *files = (struct trace_files){.folder = -1};
}
