/* SPDX-License-Identifier: MIT */
#include "support/planned_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void planned_code_init(struct planned_code *code)
{
    memset(code, 0, sizeof(*code));
}

void planned_code_deinit(struct planned_code *code)
{
    free(code->memory);
}

uint64_t planned_code_put(struct planned_code *code, const void *bytes, size_t size_bytes)
{
    uint64_t start = PLANNED_CODE + code->code_bytes;

    if (size_bytes > sizeof(code->code) - code->code_bytes)
        abort();
    memcpy(code->code + code->code_bytes, bytes, size_bytes);
    code->code_bytes += size_bytes;
    return start;
}

uint64_t planned_code_fill(struct planned_code *code, uint8_t byte, size_t count)
{
    uint64_t start = PLANNED_CODE + code->code_bytes;

    while (count-- > 0)
        planned_code_put(code, &byte, 1);
    return start;
}

struct elf_function *planned_code_add(struct planned_code *code, const char *name, const void *bytes, size_t size_bytes)
{
    struct elf_function *function = &code->functions[code->list.count++];

    if (code->list.count > PLANNED_FUNCTIONS)
        abort();
    *function = (struct elf_function){
        .start = planned_code_put(code, bytes, size_bytes),
        .size_bytes = size_bytes,
        .name = name,
        .name_length = name == NULL ? 0 : (uint32_t)strlen(name),
    };
    return function;
}

/* As the list of a file has it. */
static void find_ends(struct planned_code *code)
{
    uint64_t end = 0;

    for (size_t i = 0; i < code->list.count; i++) {
        struct elf_function *function = &code->functions[i];
        uint64_t next = i + 1 < code->list.count ? function[1].start : PLANNED_CODE + code->code_bytes;
        uint64_t own = function->size_bytes == 0 ? next : function->start + function->size_bytes;

        end = own > end ? own : end;
        function->covered_end = end;
    }
}

void planned_code_survey(struct planned_code *code)
{
    struct hook_module *module = &code->module;

    find_ends(code);
    code->list.functions = code->functions;
    code->list.capacity = PLANNED_FUNCTIONS;
    module->spans[0] = (struct hook_span){code->code, PLANNED_CODE, code->code_bytes, true};
    module->spans[1] = (struct hook_span){code->data, PLANNED_DATA, sizeof(code->data), false};
    module->span_count = 2;
    module->functions = &code->list;
    module->machine = PLANNED_MACHINE;
    code->memory = calloc(1, hook_planner_memory_bytes(module));
    if (code->memory == NULL || hook_planner_init(&code->planner, module, code->memory) != 0)
        abort();
}

struct hook_plan planned_code_plan(struct planned_code *code, const struct elf_function *function)
{
    struct hook_plan plan;

    hook_planner_plan(&code->planner, function, &plan);
    return plan;
}

struct hook_plan planned_code_alone(const void *bytes, size_t size_bytes)
{
    struct planned_code code;
    struct elf_function *function;
    struct hook_plan plan;

    planned_code_init(&code);
    function = planned_code_add(&code, "alone", bytes, size_bytes);
    planned_code_survey(&code);
    plan = planned_code_plan(&code, function);
    planned_code_deinit(&code);
    return plan;
}
