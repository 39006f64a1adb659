/* SPDX-License-Identifier: MIT */
/*
 * Files are read when they are first asked for, and kept with the build ID that was wanted of them. The file itself is
 * preferred: more may be known of it by now than when it was recorded.
 */
#include "symbolize/function_names.h"

#include "symbolize/kept_functions.h"
#include "trace/kept_names.h"
#include "trace/modules.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char changed[] = "has changed since";

struct function_file {
    struct function_file *next;
    const struct module *module; /* the first one that wanted it: its path and build ID */
    const char *problem;         /* NULL: there is nothing to say */
    bool is_there;               /* the file, as it was mapped */
    bool has_names;
    struct kept_names names;
};

void function_names_init(struct function_names *names)
{
    *names = (struct function_names){.folder = -1};
}

void function_names_use_trace(struct function_names *names, int folder)
{
    names->folder = folder;
}

void function_names_deinit(struct function_names *names)
{
    while (names->files != NULL) {
        struct function_file *file = names->files;

        names->files = file->next;
        kept_names_deinit(&file->names);
        free(file);
    }
}

/* What was kept of it. -ENOENT: nothing; -EPROTO: it is damaged. */
static int read_kept(int folder, const struct module *module, struct kept_names *names_out)
{
    char name[KEPT_NAME_BYTES], path[KEPT_NAME_BYTES + sizeof(TRACE_NAMES_FOLDER)];
    struct kept_names names;

    if (folder < 0)
        return -ENOENT;
    kept_names_file(module, name);
    snprintf(path, sizeof(path), TRACE_NAMES_FOLDER "/%s", name);
    if (faccessat(folder, path, F_OK, 0) != 0)
        return -ENOENT;
    if (kept_names_read(&names, folder, path, NULL) != 0)
        return -EPROTO;
    if (!kept_names_are_of(&names, module)) {
        kept_names_deinit(&names);
        return -ENOENT;
    }
    *names_out = names;
    return 0;
}

/* Without a build ID, only what was kept of a file can tell whether this is the same. */
static bool is_other(const struct kept_names *now, const struct kept_names *kept)
{
    return now->file.build_id_bytes == 0 &&
           (now->file.file_bytes != kept->file.file_bytes || now->file.file_crc != kept->file.file_crc);
}

/* What to say where names were kept, or could not be read. */
static const char *explain(const char *problem, int kept)
{
    if (problem == changed || strcmp(problem, changed) == 0)
        return kept == 0 ? "has changed since; these names were kept"
                         : kept == -EPROTO ? "has changed since, and the names that were kept are damaged" : changed;
    return kept == 0 ? NULL : kept == -EPROTO ? "is not there, and the names that were kept are damaged" : problem;
}

static void read_file(struct function_file *file, int folder)
{
    struct kept_names kept = {.path = NULL};
    const char *problem = kept_functions_gather(file->module, &file->names);
    bool is_doubtful = problem == NULL && file->module->build_id_bytes == 0;
    int result = problem != NULL || is_doubtful ? read_kept(folder, file->module, &kept) : -ENOENT;

    if (is_doubtful && result == 0 && is_other(&file->names, &kept)) {
        kept_names_deinit(&file->names);
        problem = changed;
    }
    file->is_there = problem == NULL;
    file->has_names = problem == NULL || result == 0;
    if (problem == NULL) {
        kept_names_deinit(&kept);
        return;
    }
    file->names = kept;
    file->problem = explain(problem, result);
}

static int is_same(const struct module *left, const struct module *right)
{
    return strcmp(left->path, right->path) == 0 && left->build_id_bytes == right->build_id_bytes &&
           memcmp(left->build_id, right->build_id, sizeof(left->build_id)) == 0 &&
           /* Without an ID, what was mapped at another time may have been something else. */
           (left->build_id_bytes != 0 || left->loaded == right->loaded);
}

/* NULL: there is no memory. */
static struct function_file *get_file(struct function_names *names, const struct module *module)
{
    struct function_file *file = names->files;

    while (file != NULL && !is_same(file->module, module))
        file = file->next;
    if (file != NULL)
        return file;
    file = calloc(1, sizeof(*file));
    if (file == NULL)
        return NULL;
    file->module = module;
    read_file(file, names->folder);
    file->next = names->files;
    names->files = file;
    return file;
}

const char *function_names_find(struct function_names *names, const struct module *module, uint64_t address, char *text,
                                size_t text_bytes)
{
    uint64_t offset = address - module->start + module->file_offset, place;
    const char *slash = strrchr(module->path, '/');
    struct function_file *file = get_file(names, module);
    const struct kept_function *function = NULL;

    snprintf(text, text_bytes, "%s+0x%" PRIx64, slash == NULL ? module->path : slash + 1, offset);
    if (file == NULL)
        return "is too large for the memory";
    if (file->has_names && kept_names_place(&file->names, offset, &place) == 0)
        function = kept_names_find(&file->names, place);
    if (function != NULL && place == function->address)
        snprintf(text, text_bytes, "%s", file->names.text + function->name);
    else if (function != NULL)
        snprintf(text, text_bytes, "%s+0x%" PRIx64, file->names.text + function->name, place - function->address);
    return file->problem;
}

int function_names_place(struct function_names *names, const struct module *module, uint64_t address,
                         uint64_t *place_out)
{
    struct function_file *file = get_file(names, module);

    if (file == NULL || !file->is_there)
        return -ENOENT;
    return kept_names_place(&file->names, address - module->start + module->file_offset, place_out);
}
