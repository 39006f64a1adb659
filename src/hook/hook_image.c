/* SPDX-License-Identifier: MIT */
#include "hook/hook_image.h"

#include "arch/host_cpu.h"
#include "base/memory_map.h"

#include <asm/errno.h>
#include <linux/elf.h>

static void take_span(struct hook_image *image, const Elf64_Phdr *segment)
{
    const struct symbol_file *file = &image->file;
    struct hook_module *module = &image->module;

    if (segment->p_type != PT_LOAD || segment->p_filesz == 0 || segment->p_offset > file->size_bytes ||
        file->size_bytes - segment->p_offset < segment->p_filesz || module->span_count == HOOK_SPANS_MAX)
        return;
    module->spans[module->span_count++] = (struct hook_span){
        .bytes = (const uint8_t *)file->memory + segment->p_offset,
        .address = segment->p_vaddr,
        .size_bytes = segment->p_filesz,
        .is_code = segment->p_flags & PF_X,
    };
}

static int take_spans(struct hook_image *image)
{
    const uint8_t *headers = (const uint8_t *)image->file.memory + image->file.symbols.program_headers;
    bool has_code = false;

    for (uint64_t i = 0; i < image->file.symbols.program_header_count; i++) {
        Elf64_Phdr segment;

        __builtin_memcpy(&segment, headers + i * sizeof(segment), sizeof(segment));
        take_span(image, &segment);
    }
    for (size_t i = 0; i < image->module.span_count; i++)
        has_code |= image->module.spans[i].is_code;
    return has_code ? 0 : -ENOEXEC;
}

static int list_functions(struct hook_image *image)
{
    struct elf_function_list *list = &image->functions;
    void *storage;
    int result;

    list->capacity = elf_function_list_capacity(&image->file.symbols, &image->frame);
    if (list->capacity == 0)
        return 0;
    result = memory_map(list->capacity * sizeof(*list->functions), &storage);
    if (result != 0) {
        list->capacity = 0;
        return result;
    }
    list->functions = storage;
    return elf_function_list_fill(list, &image->file.symbols, NULL, &image->frame);
}

int hook_image_open(struct hook_image *image, const char *path)
{
    Elf64_Ehdr header;
    int result;

    *image = (struct hook_image){.memory = NULL};
    result = symbol_file_open_whole(path, &image->file);
    if (result != 0)
        return result;
    __builtin_memcpy(&header, image->file.memory, sizeof(header));
    image->entry = header.e_entry;
    if (elf_function_list_frame(&image->file.symbols, &image->frame) != 0)
        image->frame = (struct eh_frame){.bytes = NULL};
    result = take_spans(image);
    if (result == 0)
        result = list_functions(image);
    if (result != 0)
        hook_image_close(image);
    return result;
}

int hook_image_survey(struct hook_image *image, const struct hook_interest *interest)
{
    struct hook_module *module = &image->module;
    int result;

    module->functions = &image->functions;
    module->frame = image->frame.bytes == NULL ? NULL : &image->frame;
    module->machine = image->file.symbols.machine;
    module->decode_options = host_cpu_decode_options();
    image->memory_bytes = hook_planner_memory_bytes(module);
    result = memory_map(image->memory_bytes, &image->memory);
    return result != 0 ? result : hook_planner_init_for(&image->planner, module, interest, image->memory);
}

void hook_image_close(struct hook_image *image)
{
    if (image->memory != NULL)
        memory_unmap(image->memory, image->memory_bytes);
    if (image->functions.functions != NULL)
        memory_unmap(image->functions.functions, image->functions.capacity * sizeof(*image->functions.functions));
    symbol_file_close(&image->file);
    *image = (struct hook_image){.memory = NULL};
}
