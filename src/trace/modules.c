/* SPDX-License-Identifier: MIT */
/*
 * A program has some dozens of modules, so they are searched one by one. What is mapped over another module ends that
 * one there and then, whether or not its unloading was recorded: the later one is found first.
 */
#include "trace/modules.h"

#include "hosted/error_text.h"
#include "hosted/growing_array.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int add(struct modules *modules, const struct trace_module *module, const uint8_t *path)
{
    if (ARRAY_RESERVE(modules->modules, modules->capacity, modules->count + 1) != 0)
        return -ENOMEM;

    struct recorded_module made = {
        .start = module->start,
        .end = module->end,
        .file_offset = module->file_offset,
        .loaded = module->time,
        .unloaded = UINT64_MAX,
        .path = strndup((const char *)path, module->path_bytes),
        .build_id_bytes = module->build_id_bytes,
    };

    if (made.path == NULL)
        return -ENOMEM;
    memcpy(made.build_id, module->build_id, sizeof(made.build_id));
    modules->modules[modules->count++] = made;
    return 0;
}

/* What another one lies over altogether is gone, told or not. */
static void end_covered(struct modules *modules, const struct trace_module *loaded)
{
    for (size_t i = 0; i < modules->count; i++) {
        struct recorded_module *module = &modules->modules[i];

        if (module->unloaded == UINT64_MAX && loaded->start <= module->start && module->end <= loaded->end)
            module->unloaded = loaded->time > module->loaded ? loaded->time : module->loaded;
    }
}

/* Ends the module that is there; that there is none is no mistake, for its beginning may be lost. */
static void end_module(struct modules *modules, const struct trace_module *change)
{
    for (size_t i = modules->count; i-- > 0;) {
        struct recorded_module *module = &modules->modules[i];

        if (module->start == change->start && module->end == change->end && module->unloaded == UINT64_MAX) {
            module->unloaded = change->time;
            return;
        }
    }
}

static bool is_possible(const struct trace_module *module, size_t available)
{
    return module->size_bytes <= available && module->size_bytes >= sizeof(*module) &&
           module->size_bytes % TRACE_ALIGNMENT == 0 && module->path_bytes <= module->size_bytes - sizeof(*module) &&
           module->start < module->end && module->build_id_bytes <= sizeof(module->build_id) &&
           (module->change == TRACE_MODULE_LOADED || module->change == TRACE_MODULE_UNLOADED);
}

static int read_chunk(struct modules *modules, const struct stream_chunk *chunk, const char *path,
                      struct gait_error *err)
{
    struct trace_module module;

    for (size_t at = 0; at < chunk->size_bytes; at += module.size_bytes) {
        size_t available = chunk->size_bytes - at;

        if (available >= sizeof(module))
            memcpy(&module, chunk->bytes + at, sizeof(module));
        if (available < sizeof(module) || !is_possible(&module, available))
            return error_set(err, EPROTO,
                             "cannot read '%s': byte %zu of chunk %" PRIu64 " begins no module; it was written by "
                             "something else than gait",
                             path, at, chunk->sequence);
        if (module.change == TRACE_MODULE_UNLOADED)
            end_module(modules, &module);
        else
            end_covered(modules, &module);
        if (module.change == TRACE_MODULE_LOADED && add(modules, &module, chunk->bytes + at + sizeof(module)) != 0)
            return error_set(err, ENOMEM, "cannot read '%s': there is no memory for its modules; try to free some",
                             path);
    }
    return 0;
}

int modules_read(struct modules *modules, int folder, const char *path, struct gait_error *err)
{
    struct stream_reader reader;
    struct stream_chunk chunk;
    int result = stream_reader_open(&reader, folder, path, err);

    if (result != 0)
        return result;
    *modules = (struct modules){.count = 0};
    if (reader.header.kind != TRACE_STREAM_MODULES)
        result = error_set(err, EPROTO, "cannot read '%s': it is a stream, but not one of modules; files were mixed up",
                           path);
    while (result == 0 && stream_reader_next(&reader, &chunk))
        result = read_chunk(modules, &chunk, path, err);
    modules->end = reader.end;
    stream_reader_close(&reader);
    if (result != 0)
        modules_deinit(modules);
    return result;
}

void modules_deinit(struct modules *modules)
{
    for (size_t i = 0; i < modules->count; i++) {
        for (size_t j = 0; j < modules->modules[i].name_count; j++)
            free(modules->modules[i].names[j].name);
        free(modules->modules[i].names);
        free(modules->modules[i].path);
    }
    free(modules->modules);
    *modules = (struct modules){.count = 0};
}

int modules_set_name(struct modules *modules, uint64_t address, const char *name)
{
    for (size_t i = 0; i < modules->count; i++) {
        struct recorded_module *module = &modules->modules[i];
        char *copy;

        if (address < module->start || address >= module->end)
            continue;
        copy = ARRAY_RESERVE_NEXT(module->names, module->name_count) != 0 ? NULL : strdup(name);
        if (copy == NULL)
            return -ENOMEM;
        module->names[module->name_count++] = (struct module_name){address, copy};
    }
    return 0;
}

const struct recorded_module *modules_find(const struct modules *modules, uint64_t address, uint64_t first,
                                           uint64_t last)
{
    for (size_t i = modules->count; i-- > 0;) {
        const struct recorded_module *module = &modules->modules[i];

        if (address >= module->start && address < module->end && module->loaded <= last && first < module->unloaded)
            return module;
    }
    return NULL;
}
