/* SPDX-License-Identifier: MIT */
/* gait disassemble: a line for each instruction, with its address, its bytes and its text. */
#include "cli/command.h"

#include "arch/arch.h"
#include "arch/host_cpu.h"
#include "base/text_format.h"
#include "cli/code_file.h"
#include "cli/options/arguments.h"
#include "cli/screens/screen.h"
#include "symbolize/demangle.h"

#include <inttypes.h>
#include <stdlib.h>

#define TEXT_BYTES 160
/* Most instructions have no more bytes than fit here; the text of a longer one begins further right. */
#define BYTE_COLUMNS 24

static void print_heading(struct screen *screen, const struct code_file *file, const struct code_excerpt *excerpt)
{
    char *plain = demangle(excerpt->name);

    screen_put(screen, SCREEN_STRONG, 0, plain != NULL ? plain : excerpt->name[0] == '\0' ? "code" : excerpt->name);
    free(plain);
    screen_print(screen, " in %s, 0x%" PRIx64 ", %" PRIu64 " bytes\n", file->path, excerpt->address,
                 excerpt->size_bytes);
    if (excerpt->is_resolver)
        screen_print(screen, "This is the code that chooses the function when the program starts.\n");
}

static void print_line(struct screen *screen, const struct code_excerpt *excerpt, uint64_t offset, unsigned length,
                       const char *text)
{
    char address[24], bytes[3 * ARCH_INSN_BYTES_MAX + 1];
    size_t used = 0;

    snprintf(address, sizeof(address), "%8" PRIx64 "  ", excerpt->address + offset);
    for (unsigned i = 0; i < length && i < ARCH_INSN_BYTES_MAX; i++)
        used += (size_t)snprintf(bytes + used, sizeof(bytes) - used, "%02x ", excerpt->bytes[offset + i]);
    screen_put(screen, SCREEN_FAINT, 0, address);
    screen_put(screen, SCREEN_FAINT, used < BYTE_COLUMNS ? BYTE_COLUMNS : 0, bytes);
    screen_print(screen, " %s\n", text);
}

/* Bytes that are no instruction are shown as such, one by one. */
static void print_code(struct screen *screen, const struct code_file *file, const struct code_excerpt *excerpt)
{
    unsigned options = file->arch == arch_host() ? host_cpu_decode_options() : 0;
    struct arch_insn insn;

    for (uint64_t offset = 0; offset < excerpt->size_bytes; offset += insn.length) {
        struct app_pc pc = app_pc_of(excerpt->address + offset);
        const uint8_t *bytes = excerpt->bytes + offset;
        size_t available = excerpt->size_bytes - offset;
        char buffer[TEXT_BYTES];
        struct text_writer text;

        text_init(&text, buffer, sizeof(buffer));
        if (file->arch->decode(bytes, available, pc, options, &insn) != 0 ||
            file->arch->format(bytes, available, pc, options, &text) != 0) {
            text_put_string(&text, "(no instruction)");
            insn.length = 1;
        }
        print_line(screen, excerpt, offset, insn.length, buffer);
    }
}

static enum command_status run(const struct command_call *call)
{
    static const char *const names[] = {"FILE", "FUNCTION or 0xADDRESS"};
    static const struct argument_rules rules = {.command = "disassemble", .names = names, .name_count = 2};
    const char *values[2];
    enum command_status status = arguments_parse(call, &rules, values);
    struct code_excerpt excerpt;
    struct code_file file;

    if (status != COMMAND_DONE)
        return status;
    if (code_file_open(values[0], &file, call->error) != 0)
        return COMMAND_FAILED;
    for (size_t i = 0; status == COMMAND_DONE; i++) {
        if (code_file_find_next(&file, values[1], i, &excerpt, call->error) != 0) {
            status = i == 0 ? COMMAND_FAILED : COMMAND_DONE;
            break;
        }
        print_heading(call->screen, &file, &excerpt);
        print_code(call->screen, &file, &excerpt);
    }
    code_file_close(&file);
    return status;
}

extern const struct command command_disassemble;
const struct command command_disassemble = {
    .name = "disassemble",
    .arguments = "FILE FUNCTION|0xADDRESS[+SIZE]",
    .summary = "show the instructions of a function in a program or library",
    .details = "Shows the machine code of a function in an ELF file: addresses as in the file, the\n"
               "bytes, and the instructions in Intel syntax.\n\n"
               "FILE is a path, or the name of a library such as libc.so.6. FUNCTION is a name as\n"
               "linkers or the source have it, like 'Sq::area(int)', or a place as tool+0x1230 or\n"
               "file.c:12; of several all are shown. Code without a name is\n"
               "shown by its address; where no symbol gives its length, give its size as well.\n\n"
               "Examples:\n"
               "  gait disassemble libc.so.6 bsearch\n"
               "  gait disassemble ./program 0x1139+32\n",
    .run = run,
};
