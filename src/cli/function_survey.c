/* SPDX-License-Identifier: MIT */
/* Everything is where the file says: spans are its segments, as far as they are in the file. */
#include "cli/function_survey.h"

#include "arch/arch.h"
#include "elf/code_pointers.h"
#include "hosted/error_text.h"
#include "symbolize/spelled_functions.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int list_functions(struct function_survey *survey, struct gait_error *err)
{
    const struct elf_symbols *symbols = &survey->file.symbols;
    struct elf_function_list *list = &survey->functions;

    if (elf_function_list_frame(symbols, &survey->frame) != 0)
        survey->frame = (struct eh_frame){0};
    list->capacity = elf_function_list_capacity(symbols, &survey->frame) + elf_symbols_count(&survey->debug.symbols);
    list->functions = calloc(list->capacity + 1, sizeof(*list->functions));
    if (list->functions == NULL || elf_function_list_fill(list, symbols, &survey->debug.symbols, &survey->frame) != 0)
        return error_set(err, ENOMEM, "cannot list the functions of '%s': there is not enough memory for %zu",
                         survey->file.path, list->capacity);
    return 0;
}

/* Segments that overlap, or are not whole in the file, are left out: nobody could run them. */
static bool overlaps(const struct hook_module *module, const Elf64_Phdr *segment)
{
    for (size_t i = 0; i < module->span_count; i++)
        if (segment->p_vaddr < module->spans[i].address + module->spans[i].size_bytes &&
            module->spans[i].address < segment->p_vaddr + segment->p_filesz)
            return true;
    return false;
}

static void add_spans(struct function_survey *survey)
{
    const struct elf_symbols *symbols = &survey->file.symbols;
    struct hook_module *module = &survey->module;

    for (uint64_t i = 0; i < symbols->program_header_count && module->span_count < HOOK_SPANS_MAX; i++) {
        Elf64_Phdr segment;

        memcpy(&segment, symbols->bytes + symbols->program_headers + i * sizeof(segment), sizeof(segment));
        if (segment.p_type != PT_LOAD || segment.p_filesz == 0 || segment.p_offset > symbols->size_bytes ||
            segment.p_filesz > symbols->size_bytes - segment.p_offset ||
            segment.p_vaddr + segment.p_filesz < segment.p_vaddr || overlaps(module, &segment))
            continue;
        module->spans[module->span_count++] = (struct hook_span){
            .bytes = symbols->bytes + segment.p_offset,
            .address = segment.p_vaddr,
            .size_bytes = segment.p_filesz,
            .is_code = segment.p_flags & PF_X,
        };
    }
}

static void find_debug_file(struct function_survey *survey)
{
    const char *folders = getenv("GAIT_DEBUG_PATH");

    if (debug_file_open(&survey->file.symbols, folders == NULL ? DEBUG_FILE_FOLDERS : folders, &survey->debug) != 0)
        survey->debug = (struct debug_file){.unpacked = NULL};
}

int function_survey_open(const char *name, struct function_survey *survey, struct gait_error *err)
{
    int result;

    memset(survey, 0, sizeof(*survey));
    result = code_file_open(name, &survey->file, err);
    if (result != 0)
        return result;
    find_debug_file(survey);
    result = list_functions(survey, err);
    if (result != 0)
        function_survey_close(survey);
    return result;
}

static void take_pointer(void *context, uint64_t address)
{
    hook_planner_add_pointer(context, address);
}

int function_survey_prepare(struct function_survey *survey, struct gait_error *err)
{
    struct hook_module *module = &survey->module;
    int result;

    add_spans(survey);
    module->functions = &survey->functions;
    module->frame = &survey->frame;
    module->machine = survey->file.symbols.machine;
    survey->memory = calloc(1, hook_planner_memory_bytes(module));
    if (survey->memory == NULL)
        return error_set(err, ENOMEM, "cannot look at the code of '%s': there is not enough memory", survey->file.path);
    result = hook_planner_init(&survey->planner, module, survey->memory);
    if (result != 0)
        return error_set(err, -result,
                         "cannot say how functions of '%s' can be hooked: that is not known of %s yet; try a "
                         "file for another CPU",
                         survey->file.path, survey->file.arch->name);
    hook_planner_add_pointers(&survey->planner);
    elf_code_pointers_visit(&survey->file.symbols, take_pointer, &survey->planner);
    return 0;
}

bool function_survey_has(const struct function_survey *survey, const struct elf_function *function)
{
    if (function->is_label || function->is_part)
        return false;
    return survey->memory == NULL || !hook_planner_is_part(&survey->planner, function);
}

size_t function_survey_select(struct function_survey *survey, const char *pattern, uint8_t *marks)
{
    struct function_spelling spelling = function_spelling_of(pattern);
    struct elf_function *functions = survey->functions.functions;
    struct spelled_list list = {.count = 0};
    struct spelled_file file;
    size_t found = 0;

    if (spelling.has_module && !function_spelling_has_module(&spelling, survey->file.path))
        return 0;
    spelled_file_borrow(&file, survey->file.path, &survey->file.symbols, &survey->debug.symbols);
    if (spelled_functions_find(&file, &spelling, &list) != 0)
        list.count = 0;
    for (size_t i = 0; i < list.count; i++) {
        const struct elf_function *function = elf_function_list_find(&survey->functions, list.ones[i].start);

        if (function == NULL || function->start != list.ones[i].start || function->is_label || function->is_part)
            continue;

        size_t which = (size_t)(function - functions);

        if (list.ones[i].name != NULL) {
            functions[which].name = list.ones[i].name;
            functions[which].name_length = (uint32_t)list.ones[i].name_length;
        }
        marks[which] = 1;
        found++;
    }
    spelled_list_deinit(&list);
    spelled_file_close(&file);
    return found;
}

void function_survey_close(struct function_survey *survey)
{
    free(survey->memory);
    free(survey->functions.functions);
    debug_file_close(&survey->debug);
    code_file_close(&survey->file);
    memset(survey, 0, sizeof(*survey));
}
