/* SPDX-License-Identifier: MIT */
/* gait dump block: what the stalker makes of a block, beside the block. Nothing of it is run. */
#define _GNU_SOURCE
#include "cli/command.h"

#include "base/memory_map.h"
#include "cli/code_file.h"
#include "cli/options/arguments.h"
#include "cli/screens/screen.h"
#include "cli/screens/side_by_side.h"
#include "gait/stalker.h"
#include "hosted/error_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

/* Where the code of files is put that are made for lower addresses than a process can have. */
#define LOADED_AT      0x100000000ull
#define ADDRESS_LOWEST 0x10000u

/* What stands behind the code: int3, which ends a block. */
#define BEHIND_CODE 0xcc

/* In the order of the bits of enum gait_event_kind. */
#define EVENT_NAMES "call,ret,exec,block,compile"

struct block_choices {
    int events;
};

/* A copy of the code where the stalker takes it for code of the process. */
struct loaded_code {
    void *pages;
    size_t size_bytes;
    uint64_t address;
};

/* At exactly that address, if nothing is there. */
static void *map_at(uint64_t address, size_t size_bytes)
{
    return mmap((void *)(uintptr_t)address, size_bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

static int refuse_load(const struct code_excerpt *excerpt, struct gait_error *err)
{
    return error_set(err, errno, "cannot load the code at 0x%" PRIx64 ": %s; try other code", excerpt->address,
                     strerror(errno));
}

static int load(const struct code_excerpt *excerpt, struct loaded_code *loaded_out, struct gait_error *err)
{
    uint64_t offset = excerpt->address % memory_page_size(), start = excerpt->address - offset;
    struct loaded_code loaded = {.size_bytes = memory_round_to_pages(offset + excerpt->size_bytes + 1)};

    loaded.pages = start < ADDRESS_LOWEST ? MAP_FAILED : map_at(start, loaded.size_bytes);
    if (loaded.pages == MAP_FAILED)
        loaded.pages = map_at(start + LOADED_AT, loaded.size_bytes);
    if (loaded.pages == MAP_FAILED)
        return refuse_load(excerpt, err);
    memset(loaded.pages, BEHIND_CODE, loaded.size_bytes);
    memcpy((uint8_t *)loaded.pages + offset, excerpt->bytes, excerpt->size_bytes);
    if (mprotect(loaded.pages, loaded.size_bytes, PROT_READ | PROT_EXEC) != 0) {
        refuse_load(excerpt, err);
        munmap(loaded.pages, loaded.size_bytes);
        return -err->code;
    }
    loaded.address = (uintptr_t)loaded.pages + offset;
    *loaded_out = loaded;
    return 0;
}

/* The translations that a dump is about. */
struct block_dump {
    struct gait_stalker *stalker;
    struct gait_follow_options options;
    struct gait_translation translation;
};

static int original_of(const void *context, uint64_t place, uint64_t *original_out)
{
    const struct block_dump *dump = context;

    return gait_stalker_original_address(dump->stalker, &dump->options, place, original_out, NULL);
}

/* The first place that stands for that instruction, or for a later one. */
static int copy_of(const void *context, uint64_t original, uint64_t *place_out)
{
    const struct block_dump *dump = context;
    uint64_t place = (uintptr_t)dump->translation.code, found;

    for (uint64_t i = 0; i < dump->translation.code_bytes; i++, place++)
        if (original_of(dump, place, &found) == 0 && found >= original) {
            *place_out = place;
            return 0;
        }
    return -ENOENT;
}

static const struct side_by_side_map map = {copy_of, original_of};

static enum command_status show(const struct command_call *call, const struct block_dump *dump,
                                const struct code_excerpt *excerpt)
{
    const struct gait_translation *translation = &dump->translation;
    struct side_by_side sides = {
        .bytes = (const uint8_t *)(uintptr_t)translation->start,
        .size_bytes = translation->original_bytes,
        .address = translation->start,
        .copy = translation->code,
        .copy_bytes = translation->code_bytes,
        .total_bytes = translation->code_bytes,
        .map = &map,
        .context = dump,
    };

    screen_put(call->screen, SCREEN_STRONG, 0, excerpt->name[0] == '\0' ? "code" : excerpt->name);
    screen_print(call->screen,
                 ": block of %" PRIu64 " bytes at 0x%" PRIx64 ", loaded at 0x%" PRIx64 ", translated to %" PRIu64
                 " bytes\n",
                 translation->original_bytes, excerpt->address, translation->start, translation->code_bytes);
    return side_by_side_print(call->screen, &sides, call->error) == 0 ? COMMAND_DONE : COMMAND_FAILED;
}

static enum command_status translate_and_show(const struct command_call *call, struct block_dump *dump,
                                              const struct code_excerpt *excerpt)
{
    enum command_status status = COMMAND_FAILED;
    struct loaded_code loaded = {0};

    if (load(excerpt, &loaded, call->error) != 0)
        return COMMAND_FAILED;
    if (gait_stalker_prefetch(dump->stalker, &dump->options, loaded.address, call->error) == 0 &&
        gait_stalker_find_translation(dump->stalker, &dump->options, loaded.address, &dump->translation, call->error) ==
            0)
        status = show(call, dump, excerpt);
    munmap(loaded.pages, loaded.size_bytes);
    return status;
}

static enum command_status dump_excerpt(const struct command_call *call, const struct code_excerpt *excerpt,
                                        const struct block_choices *choices)
{
    struct block_dump dump = {
        .options = {.size_bytes = sizeof(dump.options), .events = (uint32_t)choices->events},
        .translation = {.size_bytes = sizeof(dump.translation)},
    };
    enum command_status status;

    if (gait_stalker_create(NULL, &dump.stalker, call->error) != 0)
        return COMMAND_FAILED;
    status = translate_and_show(call, &dump, excerpt);
    gait_stalker_destroy(dump.stalker);
    return status;
}

static enum command_status run_on(const struct command_call *call, const char *const *values,
                                  const struct block_choices *choices)
{
    enum command_status status;
    struct code_excerpt excerpt;
    struct code_file file;

    if (code_file_open_for_host(values, "translate", &file, &excerpt, call->error) != 0)
        return COMMAND_FAILED;
    status = dump_excerpt(call, &excerpt, choices);
    code_file_close(&file);
    return status;
}

static enum command_status run(const struct command_call *call)
{
    static const char *const names[] = {"FILE", "FUNCTION or 0xADDRESS"};
    struct block_choices choices = {0};
    const struct argument_option options[] = {{"events", EVENT_NAMES, &choices.events}};
    const struct argument_rules rules = {
        .command = "dump block", .options = options, .option_count = 1, .names = names, .name_count = 2};
    const char *values[2];
    enum command_status status = arguments_parse(call, &rules, values);

    return status == COMMAND_DONE ? run_on(call, values, &choices) : status;
}

extern const struct command command_dump_block;
const struct command command_dump_block = {
    .name = "dump block",
    .arguments = "FILE FUNCTION|0xADDRESS[+SIZE] [--events call,ret,exec,block,compile]",
    .summary = "show what following a thread makes of a block of code",
    .details = "Translates the block that begins at a function or an address of an ELF file, as a\n"
               "thread that is followed would run it, and shows both side by side: beside each\n"
               "instruction what became of it, marked * where it is not the same any more. A\n"
               "block ends with the first instruction that can go elsewhere. Nothing is run.\n"
               "FILE and FUNCTION are as in 'gait help disassemble'.\n\n"
               "  --events    what is recorded of the thread, a list: calls and returns (call,ret),\n"
               "              instructions (exec), blocks (block), translations (compile)\n\n"
               "Examples:\n"
               "  gait dump block ./program main\n"
               "  gait dump block libc.so.6 qsort --events call,block\n",
    .run = run,
};
