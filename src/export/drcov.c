/* SPDX-License-Identifier: MIT */
/*
 * The blocks that ran, as DynamoRIO's drcov writes them (version 2, modules of version 2), which plugins of
 * disassemblers read: a table of modules in text, then a record of 8 bytes for each block. Of a trace without blocks,
 * but with calls, each function that was called is written by its first byte: no more is known to have run.
 */
#include "export/export_format.h"
#include "export/export_text.h"
#include "hosted/error_text.h"
#include "view/coverage.h"

#include <errno.h>
#include <inttypes.h>

#define BLOCK_BYTES_MAX UINT16_MAX
#define MODULES_MAX     UINT16_MAX
#define PATH_BYTES      4096

/* As in the file. */
struct drcov_block {
    uint32_t start; /* from where the module begins */
    uint16_t size_bytes;
    uint16_t module;
};

_Static_assert(sizeof(struct drcov_block) == 8, "without padding");

struct drcov {
    const struct coverage *coverage;
    FILE *stream; /* NULL: blocks are only counted */
    uint64_t count;
};

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static void put_block(struct drcov *drcov, size_t module, uint64_t start, uint64_t size_bytes)
{
    if (start > UINT32_MAX)
        return;
    for (;;) {
        uint64_t part = size_bytes > BLOCK_BYTES_MAX ? BLOCK_BYTES_MAX : size_bytes;
        const struct drcov_block block = {(uint32_t)start, (uint16_t)part, (uint16_t)module};

        drcov->count++;
        if (drcov->stream != NULL)
            fwrite(&block, sizeof(block), 1, drcov->stream);
        if (size_bytes == part || start + part > UINT32_MAX)
            return;
        start += part;
        size_bytes -= part;
    }
}

static void put_module_blocks(struct drcov *drcov, size_t number)
{
    const struct coverage_module *module = &drcov->coverage->modules[number];

    for (size_t i = 0; i < module->block_count; i++)
        put_block(drcov, number, module->blocks[i].start - module->base,
                  module->blocks[i].end - module->blocks[i].start);
    for (size_t i = 0; i < module->function_count && !drcov->coverage->code.has_blocks; i++)
        if (module->functions[i].is_executed)
            put_block(drcov, number, module->functions[i].start - module->base, 1);
}

static void put_blocks(struct drcov *drcov)
{
    for (size_t i = 0; i < drcov->coverage->count && i < MODULES_MAX; i++)
        put_module_blocks(drcov, i);
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

/* Where it is loaded differs from process to process: addresses are as in its file. */
static void put_module(FILE *stream, const struct coverage_module *module, size_t number)
{
    uint64_t end =
        module->end > module->base ? module->end : module->base + module->module->end - module->module->start;
    char path[PATH_BYTES];

    (void)export_text_clean(path, sizeof(path), module->module->path);
    fprintf(stream, "%3zu, 0x%016" PRIx64 ", 0x%016" PRIx64 ", 0x%016x, %s\n", number, module->base, end, 0, path);
}

static void put_coverage(const struct coverage *coverage, FILE *stream)
{
    struct drcov drcov = {.coverage = coverage};
    size_t count = coverage->count < MODULES_MAX ? coverage->count : MODULES_MAX;

    put_blocks(&drcov);
    fprintf(stream,
            "DRCOV VERSION: 2\nDRCOV FLAVOR: gait\nModule Table: version 2, count %zu\n"
            "Columns: id, base, end, entry, path\n",
            count);
    for (size_t i = 0; i < count; i++)
        put_module(stream, &coverage->modules[i], i);
    fprintf(stream, "BB Table: %" PRIu64 " bbs\n", drcov.count);
    drcov.stream = stream;
    put_blocks(&drcov);
}

static int write_drcov(const struct export_job *job, struct gait_error *err)
{
    const struct executed_choice choice = {job->threads, job->thread_count, job->from_ns, job->to_ns};
    struct coverage coverage;
    int result = coverage_read(&coverage, job->trace, &choice, err);

    if (result != -ENOMEM)
        put_coverage(&coverage, job->stream);
    if (result == 0 && !coverage.code.has_blocks && !coverage.code.has_functions)
        result = error_set(err, ENOENT,
                           "the trace holds no record of which code ran; record it with 'gait spawn --follow block'");
    coverage_deinit(&coverage);
    return result;
}

extern const struct export_format export_format_drcov;
const struct export_format export_format_drcov = {
    .name = "drcov",
    .file_name = "trace.drcov",
    .kind = EXPORT_BINARY,
    .write = write_drcov,
};
