/* SPDX-License-Identifier: MIT */
/* Makes the x86-64 decoder's tables: x86_tables TABLES MNEMONICS. */
#include "oracle.h"
#include "print.h"

#include <stdlib.h>

static FILE *open_output(const char *path)
{
    FILE *file = fopen(path, "w");

    if (file == NULL) {
        perror(path);
        exit(1);
    }
    return file;
}

int main(int argc, char **argv)
{
    static struct x86_opcode_root roots[X86_MAP_COUNT][256];
    size_t forms, switches;

    if (argc != 3) {
        fprintf(stderr, "usage: x86_tables TABLES MNEMONICS\n");
        return 2;
    }
    oracle_init();
    for (int map = 0; map < X86_MAP_COUNT; map++) {
        for (int opcode = 0; opcode < 256; opcode++) {
            struct survey survey;

            survey_init(&survey, (enum x86_opcode_map)map, (uint8_t)opcode);
            roots[map][opcode].node = tree_build(&survey);
            /* What is no instruction in any case is known from the opcode alone. */
            roots[map][opcode].modrm_use =
                roots[map][opcode].node == X86_FORM_INVALID ? X86_MODRM_NONE : (uint16_t)survey.modrm_use;
            survey_deinit(&survey);
        }
        tree_forms(&forms);
        tree_switches(&switches);
        fprintf(stderr, "map %d: %zu forms, %zu switch entries so far\n", map, forms, switches);
    }

    FILE *mnemonics = open_output(argv[2]);
    FILE *tables = open_output(argv[1]);

    print_mnemonics(mnemonics);
    print_tables(tables, roots);
    if (fclose(mnemonics) != 0 || fclose(tables) != 0) {
        perror("x86_tables");
        return 1;
    }
    return 0;
}
