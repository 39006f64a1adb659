/* SPDX-License-Identifier: MIT */
/* Condenses a survey into switches: a node for each opcode, equal parts shared by all. */
#ifndef GAIT_TOOLS_X86_TABLES_TREE_H
#define GAIT_TOOLS_X86_TABLES_TREE_H

#include "survey.h"

/* Returns the node for the opcode; its forms get their final numbers as they are met. */
uint16_t tree_build(const struct survey *survey);

const uint16_t *tree_switches(size_t *count_out);

/* The forms that are in use, by final number; number 0 is none. */
const unsigned *tree_forms(size_t *count_out);

#endif
