/* SPDX-License-Identifier: MIT */
/*
 * A copy is executable memory of its own and the storage in which the CPU's relocator keeps the way back. How large
 * both become is known only afterwards: they are tried, and doubled while they are too small. Once made, a copy is only
 * read; no lock.
 */
#include "gait/code_copy.h"

#include "arch/arch.h"
#include "arch/cpu.h"
#include "arch/host_cpu.h"
#include "base/code_memory.h"
#include "hosted/error_text.h"
#include "libgait/export.h"
#include "libgait/options.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Copies are at most this much larger than their original, or somebody runs in circles. */
#define GROWTH_MAX 256

/* How far away FAR is: 64 GiB, which no displacement reaches. */
#define FAR_DISTANCE (1ull << 36)

struct gait_code_copy {
    const struct arch *arch;
    struct code_memory *memory;
    void *storage;
    uint64_t start;
    size_t code_bytes;
    size_t total_bytes; /* with the constants */
};

/* A copy in the making. */
struct attempt {
    const struct arch *arch;
    struct arch_relocation relocation;
    struct code_memory_options memory;
    size_t storage_bytes;
};

static const struct options_type copy_options = {
    "copy code",
    "gait_code_copy_options",
    sizeof(struct gait_code_copy_options),
};

static int read_options(const struct gait_code_copy_options *given, struct gait_code_copy_options *options_out,
                        struct gait_error *err)
{
    struct gait_code_copy_options options;
    int result = options_read(&copy_options, given, &options, err);

    if (result != 0)
        return result;
    if ((unsigned)options.placement > GAIT_PLACEMENT_FAR ||
        (unsigned)options.return_address > GAIT_RETURN_TO_ORIGINAL || (unsigned)options.spill > GAIT_SPILL_SEGMENT)
        return error_set(err, EINVAL,
                         "cannot copy code: the options hold a value that is none of those in "
                         "gait/code_copy.h; begin with a struct of zeroes");
    *options_out = options;
    return 0;
}

static uint64_t place_for(enum gait_placement placement, uint64_t original)
{
    if (placement == GAIT_PLACEMENT_ANY)
        return 0;
    if (placement == GAIT_PLACEMENT_NEAR)
        return original == 0 ? 1 : original;
    return original < FAR_DISTANCE * 2 ? original + FAR_DISTANCE : original - FAR_DISTANCE;
}

static bool is_in_reach(const struct gait_code_copy *copy, uint64_t original)
{
    uint64_t distance = copy->start > original ? copy->start - original : original - copy->start;

    return distance < 2 * (uint64_t)UINT32_MAX;
}

static int copy_into(const struct attempt *attempt, struct gait_code_copy *copy)
{
    struct arch_copy_extent extent;
    struct code_writer writer;
    int result = code_memory_reserve(copy->memory, code_memory_room(copy->memory), &writer);

    if (result != 0)
        return result;
    result = attempt->arch->relocate(&attempt->relocation, &writer, copy->storage, attempt->storage_bytes, &extent);
    if (result != 0) {
        code_memory_abort(copy->memory, &writer);
        return result;
    }
    result = code_memory_commit(copy->memory, &writer);
    if (result != 0)
        return result;
    copy->arch = attempt->arch;
    copy->start = writer.base_pc.value;
    copy->code_bytes = extent.code_bytes;
    copy->total_bytes = extent.total_bytes;
    return 0;
}

/* Tries once. -ENOSPC: too little memory for code; -E2BIG: too little storage. */
static int try_copy(const struct attempt *attempt, struct gait_code_copy **copy_out)
{
    struct gait_code_copy *copy = calloc(1, sizeof(*copy));
    int result = -ENOMEM;

    if (copy == NULL)
        return -ENOMEM;
    copy->storage = calloc(1, attempt->storage_bytes);
    if (copy->storage != NULL)
        result = code_memory_create(&attempt->memory, &copy->memory);
    if (result == 0)
        result = copy_into(attempt, copy);
    if (result != 0) {
        gait_code_copy_destroy(copy);
        return result;
    }
    *copy_out = copy;
    return 0;
}

static int try_until_it_fits(struct attempt *attempt, struct gait_code_copy **copy_out)
{
    size_t first = attempt->memory.size_bytes;

    for (;;) {
        int result = try_copy(attempt, copy_out);

        if (result == -ENOSPC && attempt->memory.size_bytes / GROWTH_MAX <= first)
            attempt->memory.size_bytes *= 2;
        else if (result == -E2BIG && attempt->storage_bytes / GROWTH_MAX / 64 <= first)
            attempt->storage_bytes *= 2;
        else
            return result;
    }
}

/* Where the distance that we want is taken, as by a sanitizer's shadow, anywhere may still be far enough. */
static int try_places(struct attempt *attempt, enum gait_placement placement, struct gait_code_copy **copy_out)
{
    int result = try_until_it_fits(attempt, copy_out);

    if (result != -ENOMEM || placement != GAIT_PLACEMENT_FAR)
        return result;
    attempt->memory.near = 0;
    result = try_until_it_fits(attempt, copy_out);
    if (result == 0 && is_in_reach(*copy_out, attempt->relocation.start.value)) {
        gait_code_copy_destroy(*copy_out);
        result = -ENOMEM;
    }
    return result;
}

/* The offset of the first instruction that is none, or that cannot be moved even alone. */
static size_t find_culprit(const struct attempt *attempt)
{
    struct attempt single = *attempt;
    struct gait_code_copy *copy = NULL;
    struct arch_insn insn;
    size_t offset = 0;

    for (; offset < attempt->relocation.size_bytes; offset += insn.length) {
        single.relocation.bytes = attempt->relocation.bytes + offset;
        single.relocation.start = app_pc_of(attempt->relocation.start.value + offset);
        if (attempt->arch->decode(single.relocation.bytes, attempt->relocation.size_bytes - offset,
                                  single.relocation.start, single.relocation.decode_options, &insn) != 0)
            break;
        single.relocation.size_bytes = insn.length;
        if (insn.flow == ARCH_FLOW_NEXT && !(insn.properties & ARCH_PC_RELATIVE))
            continue;
        if (try_copy(&single, &copy) != 0)
            break;
        gait_code_copy_destroy(copy);
    }
    return offset;
}

static int explain(int result, const struct attempt *attempt, struct gait_error *err)
{
    uint64_t start = attempt->relocation.start.value;
    unsigned long long culprit;

    switch (result) {
    case -EILSEQ:
    case -ENODATA:
    case -EOPNOTSUPP:
        culprit = start + find_culprit(attempt);
        break;
    case -EACCES:
    case -EPERM:
    case -ENOSYS:
        return error_set(err, result,
                         "cannot copy the code at 0x%llx: the system gives no executable memory (%s); "
                         "allow it in the security policy of this process",
                         (unsigned long long)start, strerror(-result));
    default:
        return error_set(err, result,
                         "cannot copy the code at 0x%llx: there is no memory for %zu bytes where the copy "
                         "is to be (%s); try another placement",
                         (unsigned long long)start, attempt->memory.size_bytes, strerror(-result));
    }
    if (result == -ENODATA)
        return error_set(err, result,
                         "cannot copy the code at 0x%llx: its last instruction, at 0x%llx, is cut off; "
                         "give whole instructions",
                         (unsigned long long)start, culprit);
    if (result == -EILSEQ)
        return error_set(err, result,
                         "cannot copy the code at 0x%llx: no CPU would execute the bytes at 0x%llx; "
                         "give code without data in between",
                         (unsigned long long)start, culprit);
    return error_set(err, result,
                     "cannot copy the code at 0x%llx: the instruction at 0x%llx does not work at another "
                     "address; leave it out",
                     (unsigned long long)start, culprit);
}

static void plan(struct attempt *attempt, const struct gait_code_copy_options *options, const void *code,
                 size_t size_bytes)
{
    uint64_t original = options->original_address != 0 ? options->original_address : (uint64_t)(uintptr_t)code;

    attempt->relocation = (struct arch_relocation){
        .bytes = code,
        .size_bytes = size_bytes,
        .start = app_pc_of(original),
        .decode_options = host_cpu_decode_options(),
        .spill = options->spill == GAIT_SPILL_SEGMENT ? ARCH_SPILL_SEGMENT : ARCH_SPILL_STACK,
        .return_address =
            options->return_address == GAIT_RETURN_TO_ORIGINAL ? ARCH_RETURN_TO_ORIGINAL : ARCH_RETURN_TO_COPY,
        .slots = {options->spill_slots[0], options->spill_slots[1]},
    };
    attempt->memory = (struct code_memory_options){
        .size_bytes = 4096 + 2 * size_bytes,
        .mode = CODE_VIEW_AUTO,
        .near = place_for(options->placement, original),
    };
    attempt->storage_bytes = 4096 + 32 * size_bytes;
}

EXPORT int gait_code_copy_create(const struct gait_code_copy_options *options, const void *code, size_t size_bytes,
                                 struct gait_code_copy **copy_out, struct gait_error *err)
{
    struct gait_code_copy_options all = {0};
    struct attempt attempt = {.arch = arch_host()};
    struct gait_code_copy *copy = NULL;
    int result;

    if (code == NULL || size_bytes == 0 || copy_out == NULL)
        return error_set(err, EINVAL,
                         "cannot copy code: there is none; give its address and its size in bytes, and a "
                         "place for the result");
    if (size_bytes > INT32_MAX / GROWTH_MAX)
        return error_set(err, EINVAL,
                         "cannot copy %zu bytes of code: that is more than a branch can span; "
                         "copy functions one by one",
                         size_bytes);
    if (attempt.arch == NULL)
        return error_set(err, ENOTSUP,
                         "cannot copy code: gait does not know the instructions of %s yet; "
                         "use a machine of another kind",
                         cpu_host()->name);
    result = read_options(options, &all, err);
    if (result != 0)
        return result;
    plan(&attempt, &all, code, size_bytes);
    result = try_places(&attempt, all.placement, &copy);
    if (result != 0)
        return explain(result, &attempt, err);
    *copy_out = copy;
    return 0;
}

EXPORT void gait_code_copy_destroy(struct gait_code_copy *copy)
{
    if (copy == NULL)
        return;
    code_memory_destroy(copy->memory);
    free(copy->storage);
    free(copy);
}

EXPORT void *gait_code_copy_entry(const struct gait_code_copy *copy)
{
    return (void *)(uintptr_t)copy->start;
}

EXPORT size_t gait_code_copy_size(const struct gait_code_copy *copy)
{
    return copy->code_bytes;
}

EXPORT size_t gait_code_copy_total_size(const struct gait_code_copy *copy)
{
    return copy->total_bytes;
}

EXPORT int gait_code_copy_original_address(const struct gait_code_copy *copy, uint64_t copy_address,
                                           uint64_t *original_out)
{
    struct app_pc original;

    if (copy_address - copy->start >= copy->code_bytes ||
        copy->arch->find_original(copy->storage, cache_pc_of(copy_address), &original) != 0)
        return -ENOENT;
    *original_out = original.value;
    return 0;
}

EXPORT int gait_code_copy_address(const struct gait_code_copy *copy, uint64_t original_address, uint64_t *address_out)
{
    struct cache_pc address;

    if (copy->arch->find_copy(copy->storage, app_pc_of(original_address), &address) != 0)
        return -ENOENT;
    *address_out = address.value;
    return 0;
}
