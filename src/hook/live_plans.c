/* SPDX-License-Identifier: MIT */
/*
 * Planners speak of addresses as the file has them; here they are moved to where the module is, and back. A module that
 * is no longer mapped as it was is forgotten. Code without a file gets a planner for each question, over some code
 * around it: what was patched there meanwhile is seen as what it is. No lock: the owner has it.
 */
#include "hook/live_plans.h"

#include "arch/arch.h"
#include "arch/host_cpu.h"
#include "base/memory_functions.h"
#include "base/memory_map.h"
#include "hook/hook_image.h"
#include "hook/instruction_plan.h"
#include "process/mapping_list.h"
#include "process/module.h"
#include "process/module_files.h"

#include <asm/errno.h>

/* Of code without a file, so much before and behind an address is looked at. */
#define AROUND_BYTES ((uint64_t)64 * 1024)

struct live_module {
    struct list_node node;
    struct module_file file;
    uint64_t bias;
    struct hook_image image;
};

void live_plans_init(struct live_plans *plans)
{
    list_init(&plans->modules);
}

static struct live_module *module_of(struct list_node *node)
{
    return LIST_ELEMENT(node, struct live_module, node);
}

static void close_module(struct live_module *module)
{
    list_remove(&module->node);
    hook_image_close(&module->image);
    memory_unmap(module, sizeof(*module));
}

void live_plans_deinit(struct live_plans *plans)
{
    LIST_FOR_EACH_REMOVABLE (node, &plans->modules)
        close_module(module_of(node));
}

/* ---- what is at an address --------------------------------------------------------------------------------------- */

struct ground {
    uint64_t address;
    uint64_t start;
    uint64_t end;
    bool is_found;
    bool is_executable;
    bool is_shared;
    bool has_file;
};

static void note_ground(void *context, const struct mapping *mapping)
{
    struct ground *ground = context;

    if (mapping->start > ground->address || mapping->end <= ground->address)
        return;
    ground->start = mapping->start;
    ground->end = mapping->end;
    ground->is_found = true;
    ground->is_executable = mapping->is_executable && mapping->is_readable;
    ground->is_shared = mapping->is_shared;
    ground->has_file = mapping->path_length > 0 && mapping->path[0] == '/';
}

static int look_at(uint64_t address, struct ground *ground_out)
{
    struct ground ground = {.address = address};
    int result = mapping_list_visit(address, address + 1, note_ground, &ground);

    if (result != 0)
        return result;
    if (!ground.is_found)
        return -EFAULT;
    if (!ground.is_executable || ground.is_shared)
        return -EACCES;
    *ground_out = ground;
    return 0;
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

static bool is_same_file(const struct module_file *file, const struct module_file *other)
{
    return file->base == other->base && file->path_length == other->path_length &&
           memcmp(file->path, other->path, file->path_length) == 0;
}

static int open_module(struct live_plans *plans, const struct module_file *file, struct live_module **module_out)
{
    struct live_module *module;
    struct module described;
    void *storage;
    int result = module_describe(file->base, &described);

    if (result == 0)
        result = memory_map(sizeof(*module), &storage);
    if (result != 0)
        return result;
    module = storage;
    module->file = *file;
    module->bias = described.bias;
    result = hook_image_open(&module->image, file->path);
    if (result == 0)
        result = hook_image_survey(&module->image, NULL);
    if (result != 0) {
        close_module(module);
        return result;
    }
    list_add_first(&plans->modules, &module->node);
    *module_out = module;
    return 0;
}

static int find_module(struct live_plans *plans, uint64_t address, struct live_module **module_out)
{
    struct module_files files;
    const struct module_file *file;
    int result = module_files_init(&files);

    if (result != 0)
        return result;
    file = module_files_at(&files, address);
    result = file == NULL || file->is_vdso ? -ENOENT : 0;
    *module_out = NULL;
    LIST_FOR_EACH_REMOVABLE (node, &plans->modules) {
        struct live_module *module = module_of(node);
        const struct module_file *now = module_files_at(&files, module->file.base);

        if (now == NULL || !is_same_file(now, &module->file))
            close_module(module);
        else if (result == 0 && is_same_file(file, &module->file))
            *module_out = module;
    }
    if (result == 0 && *module_out == NULL)
        result = open_module(plans, file, module_out);
    module_files_deinit(&files);
    return result;
}

static int plan_in_module(struct live_module *module, uint64_t address, struct hook_plan *plan_out)
{
    int result = hook_plan_address(&module->image.planner, address - module->bias, plan_out);

    if (result == 0)
        hook_plan_move(plan_out, module->bias);
    return result;
}

/* ---- code without a file ----------------------------------------------------------------------------------------- */

static int plan_anonymous(const struct ground *ground, struct hook_plan *plan_out)
{
    struct elf_function function = {.start = ground->address};
    struct elf_function_list functions = {&function, 1, 1};
    uint64_t start = ground->address - ground->start > AROUND_BYTES ? ground->address - AROUND_BYTES : ground->start;
    uint64_t end = ground->end - ground->address > AROUND_BYTES ? ground->address + AROUND_BYTES : ground->end;
    const struct arch *arch = arch_host();
    struct hook_module module = {
        .spans = {{(const uint8_t *)(uintptr_t)start, start, end - start, true}},
        .span_count = 1,
        .functions = &functions,
        .machine = arch == NULL ? 0 : arch->elf_machine,
        .decode_options = host_cpu_decode_options(),
    };
    struct hook_planner planner;
    size_t bytes = hook_planner_memory_bytes(&module);
    void *memory;
    int result = memory_map(bytes, &memory);

    if (result != 0)
        return result;
    result = hook_planner_init(&planner, &module, memory);
    if (result == 0)
        hook_planner_plan(&planner, &function, plan_out);
    memory_unmap(memory, bytes);
    return result;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

int live_plans_at(struct live_plans *plans, uint64_t address, struct hook_plan *plan_out)
{
    struct live_module *module;
    struct ground ground;
    int result = look_at(address, &ground);

    if (result != 0)
        return result;
    result = ground.has_file ? find_module(plans, address, &module) : -ENOENT;
    if (result == 0)
        return plan_in_module(module, address, plan_out);
    return result == -ENOENT || result == -ENOEXEC ? plan_anonymous(&ground, plan_out) : result;
}

void live_plans_release(struct live_plans *plans, const struct hook_plan *plan)
{
    LIST_FOR_EACH (node, &plans->modules) {
        struct live_module *module = module_of(node);
        struct hook_plan in_file = *plan;

        if (plan->address < module->file.base || plan->address >= module->file.end)
            continue;
        hook_plan_move(&in_file, -module->bias);
        hook_planner_release(&module->image.planner, &in_file);
    }
}

int live_plans_module(struct live_plans *plans, uint64_t address, live_plan_visit visit, void *context)
{
    struct live_module *module;
    int result = find_module(plans, address, &module);

    if (result != 0)
        return result;
    for (size_t i = 0; i < module->image.functions.count; i++) {
        const struct elf_function *function = &module->image.functions.functions[i];
        struct hook_plan in_file, plan;

        hook_planner_plan(&module->image.planner, function, &in_file);
        plan = in_file;
        hook_plan_move(&plan, module->bias);
        if (!visit(context, function, &plan))
            hook_planner_release(&module->image.planner, &in_file);
    }
    return 0;
}
