/* SPDX-License-Identifier: MIT */
/* gait dump relocation: what the relocator makes of a function, beside the function. Nothing of it is run. */
#include "cli/command.h"

#include "cli/code_file.h"
#include "cli/options/arguments.h"
#include "cli/screens/screen.h"
#include "cli/screens/side_by_side.h"
#include "gait/code_copy.h"

#include <inttypes.h>

/* In the order of the values in options below. */
static const enum gait_spill spills[] = {GAIT_SPILL_STACK, GAIT_SPILL_SEGMENT};
static const enum gait_return_address returns[] = {GAIT_RETURN_TO_COPY, GAIT_RETURN_TO_ORIGINAL};

struct relocation_choices {
    int is_far, spill, return_address;
};

static enum command_status show(const struct command_call *call, const struct code_excerpt *excerpt,
                                const struct gait_code_copy *copy)
{
    struct side_by_side sides = {
        .bytes = excerpt->bytes,
        .size_bytes = excerpt->size_bytes,
        .address = excerpt->address,
        .copy = gait_code_copy_entry(copy),
        .copy_bytes = gait_code_copy_size(copy),
        .total_bytes = gait_code_copy_total_size(copy),
        .map = &side_by_side_code_copy,
        .context = copy,
    };
    struct screen *screen = call->screen;

    screen_put(screen, SCREEN_STRONG, 0, excerpt->name[0] == '\0' ? "code" : excerpt->name);
    screen_print(screen, ": %" PRIu64 " bytes at 0x%" PRIx64 ", copied to %p: %zu bytes of code, %zu of constants\n",
                 excerpt->size_bytes, excerpt->address, gait_code_copy_entry(copy), gait_code_copy_size(copy),
                 gait_code_copy_total_size(copy) - gait_code_copy_size(copy));
    return side_by_side_print(screen, &sides, call->error) == 0 ? COMMAND_DONE : COMMAND_FAILED;
}

static enum command_status copy_and_show(const struct command_call *call, const struct code_excerpt *excerpt,
                                         const struct relocation_choices *choices)
{
    struct gait_code_copy_options options = {
        .size_bytes = sizeof(options),
        .placement = choices->is_far ? GAIT_PLACEMENT_FAR : GAIT_PLACEMENT_NEAR,
        .return_address = returns[choices->return_address],
        .spill = spills[choices->spill],
        .spill_slots = {0, 8},
        .original_address = excerpt->address,
    };
    enum command_status status;
    struct gait_code_copy *copy;

    if (gait_code_copy_create(&options, excerpt->bytes, excerpt->size_bytes, &copy, call->error) != 0)
        return COMMAND_FAILED;
    status = show(call, excerpt, copy);
    gait_code_copy_destroy(copy);
    return status;
}

static enum command_status run_on(const struct command_call *call, const char *const *values,
                                  const struct relocation_choices *choices)
{
    enum command_status status;
    struct code_excerpt excerpt;
    struct code_file file;

    if (code_file_open_for_host(values, "copy", &file, &excerpt, call->error) != 0)
        return COMMAND_FAILED;
    status = copy_and_show(call, &excerpt, choices);
    code_file_close(&file);
    return status;
}

static enum command_status run(const struct command_call *call)
{
    static const char *const names[] = {"FILE", "FUNCTION or 0xADDRESS"};
    struct relocation_choices choices = {0};
    const struct argument_option options[] = {
        {"far", NULL, &choices.is_far},
        {"spill", "stack|segment", &choices.spill},
        {"return", "copy|original", &choices.return_address},
    };
    const struct argument_rules rules = {
        .command = "dump relocation", .options = options, .option_count = 3, .names = names, .name_count = 2};
    const char *values[2];
    enum command_status status = arguments_parse(call, &rules, values);

    return status == COMMAND_DONE ? run_on(call, values, &choices) : status;
}

extern const struct command command_dump_relocation;
const struct command command_dump_relocation = {
    .name = "dump relocation",
    .arguments = "FILE FUNCTION|0xADDRESS[+SIZE] [--far] [--spill stack|segment] [--return copy|original]",
    .summary = "show how a function changes when it is copied to another address",
    .details = "Copies a function of an ELF file and shows original and copy side by side: beside\n"
               "each instruction what became of it, marked * where it is not the same any more.\n"
               "Nothing is run. FILE and FUNCTION are as in 'gait help disassemble'.\n\n"
               "  --far       copy to where displacements of 32 bits do not reach\n"
               "  --spill     keep registers that the copy needs for a moment below the stack of\n"
               "              the program (stack), or in slots of the thread's segment (segment)\n"
               "  --return    calls leave a return address in the copy (copy), or in the original\n"
               "              code (original)\n\n"
               "Examples:\n"
               "  gait dump relocation libc.so.6 bsearch --far\n",
    .run = run,
};
