/* SPDX-License-Identifier: MIT */
/* As much memory is reserved as there may be files; what is not used is never touched. */
#include "process/module_files.h"

#include "base/memory_functions.h"
#include "base/memory_map.h"
#include "base/partition_point.h"
#include "elf/build_id.h"
#include "elf/loaded_image.h"
#include "process/memory_probe.h"
#include "process/module.h"

#include <asm/errno.h>

#define FILES_MAX 16384u

static bool has_path(const struct module_file *file, const struct mapping *mapping)
{
    return file->path_length == mapping->path_length && memcmp(file->path, mapping->path, mapping->path_length) == 0;
}

static bool is_named(const struct mapping *mapping, const char *name, size_t length)
{
    return mapping->path_length == length && memcmp(mapping->path, name, length) == 0;
}

static void begin_file(struct module_files *files, const struct mapping *mapping, bool is_vdso)
{
    struct module_file *file = &files->files[files->count++];

    file->base = mapping->start;
    file->end = mapping->end;
    file->has_code = mapping->is_executable;
    file->is_vdso = is_vdso;
    file->path_length = mapping->path_length;
    memcpy(file->path, mapping->path, mapping->path_length);
    file->path[mapping->path_length] = '\0';
}

static void take_mapping(void *context, const struct mapping *mapping)
{
    static const char vdso[] = "[vdso]";
    struct module_files *files = context;
    struct module_file *last = files->count == 0 ? NULL : &files->files[files->count - 1];
    bool is_vdso = is_named(mapping, vdso, sizeof(vdso) - 1);

    if (mapping->path_length == 0 || (mapping->path[0] != '/' && !is_vdso))
        return;
    if (last != NULL && mapping->file_offset != 0 && has_path(last, mapping)) {
        last->end = mapping->end;
        last->has_code |= mapping->is_executable;
    } else if ((mapping->file_offset == 0 || is_vdso) && files->count < FILES_MAX) {
        begin_file(files, mapping, is_vdso);
    }
}

int module_files_init(struct module_files *files)
{
    void *memory;
    int result;

    files->count = 0;
    files->mapped_bytes = FILES_MAX * sizeof(files->files[0]);
    result = memory_map(files->mapped_bytes, &memory);
    if (result != 0)
        return result;
    files->files = memory;
    result = mapping_list_visit(0, UINT64_MAX, take_mapping, files);
    if (result != 0)
        module_files_deinit(files);
    return result;
}

void module_files_deinit(struct module_files *files)
{
    memory_unmap(files->files, files->mapped_bytes);
    files->files = NULL;
    files->count = 0;
}

const struct module_file *module_files_at(const struct module_files *files, uint64_t address)
{
    size_t low = PARTITION_POINT(files->count, i, files->files[i].end <= address);

    return low < files->count && address >= files->files[low].base ? &files->files[low] : NULL;
}

int module_describe(uint64_t base, struct module *module_out)
{
    struct elf_loaded_image image;
    struct module module = {.base = base};
    size_t build_id_bytes = 0;
    int result = elf_loaded_image_read(&memory_probe_reader, base, &image);

    if (result != 0)
        return result;
    module.end = image.end;
    module.bias = image.bias;
    module.dynamic = image.dynamic;
    if (elf_build_id_read(&memory_probe_reader, base, module.build_id, sizeof(module.build_id), &build_id_bytes) == 0)
        module.build_id_bytes = (unsigned)build_id_bytes;
    *module_out = module;
    return 0;
}
