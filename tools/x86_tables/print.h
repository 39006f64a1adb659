/* SPDX-License-Identifier: MIT */
/* Writes the tables as C. */
#ifndef GAIT_TOOLS_X86_TABLES_PRINT_H
#define GAIT_TOOLS_X86_TABLES_PRINT_H

#include "tree.h"

#include <stdio.h>

/* Writes the list of mnemonics, one X86_MNEMONIC(name) a line, in alphabetical order. */
void print_mnemonics(FILE *file);

/* Writes everything but the mnemonics. */
void print_tables(FILE *file, const struct x86_opcode_root roots[X86_MAP_COUNT][256]);

#endif
