/* SPDX-License-Identifier: MIT */
/*
 * A process whose beginning was seen has only what was reported since: a fork has what its parent has, and a program
 * that is executed has nothing yet. Others are looked up once. One that is gone by then may still have a parent that is
 * like it.
 */
#include "kernel/mapped_files.h"

#include "base/time_counter.h"
#include "hosted/growing_array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 4400

int mapped_files_init(struct mapped_files *files)
{
    *files = (struct mapped_files){.began = time_counter()};
    return hash_map_init(&files->numbers, 64);
}

static void forget_modules(struct mapped_process *process)
{
    modules_deinit(&process->modules);
    process->modules = (struct modules){.count = 0};
}

static void destroy(struct mapped_process *process)
{
    forget_modules(process);
    free(process);
}

void mapped_files_deinit(struct mapped_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        destroy(files->list[i]);
    free(files->list);
    hash_map_deinit(&files->numbers);
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

struct mapped_process *mapped_files_find(const struct mapped_files *files, uint32_t pid)
{
    uint64_t number;

    return hash_map_lookup(&files->numbers, pid, &number) ? files->list[number] : NULL;
}

static int set_number(struct mapped_files *files, uint32_t pid, size_t number)
{
    int result = hash_map_set(&files->numbers, pid, number);

    /* Nobody else looks. */
    hash_map_reclaim(&files->numbers);
    return result;
}

/* Makes room: those that ended go. False: all are there yet. */
static bool forget_ended(struct mapped_files *files)
{
    size_t kept = 0, before = files->count;

    for (size_t i = 0; i < files->count; i++) {
        if (files->list[i]->has_ended) {
            (void)hash_map_remove(&files->numbers, files->list[i]->pid);
            destroy(files->list[i]);
            continue;
        }
        files->list[kept] = files->list[i];
        (void)!set_number(files, files->list[kept]->pid, kept);
        kept++;
    }
    files->count = kept;
    return kept < before;
}

static struct mapped_process *add_process(struct mapped_files *files, uint32_t pid)
{
    struct mapped_process *process = mapped_files_find(files, pid);

    if (process != NULL)
        return process;
    if (files->list == NULL)
        files->list = calloc(MAPPED_PROCESSES_MAX, sizeof(struct mapped_process *));
    if (files->list == NULL || (files->count == MAPPED_PROCESSES_MAX && !forget_ended(files)))
        return NULL;
    process = calloc(1, sizeof(*process));
    if (process == NULL || set_number(files, pid, files->count) != 0) {
        free(process);
        return NULL;
    }
    process->pid = pid;
    files->list[files->count++] = process;
    return process;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Memory without a file has names, too. */
static bool is_file(const char *path)
{
    static const char *const others[] = {"//", "/dev/zero", "/memfd:", "/SYSV"};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strncmp(path, others[i], strlen(others[i])) == 0)
            return false;
    return path[0] == '/' || strcmp(path, "[vdso]") == 0;
}

static bool is_known(const struct modules *modules, const struct perf_mapping *mapping)
{
    for (size_t i = 0; i < modules->count; i++)
        if (modules->modules[i].start == mapping->start && strcmp(modules->modules[i].path, mapping->path) == 0)
            return true;
    return false;
}

static void add_file(struct mapped_process *process, const struct perf_mapping *mapping)
{
    struct modules *modules = &process->modules;
    struct recorded_module made = {
        .start = mapping->start,
        .end = mapping->start + mapping->size_bytes,
        .file_offset = mapping->file_offset,
        .loaded = mapping->time,
        .unloaded = UINT64_MAX,
    };

    if (!is_file(mapping->path) || made.end <= made.start || modules->count == MAPPED_FILES_MAX ||
        is_known(modules, mapping))
        return;
    if (ARRAY_RESERVE(modules->modules, modules->capacity, modules->count + 1) != 0)
        return;
    made.path = strdup(mapping->path);
    if (made.path != NULL)
        modules->modules[modules->count++] = made;
}

static void copy_files(struct mapped_process *process, const struct mapped_process *from, uint64_t time)
{
    for (size_t i = 0; i < from->modules.count; i++) {
        const struct recorded_module *module = &from->modules.modules[i];

        add_file(process, &(struct perf_mapping){.time = time,
                                                 .start = module->start,
                                                 .size_bytes = module->end - module->start,
                                                 .file_offset = module->file_offset,
                                                 .path = module->path});
    }
}

/* "7f12-7f34 r-xp 00001000 fe:00 1234    /usr/lib/libc.so.6" */
static void read_line(struct mapped_process *process, char *line, uint64_t time)
{
    struct perf_mapping mapping = {.pid = process->pid, .time = time};
    uint64_t end;
    char access[5];
    int at = 0;

    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &mapping.start, &end, access,
               &mapping.file_offset, &at) != 4 ||
        at == 0 || access[2] != 'x' || end <= mapping.start)
        return;
    mapping.size_bytes = end - mapping.start;
    mapping.path = line + at;
    add_file(process, &mapping);
}

/* False: it is gone, or may not be looked at. */
static bool read_files(struct mapped_process *process, uint32_t pid, uint64_t time)
{
    char path[64], line[LINE_BYTES];
    FILE *file;
    bool has_any = false;

    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    while (fgets(line, sizeof(line), file) != NULL) {
        has_any = true;
        read_line(process, line, time);
    }
    fclose(file);
    return has_any;
}

/* ---- news -------------------------------------------------------------------------------------------------------- */

void mapped_files_map(struct mapped_files *files, const struct perf_mapping *mapping)
{
    struct mapped_process *process = is_file(mapping->path) ? add_process(files, mapping->pid) : NULL;

    if (process != NULL)
        add_file(process, mapping);
}

void mapped_files_execute(struct mapped_files *files, uint32_t pid)
{
    struct mapped_process *process = add_process(files, pid);

    if (process == NULL)
        return;
    forget_modules(process);
    process->is_whole = true;
}

void mapped_files_fork(struct mapped_files *files, uint32_t pid, uint32_t parent_pid, uint64_t time)
{
    struct mapped_process *parent, *process;

    /* A thread has what its process has. */
    if (pid == parent_pid)
        return;
    process = add_process(files, pid);
    /* It may have moved. */
    parent = mapped_files_find(files, parent_pid);
    if (process == NULL)
        return;
    /* The number may have been somebody else's. */
    forget_modules(process);
    *process = (struct mapped_process){.pid = pid, .parent_pid = parent_pid};
    if (parent != NULL && parent->is_whole) {
        process->is_whole = true;
        copy_files(process, parent, time);
    }
}

void mapped_files_exit(struct mapped_files *files, uint32_t pid)
{
    struct mapped_process *process = mapped_files_find(files, pid);

    if (process != NULL)
        process->has_ended = true;
}

struct mapped_process *mapped_files_look(struct mapped_files *files, uint32_t pid)
{
    struct mapped_process *process = add_process(files, pid);

    if (process == NULL || process->is_whole || process->was_looked_at)
        return process;
    process->was_looked_at = true;
    if (!read_files(process, pid, files->began) && process->parent_pid != 0)
        (void)read_files(process, process->parent_pid, files->began);
    return process;
}
