/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "arch/arch.h"
#include "support/check.h"
#include "support/command_run.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

extern const struct command command_disassemble;

/* A file with nothing in it but code: push rbp; lea rax, [rip]; a byte that is no instruction; ret. */
struct handmade {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    uint8_t code[32];
};

static char path[] = "/tmp/gait-test-XXXXXX";

static void write_file(void)
{
    struct handmade made = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
                   .e_type = ET_DYN,
                   .e_machine = EM_X86_64,
                   .e_phoff = offsetof(struct handmade, segment),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 1},
        .segment = {.p_type = PT_LOAD,
                    .p_flags = PF_R | PF_X,
                    .p_vaddr = 0x1000,
                    .p_offset = offsetof(struct handmade, code),
                    .p_filesz = 32,
                    .p_memsz = 32},
        .code = {0x55, 0x48, 0x8d, 0x05, 0x00, 0x00, 0x00, 0x00, 0x06, 0xc3},
    };
    int fd = mkstemp(path);

    CHECK_EQUAL(write(fd, &made, sizeof(made)), sizeof(made));
    close(fd);
}

static void every_instruction_has_its_line(void)
{
    struct command_run run = COMMAND_RUN(&command_disassemble, 80, path, "0x1000+10");
    char expected[1024];

    snprintf(expected, sizeof(expected),
             "code in %s, 0x1000, 10 bytes\n"
             "    1000  55                       push rbp\n"
             "    1001  48 8d 05 00 00 00 00     lea rax, [0x1008]\n"
             "    1008  06                       (no instruction)\n"
             "    1009  c3                       ret\n",
             path);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_TEXT(run.output, expected);
    command_run_deinit(&run);
}

static void what_is_missing_or_not_found_is_told(void)
{
    struct command_run run = COMMAND_RUN(&command_disassemble, 80, path);

    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_disassemble, 80, path, "main");
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK(strstr(run.err.text, "no names") != NULL);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_disassemble, 80, path, "0x1000");
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK(strstr(run.err.text, "0x1000+SIZE") != NULL);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_disassemble, 80, "/nowhere", "main");
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    command_run_deinit(&run);
}

static const struct check_case cases[] = {
    CHECK_CASE(every_instruction_has_its_line),
    CHECK_CASE(what_is_missing_or_not_found_is_told),
};

int main(void)
{
    int status;

    write_file();
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    unlink(path);
    return status;
}
