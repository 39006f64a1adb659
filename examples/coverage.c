/* SPDX-License-Identifier: MIT */
/*
 * Tells which part of zlib's code ran: what inflating a good stream needs, function by function, and what else a
 * damaged one reaches. Any library will do, as it is installed.
 *
 * Shows: a transformer that gives each block a counter. Blocks are translated ahead of time, too, so that being
 * translated does not mean to have run; the counter tells. Uses gait/stalker.h.
 */
#define _GNU_SOURCE
#include "gait/stalker.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BLOCKS_MAX    20000
#define FUNCTIONS_MAX 100
#define TEXT_BYTES    20000

/* ---- counting ---------------------------------------------------------------------------------------------------- */
struct block {
    uint64_t start, end;
    const uint64_t *counter;
    uint64_t counted; /* so far, by the coverage that was shown last */
};

static struct block blocks[BLOCKS_MAX];
static size_t block_count;

/* Called once for each block, by the followed thread in whatever it does: no malloc here. */
static void count_block(void *context, struct gait_iterator *iterator)
{
    struct gait_instruction instruction = {.size_bytes = sizeof(instruction)};
    uint64_t *counter = gait_iterator_new_counter(iterator);
    uint64_t start = 0, end = 0;

    (void)context;
    while (gait_iterator_next(iterator, &instruction)) {
        if (start == 0) {
            start = instruction.address;
            if (counter != NULL)
                gait_iterator_put_count(iterator, counter);
        }
        end = instruction.address + instruction.length;
        gait_iterator_keep(iterator);
    }
    if (counter != NULL && block_count < BLOCKS_MAX)
        blocks[block_count++] = (struct block){start, end, counter, 0};
}

/* ---- adding up by function --------------------------------------------------------------------------------------- */
struct function {
    const char *library, *name;
    uint64_t size; /* 0: not known */
    uint64_t bytes, blocks, runs;
};

static struct function functions[FUNCTIONS_MAX];
static size_t function_count;

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

/* Only functions that a library offers to others have names here; the rest of it goes into one row. */
static struct function describe(uint64_t address)
{
    struct function function = {.library = "", .name = "(without a name)"};
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;

    if (dladdr1((const void *)(uintptr_t)address, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0)
        return function;
    function.library = file_name(info.dli_fname);
    if (symbol != NULL && address < (uintptr_t)info.dli_saddr + symbol->st_size) {
        function.name = info.dli_sname;
        function.size = symbol->st_size;
    }
    return function;
}

static struct function *function_at(uint64_t address)
{
    struct function wanted = describe(address);

    for (size_t i = 0; i < function_count; i++)
        if (strcmp(functions[i].name, wanted.name) == 0 && strcmp(functions[i].library, wanted.library) == 0)
            return &functions[i];
    if (function_count == FUNCTIONS_MAX)
        return &functions[FUNCTIONS_MAX - 1];
    functions[function_count] = wanted;
    return &functions[function_count++];
}

static int by_start(const void *left, const void *right)
{
    const struct block *a = left, *b = right;

    return a->start < b->start ? -1 : a->start > b->start;
}

static int by_bytes(const void *left, const void *right)
{
    const struct function *a = left, *b = right;

    return a->bytes > b->bytes ? -1 : a->bytes < b->bytes;
}

/* Adds up the blocks that ran since the last time; with only_new, those that had never run before. */
static void add_up(bool only_new)
{
    uint64_t covered = 0;

    function_count = 0;
    qsort(blocks, block_count, sizeof(blocks[0]), by_start);
    for (size_t i = 0; i < block_count; i++) {
        uint64_t runs = *blocks[i].counter - blocks[i].counted;
        bool is_wanted = runs > 0 && !(only_new && blocks[i].counted > 0);
        struct function *function;

        blocks[i].counted += runs;
        if (!is_wanted)
            continue;
        function = function_at(blocks[i].start);
        function->blocks++;
        function->runs += runs;
        /* One block may begin within another. */
        if (blocks[i].end > covered)
            function->bytes += blocks[i].end - (blocks[i].start > covered ? blocks[i].start : covered);
        covered = blocks[i].end > covered ? blocks[i].end : covered;
    }
    qsort(functions, function_count, sizeof(functions[0]), by_bytes);
}

static void print_coverage(const char *title, const char *library)
{
    printf("%s\n  %-20s %7s %8s %7s %8s %10s\n", title, "function", "bytes", "of", "", "blocks", "block runs");
    for (size_t i = 0; i < function_count; i++) {
        const struct function *function = &functions[i];

        if (strncmp(function->library, library, strlen(library)) != 0)
            continue;
        printf("  %-20s %7" PRIu64, function->name, function->bytes);
        if (function->size > 0)
            printf(" %8" PRIu64 " %5.1f %%", function->size, 100.0 * (double)function->bytes / (double)function->size);
        else
            printf(" %8s %7s", "", "");
        printf(" %8" PRIu64 " %10" PRIu64 "\n", function->blocks, function->runs);
    }
    printf("\n");
}

/* ---- what is looked at ------------------------------------------------------------------------------------------- */
static unsigned char text[TEXT_BYTES], inflated[TEXT_BYTES], stream[TEXT_BYTES];

static int inflate_followed(struct gait_stalker *stalker, uLong stream_bytes)
{
    static const struct gait_transformer transformer = {.transform = count_block};
    struct gait_follow_options options = {.size_bytes = sizeof(options), .transformer = &transformer};
    uLong size = TEXT_BYTES;
    struct gait_error err;
    int result;

    if (gait_stalker_follow_me(stalker, &options, &err) != 0) {
        fprintf(stderr, "coverage: %s\n", err.text);
        exit(1);
    }
    result = uncompress(inflated, &size, stream, stream_bytes);
    gait_stalker_unfollow_me(stalker, NULL);
    return result;
}

int main(void)
{
    uLong stream_bytes = sizeof(stream);
    struct gait_stalker *stalker;
    struct gait_error err;
    bool is_right;

    for (size_t i = 0; i < TEXT_BYTES; i++)
        text[i] = (unsigned char)("to be or not to be, "[i % 20] + (i * i / 1000 % 7 == 0));
    if (gait_stalker_create(NULL, &stalker, &err) != 0) {
        fprintf(stderr, "coverage: %s\n", err.text);
        return 1;
    }
    is_right = compress(stream, &stream_bytes, text, TEXT_BYTES) == Z_OK &&
               inflate_followed(stalker, stream_bytes) == Z_OK && memcmp(text, inflated, TEXT_BYTES) == 0;
    add_up(false);
    print_coverage("zlib's code that a good stream runs:", "libz");
    stream[stream_bytes / 2] ^= 0x55;
    is_right &= inflate_followed(stalker, stream_bytes) == Z_DATA_ERROR;
    add_up(true);
    print_coverage("what a damaged one runs besides:", "libz");
    gait_stalker_destroy(stalker);
    return is_right ? 0 : 1;
}
