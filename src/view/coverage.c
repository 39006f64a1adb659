/* SPDX-License-Identifier: MIT */
/*
 * Mappings are put together by path and build ID; what ran is sorted by file, and each file is opened once, to find all
 * of its functions, and closed when those are counted.
 */
#define _GNU_SOURCE
#include "view/coverage.h"

#include "base/partition_point.h"
#include "hosted/error_text.h"
#include "symbolize/demangle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_FILE UINT32_MAX

struct building {
    struct coverage *coverage;
    const struct view_trace *trace;
    uint32_t *files;       /* of all modules of all processes, one after the other: which file it is */
    size_t *first_modules; /* of each process: where its modules begin there */
    size_t *order;         /* what ran, by file */
};

/* ---- files ------------------------------------------------------------------------------------------------------- */

static bool is_same_file(const struct recorded_module *left, const struct recorded_module *right)
{
    return left->build_id_bytes == right->build_id_bytes && strcmp(left->path, right->path) == 0 &&
           memcmp(left->build_id, right->build_id, sizeof(left->build_id)) == 0;
}

static uint32_t file_of(struct coverage *coverage, const struct recorded_module *module)
{
    /* The one that was mapped last is mapped piece by piece. */
    for (size_t i = coverage->count; i > 0; i--)
        if (is_same_file(coverage->modules[i - 1].module, module))
            return (uint32_t)(i - 1);
    coverage->modules[coverage->count] = (struct coverage_module){.module = module};
    return (uint32_t)coverage->count++;
}

static int find_files(struct building *building)
{
    const struct view_trace *trace = building->trace;
    size_t count = 0;

    for (size_t i = 0; i < trace->process_count; i++)
        count += trace->processes[i].modules.count;
    building->files = calloc(count + 1, sizeof(*building->files));
    building->first_modules = calloc(trace->process_count + 1, sizeof(*building->first_modules));
    building->coverage->modules = calloc(count + 1, sizeof(*building->coverage->modules));
    if (building->files == NULL || building->first_modules == NULL || building->coverage->modules == NULL)
        return -ENOMEM;
    count = 0;
    for (size_t i = 0; i < trace->process_count; i++) {
        const struct modules *modules = &trace->processes[i].modules;

        building->first_modules[i] = count;
        for (size_t m = 0; m < modules->count; m++)
            building->files[count++] = file_of(building->coverage, &modules->modules[m]);
    }
    return 0;
}

static uint32_t file_of_executed(const struct building *building, const struct executed *executed)
{
    const struct modules *modules = &building->trace->processes[executed->process].modules;

    if (executed->module == NULL)
        return NO_FILE;
    return building->files[building->first_modules[executed->process] + (size_t)(executed->module - modules->modules)];
}

static int compare_files(const void *left_index, const void *right_index, void *context)
{
    const struct building *building = context;
    const struct executed *executed = building->coverage->code.executed;
    uint32_t left = file_of_executed(building, &executed[*(const size_t *)left_index]);
    uint32_t right = file_of_executed(building, &executed[*(const size_t *)right_index]);

    return left < right ? -1 : left > right;
}

static int sort_executed(struct building *building)
{
    size_t count = building->coverage->code.count;

    building->order = calloc(count + 1, sizeof(*building->order));
    if (building->order == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        building->order[i] = i;
    qsort_r(building->order, count, sizeof(*building->order), compare_files, building);
    return 0;
}

/* ---- one file ---------------------------------------------------------------------------------------------------- */

/* A file's part of what ran. */
struct coverage_part {
    const struct executed_code *code;
    const size_t *order;
    size_t count;
    struct module_functions known;
    struct code_range *entries; /* functions that were called: by start; their ends do not matter */
    size_t entry_count;
};

static bool knows_file(const struct coverage_module *module)
{
    return module->problem == NULL;
}

static uint64_t place_of(const struct coverage_part *part, const struct executed *executed)
{
    const struct recorded_module *module = executed->module;
    uint64_t place;

    if (module_functions_place(&part->known, module, executed->address, &place) == 0)
        return place;
    return executed->address - module->start + module->file_offset;
}

static int compare_ranges(const void *left_range, const void *right_range)
{
    const struct code_range *left = left_range, *right = right_range;

    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    return left->end < right->end ? -1 : left->end > right->end;
}

/* Those that are the same become one, with all that they were counted. */
static size_t merge(struct code_range *ranges, size_t count)
{
    size_t kept = 0;

    qsort(ranges, count, sizeof(*ranges), compare_ranges);
    for (size_t i = 0; i < count; i++)
        if (kept != 0 && compare_ranges(&ranges[kept - 1], &ranges[i]) == 0)
            ranges[kept - 1].count += ranges[i].count;
        else
            ranges[kept++] = ranges[i];
    return kept;
}

static int gather(struct coverage_module *module, struct coverage_part *part)
{
    module->blocks = calloc(part->count + 1, sizeof(*module->blocks));
    part->entries = calloc(part->count + 1, sizeof(*part->entries));
    if (module->blocks == NULL || part->entries == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < part->count; i++) {
        const struct executed *executed = &part->code->executed[part->order[i]];
        uint64_t place = place_of(part, executed);
        struct code_range range = {place, place + executed->size_bytes, executed->count};

        if (executed->kind == EXECUTED_FUNCTION)
            part->entries[part->entry_count++] = range;
        else
            module->blocks[module->block_count++] = range;
    }
    module->block_count = merge(module->blocks, module->block_count);
    part->entry_count = merge(part->entries, part->entry_count);
    return code_ranges_make(&module->ranges, module->blocks, module->block_count);
}

static size_t first_from(const struct code_range *ranges, size_t count, uint64_t start)
{
    return PARTITION_POINT(count, i, ranges[i].start < start);
}

/* How often something began there. */
static uint64_t count_at(const struct code_range *ranges, size_t count, uint64_t start)
{
    uint64_t sum = 0;

    for (size_t i = first_from(ranges, count, start); i < count && ranges[i].start == start; i++)
        sum += ranges[i].count;
    return sum;
}

/* Whether one of them began there that was counted. */
static bool has_any(const struct code_range *ranges, size_t count, uint64_t start, uint64_t end)
{
    for (size_t i = first_from(ranges, count, start); i < count && ranges[i].start < end; i++)
        if (ranges[i].count != 0)
            return true;
    return false;
}

static bool has_entry(const struct coverage_part *part, uint64_t start)
{
    size_t at = first_from(part->entries, part->entry_count, start);

    return at < part->entry_count && part->entries[at].start == start;
}

/* Jumps come to functions that nobody has called, so a block may have begun more often than there were calls. */
static void count_function(struct coverage_module *module, const struct coverage_part *part,
                           struct coverage_function *function)
{
    uint64_t calls = count_at(part->entries, part->entry_count, function->start);
    uint64_t blocks = count_at(module->blocks, module->block_count, function->start);

    function->count = calls > blocks ? calls : blocks;
    function->executed_bytes = code_ranges_bytes(&module->ranges, function->start, function->end);
    function->is_executed = function->executed_bytes != 0 || function->count != 0 ||
                            has_any(part->entries, part->entry_count, function->start, function->end);
    function->is_watched = !part->code->is_of_hooks || has_entry(part, function->start);
    module->executed_functions += function->is_executed;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void put_name(FILE *stream, const char *name)
{
    char *meaning = demangle(name);

    fputs(meaning == NULL ? name : meaning, stream);
    free(meaning);
}

/* Names that outlive the file, in one piece of memory; those that are missing are made. */
static int put_names(struct coverage_module *module)
{
    const char *slash = strrchr(module->module->path, '/');
    const char *file = slash == NULL ? module->module->path : slash + 1;
    FILE *stream;
    size_t used = 0, *offsets = calloc(module->function_count + 1, sizeof(*offsets));
    bool is_good;

    stream = offsets == NULL ? NULL : open_memstream(&module->made_names, &used);
    if (stream == NULL) {
        free(offsets);
        return -ENOMEM;
    }
    for (size_t i = 0; i < module->function_count; i++) {
        const struct coverage_function *function = &module->functions[i];

        offsets[i] = (size_t)ftell(stream);
        if (function->name != NULL)
            put_name(stream, function->name);
        else
            fprintf(stream, "%s+0x%" PRIx64, file, function->start);
        putc('\0', stream);
    }
    is_good = !ferror(stream);
    is_good = fclose(stream) == 0 && is_good;
    for (size_t i = 0; i < module->function_count && is_good; i++)
        module->functions[i].name = module->made_names + offsets[i];
    free(offsets);
    return is_good ? 0 : -ENOMEM;
}

static int put_functions(struct coverage_module *module, const struct coverage_part *part)
{
    /* Of a file that is not there, those that were called are all that is known. */
    size_t count = knows_file(module) ? part->known.count : part->entry_count;

    module->functions = calloc(count + 1, sizeof(*module->functions));
    if (module->functions == NULL)
        return -ENOMEM;
    module->function_count = count;
    for (size_t i = 0; i < count; i++) {
        struct coverage_function *function = &module->functions[i];

        if (knows_file(module)) {
            const struct module_function *known = &part->known.functions[i];

            *function = (struct coverage_function){.name = known->name, .start = known->start, .end = known->end};
        } else {
            uint64_t start = part->entries[i].start;

            *function = (struct coverage_function){.start = start, .end = start};
        }
        count_function(module, part, function);
    }
    return put_names(module);
}

static int build_module(struct coverage_module *module, struct coverage_part *part)
{
    int result;

    module->problem = module->module->path[0] == '/'
                          ? module_functions_open(&part->known, module->module, part->code->trace->files.folder)
                          : "is not on the disk";
    module->debug_path = strdup(part->known.path == NULL ? "" : part->known.path);
    module->base = part->known.base;
    module->end = part->known.end;
    result = module->debug_path == NULL ? -ENOMEM : gather(module, part);
    if (result == 0)
        result = put_functions(module, part);
    module_functions_close(&part->known);
    free(part->entries);
    return result;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static int build_modules(struct building *building)
{
    struct coverage *coverage = building->coverage;
    size_t at = 0;
    int result = 0;

    for (size_t i = 0; i < coverage->count && result == 0; i++) {
        struct coverage_part part = {.code = &coverage->code, .order = building->order + at};

        while (at < coverage->code.count &&
               file_of_executed(building, &coverage->code.executed[building->order[at]]) == i)
            at++;
        part.count = (size_t)(building->order + at - part.order);
        result = build_module(&coverage->modules[i], &part);
    }
    coverage->elsewhere = coverage->code.count - at;
    return result;
}

int coverage_read(struct coverage *coverage, const struct view_trace *trace, const struct executed_choice *choice,
                  struct gait_error *err)
{
    struct building building = {.coverage = coverage, .trace = trace};
    int read_result, result;

    *coverage = (struct coverage){.count = 0};
    read_result = executed_code_read(&coverage->code, trace, choice, err);
    if (read_result == -ENOMEM)
        return read_result;
    result = find_files(&building);
    if (result == 0)
        result = sort_executed(&building);
    if (result == 0)
        result = build_modules(&building);
    free(building.files);
    free(building.first_modules);
    free(building.order);
    if (result != 0)
        return error_set(err, result, "cannot find what ran: there is no memory; try to free some");
    return read_result;
}

void coverage_deinit(struct coverage *coverage)
{
    for (size_t i = 0; i < coverage->count; i++) {
        struct coverage_module *module = &coverage->modules[i];

        free(module->functions);
        free(module->made_names);
        free(module->debug_path);
        free(module->blocks);
        code_ranges_deinit(&module->ranges);
    }
    free(coverage->modules);
    executed_code_deinit(&coverage->code);
    *coverage = (struct coverage){.count = 0};
}

/* ---- totals ------------------------------------------------------------------------------------------------------ */

static size_t blocks_in(const struct coverage_module *module, uint64_t start, uint64_t end)
{
    return start >= end ? 0
                        : first_from(module->blocks, module->block_count, end) -
                              first_from(module->blocks, module->block_count, start);
}

void coverage_count(const struct coverage_module *module, const struct coverage_filter *filter,
                    struct coverage_totals *totals_out)
{
    struct coverage_totals totals = {.blocks = filter->wants == NULL ? module->block_count : 0};
    uint64_t done = 0;

    for (size_t i = 0; i < module->function_count; i++) {
        const struct coverage_function *function = &module->functions[i];
        uint64_t start = function->start > done ? function->start : done;

        if (filter->wants != NULL && !filter->wants(filter->context, module, function))
            continue;
        totals.unwatched_functions += !function->is_watched;
        if (!function->is_watched)
            continue;
        totals.functions++;
        totals.executed_functions += function->is_executed;
        if (function->end <= start)
            continue;
        totals.code_bytes += function->end - start;
        totals.executed_bytes += code_ranges_bytes(&module->ranges, start, function->end);
        totals.blocks += filter->wants == NULL ? 0 : blocks_in(module, start, function->end);
        done = function->end;
    }
    *totals_out = totals;
}
