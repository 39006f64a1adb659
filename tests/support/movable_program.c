/* SPDX-License-Identifier: MIT */
#include "support/movable_program.h"

#include "elf/build_id.h"
#include "elf/symbol_file.h"
#include "support/check.h"

#include <elf.h>

#define START 0x7f0000001000ull /* of its code */

static const char source[] =
    "#include <stdio.h>\\n"
    "__attribute__((noinline, noclone)) int first(int count) { __asm__ volatile(\\\"\\\"); return count + 1; }\\n"
    "__attribute__((noinline, noclone)) int second(int count) { __asm__ volatile(\\\"\\\"); return first(count) + 2; "
    "}\\n"
    "int main(int count, char **words) { puts(words[0]); return second(count); }\\n";

bool movable_program_run(const char *folder, const char *command)
{
    char line[4096];

    snprintf(line, sizeof(line), "cd %s && { %s; } >/dev/null 2>&1", folder, command);
    return system(line) == 0;
}

static void describe(struct movable_program *program)
{
    struct symbol_file file;
    const uint8_t *id;
    size_t id_bytes;

    if (symbol_file_open(program->path, &file) != 0)
        abort();
    program->module =
        (struct recorded_module){.path = program->path, .start = START, .loaded = 100, .unloaded = UINT64_MAX};
    if (elf_build_id_find(&file.symbols, &id, &id_bytes) == 0) {
        program->module.build_id_bytes = (uint32_t)id_bytes;
        memcpy(program->module.build_id, id, id_bytes);
    }
    for (uint64_t i = 0; i < file.symbols.program_header_count; i++) {
        Elf64_Phdr segment;

        memcpy(&segment, file.symbols.bytes + file.symbols.program_headers + i * sizeof(segment), sizeof(segment));
        if (segment.p_type == PT_LOAD && segment.p_flags & PF_X) {
            program->module.file_offset = segment.p_offset;
            program->module.end = START + segment.p_filesz;
        }
    }
    symbol_file_close(&file);
}

void movable_program_make(struct movable_program *program, const char *folder, const char *name, const char *flags)
{
    char command[2048];

    if (!movable_program_run(folder, "cc --version && nm --version"))
        check_skip("there is no compiler, or no binutils");
    snprintf(program->path, sizeof(program->path), "%s/%s", folder, name);
    snprintf(command, sizeof(command), "printf \"%s\" >%s.c && cc -O1 %s -o %s %s.c", source, name, flags, name, name);
    if (!movable_program_run(folder, command)) {
        printf("cannot compile: %s\n", command);
        exit(1);
    }
    describe(program);
}

uint64_t movable_program_address(const struct movable_program *program, const char *function)
{
    struct symbol_file file;
    struct elf_symbol symbol;
    uint64_t address;

    if (symbol_file_open(program->path, &file) != 0 || elf_symbols_find(&file.symbols, function, &symbol) != 0 ||
        elf_symbols_address_at(&file.symbols, program->module.file_offset, &address) != 0)
        abort();
    symbol_file_close(&file);
    return program->module.start + (symbol.address - address);
}
