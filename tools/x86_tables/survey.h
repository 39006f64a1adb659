/* SPDX-License-Identifier: MIT */
/* Walks through all encodings of one opcode and notes the form of each. */
#ifndef GAIT_TOOLS_X86_TABLES_SURVEY_H
#define GAIT_TOOLS_X86_TABLES_SURVEY_H

#include "form.h"
#include "sample.h"

/* The forms of an opcode, one for each combination of selector values; sizes[s] is 1 where selector s plays no part. */
struct survey {
    unsigned sizes[X86_SELECTOR_COUNT];
    unsigned total;
    unsigned *forms;
    enum x86_modrm_use modrm_use;
};

/* Surveys the opcode in a row of the tables. */
void survey_init(struct survey *survey, enum x86_opcode_map map, uint8_t opcode);
void survey_deinit(struct survey *survey);

/* The place of a combination in forms. */
unsigned survey_place(const struct survey *survey, const unsigned values[X86_SELECTOR_COUNT]);

#endif
