/* SPDX-License-Identifier: MIT */
/*
 * A file is identified by its build ID. One without is what it was when it was mapped only if it was not changed
 * it since: the time of its last change is compared with that of the mapping, and kept with the names.
 */
#include "symbolize/kept_trace.h"

#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "symbolize/kept_functions.h"
#include "trace/chunk_encoder.h"
#include "trace/foreign_roots.h"
#include "trace/kept_names.h"
#include "trace/manifest.h"
#include "trace/modules.h"
#include "trace/trace_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NANOSECONDS 1000000000ll

/* ---- which files ------------------------------------------------------------------------------------------------- */

/* Files that were visited, by what their names would be kept as. */
struct visited {
    char (*names)[KEPT_NAME_BYTES];
    size_t count;
    size_t capacity;
};

static bool is_visited(const struct visited *visited, const char *name)
{
    for (size_t i = 0; i < visited->count; i++)
        if (strcmp(visited->names[i], name) == 0)
            return true;
    return false;
}

static int note_visit(struct visited *visited, const char *name)
{
    if (ARRAY_RESERVE(visited->names, visited->capacity, visited->count + 1) != 0)
        return -ENOMEM;
    memcpy(visited->names[visited->count++], name, KEPT_NAME_BYTES);
    return 0;
}

/* Of files without an ID nobody knows whether they are the same: each mapping is another one. */
static void name_visit(const struct recorded_module *module, char name_out[KEPT_NAME_BYTES])
{
    kept_names_file(module, name_out);
    if (module->build_id_bytes == 0)
        snprintf(name_out + strlen(name_out), KEPT_NAME_BYTES - strlen(name_out), " %" PRIx64, module->loaded);
}

static int visit_modules(const struct modules *modules, struct visited *visited,
                         int (*visit)(void *context, const struct recorded_module *module), void *context)
{
    char name[KEPT_NAME_BYTES] = "";
    int result = 0;

    for (size_t i = modules->count; i-- > 0 && result == 0;) {
        name_visit(&modules->modules[i], name);
        if (is_visited(visited, name))
            continue;
        result = note_visit(visited, name);
        if (result == 0)
            result = visit(context, &modules->modules[i]);
    }
    return result;
}

int kept_trace_visit(const struct trace_files *files, int (*visit)(void *context, const struct recorded_module *module),
                     void *context)
{
    struct visited visited = {.count = 0};
    struct modules modules;
    int result = 0;

    for (size_t i = 0; i < files->count && result == 0; i++) {
        if (files->files[i].kind != TRACE_FILE_MODULES ||
            modules_read(&modules, files->folder, files->files[i].path, NULL) != 0)
            continue;
        result = visit_modules(&modules, &visited, visit, context);
        modules_deinit(&modules);
    }
    free(visited.names);
    return result;
}

/* ---- when they changed ------------------------------------------------------------------------------------------- */

/* What the counter was at that time of day. False: the manifest does not tell. 0: before the recording. */
static bool counter_at(const struct manifest *manifest, int64_t unix_ns, uint64_t *counter_out)
{
    const struct clock_pair *first, *last;

    *counter_out = 0;
    if (unix_ns <= manifest->began_unix_ns)
        return true;
    if (manifest->clock_count < 2)
        return false;
    first = &manifest->clocks[0];
    last = &manifest->clocks[manifest->clock_count - 1];
    if (last->monotonic_ns <= first->monotonic_ns || last->counter <= first->counter)
        return false;
    *counter_out =
        first->counter +
        (uint64_t)((double)(unix_ns - manifest->began_unix_ns) *
                   ((double)(last->counter - first->counter) / (double)(last->monotonic_ns - first->monotonic_ns)));
    return true;
}

/* Notes since when a file without an ID is as it is. False: nobody knows. */
static bool note_change(const struct manifest *manifest, struct kept_names *names)
{
    struct stat status;

    return stat(names->path, &status) == 0 &&
           counter_at(manifest, status.st_ctim.tv_sec * NANOSECONDS + status.st_ctim.tv_nsec, &names->file.from);
}

/* ---- keeping ----------------------------------------------------------------------------------------------------- */

struct keeping {
    const struct trace_files *files;
    int folder;
    int names_folder; /* in that folder; -1: not yet */
    const struct foreign_roots *roots;
    struct manifest manifest;
    struct chunk_encoder *encoder;
    struct kept_outcome outcome;
    struct gait_error *err;
};

static bool is_kept(const struct keeping *keeping, const char *name)
{
    char path[KEPT_NAME_BYTES + sizeof(TRACE_NAMES_FOLDER)];

    snprintf(path, sizeof(path), TRACE_NAMES_FOLDER "/%s", name);
    return faccessat(keeping->files->folder, path, F_OK, 0) == 0 || faccessat(keeping->folder, path, F_OK, 0) == 0;
}

static int open_names_folder(struct keeping *keeping)
{
    if (keeping->names_folder >= 0)
        return 0;
    if (mkdirat(keeping->folder, TRACE_NAMES_FOLDER, 0777) != 0 && errno != EEXIST)
        return -errno;
    keeping->names_folder = openat(keeping->folder, TRACE_NAMES_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return keeping->names_folder < 0 ? -errno : 0;
}

static int keep(struct keeping *keeping, const struct kept_names *names, const char *name)
{
    int result = open_names_folder(keeping);
    uint64_t file_bytes = 0;

    if (result == 0)
        result = kept_names_write(names, keeping->names_folder, name, keeping->encoder, &file_bytes);
    if (result != 0)
        return error_set(keeping->err, result, "cannot keep the names of functions in the trace: %s",
                         strerror(-result));
    keeping->outcome.kept_count++;
    keeping->outcome.file_bytes += file_bytes;
    keeping->outcome.function_count += names->function_count;
    return 0;
}

/* The same file where processes looked for it. */
static bool gather_elsewhere(const struct foreign_roots *roots, const struct recorded_module *module,
                             struct kept_names *names_out)
{
    struct recorded_module seen = *module;
    bool is_found = false;

    for (size_t i = 0; roots != NULL && i < roots->count && module->path[0] == '/' && !is_found; i++) {
        char *path = foreign_roots_path(roots, i, module->path);

        seen.path = path;
        is_found = path != NULL && kept_functions_gather(&seen, names_out) == NULL;
        free(path);
    }
    return is_found;
}

/* As the process calls it. */
static int rename_file(struct kept_names *names, const char *path)
{
    char *copy = strdup(path);

    if (copy == NULL)
        return -ENOMEM;
    free(names->path);
    names->path = copy;
    return 0;
}

static int visit(void *context, const struct recorded_module *module)
{
    struct keeping *keeping = context;
    char name[KEPT_NAME_BYTES];
    struct kept_names names;
    bool is_told;
    int result = 0;

    kept_names_file(module, name);
    if (is_kept(keeping, name))
        return 0;
    if (kept_functions_gather(module, &names) != NULL && !gather_elsewhere(keeping->roots, module, &names)) {
        /* The kernel has more names for code that is in no file. */
        keeping->outcome.left_count += module->path[0] == '/';
        return 0;
    }
    /* Of a file that has changed, names are kept for what was mapped since, and to tell that it has. */
    is_told = module->build_id_bytes != 0 || note_change(&keeping->manifest, &names);
    if (is_told)
        result = rename_file(&names, module->path);
    if (is_told && result == 0)
        result = keep(keeping, &names, name);
    keeping->outcome.left_count += !kept_names_are_of(&names, module);
    kept_names_deinit(&names);
    return result;
}

static int make_encoder(struct chunk_encoder **encoder_out)
{
    int result = chunk_encoder_create(true, encoder_out);

    /* Without zstd they are larger. */
    return result == -EOPNOTSUPP ? chunk_encoder_create(false, encoder_out) : result;
}

int kept_trace_write(const struct trace_files *files, int folder, const struct foreign_roots *roots,
                     struct kept_outcome *outcome_out, struct gait_error *err)
{
    struct keeping keeping = {.files = files, .folder = folder, .names_folder = -1, .roots = roots, .err = err};
    bool has_manifest = manifest_read(files->folder, &keeping.manifest, NULL) == 0;
    int result;

    if (!has_manifest)
        keeping.manifest = (struct manifest){.clock_count = 0};
    result = make_encoder(&keeping.encoder);
    if (result == 0)
        result = kept_trace_visit(files, visit, &keeping);
    if (result == -ENOMEM)
        (void)error_set(err, ENOMEM, "cannot keep the names of functions in the trace: no memory");
    if (keeping.names_folder >= 0)
        close(keeping.names_folder);
    chunk_encoder_destroy(keeping.encoder);
    if (has_manifest)
        manifest_free(&keeping.manifest);
    *outcome_out = keeping.outcome;
    return result;
}
