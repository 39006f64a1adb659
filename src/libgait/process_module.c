/* SPDX-License-Identifier: MIT */
#include "libgait/process_module.h"

#include "process/memory_probe.h"
#include "process/module.h"

void process_module_fill(const struct module *module, struct process_module *process_module_out)
{
    struct gait_module *filled = &process_module_out->module;
    struct elf_loaded_image image;

    *filled = (struct gait_module){
        .size_bytes = sizeof(*filled),
        .base = module->base,
        .end = module->end,
        .bias = module->bias,
        .path = module->path,
        .build_id = module->build_id,
        .build_id_bytes = module->build_id_bytes,
        .segments = process_module_out->segments,
        .flags = (module->is_program ? GAIT_MODULE_PROGRAM : 0) | (module->is_vdso ? GAIT_MODULE_VDSO : 0) |
                 (module->link_map != 0 ? GAIT_MODULE_LINKED : 0),
        .namespace_number = module->namespace_number,
    };
    if (elf_loaded_image_read(&memory_probe_reader, module->base, &image) != 0)
        return;
    for (unsigned i = 0; i < image.segment_count; i++)
        process_module_out->segments[filled->segment_count++] = (struct gait_segment){
            .start = image.segments[i].start,
            .end = image.segments[i].end,
            .file_offset = image.segments[i].file_offset,
            .file_bytes = image.segments[i].file_bytes,
            .access = image.segments[i].access,
        };
}
