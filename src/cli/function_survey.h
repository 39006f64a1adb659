/* SPDX-License-Identifier: MIT */
/*
 * The functions of a program or library on disk, and how they would be hooked. One thread at a time.
 */
#ifndef GAIT_CLI_FUNCTION_SURVEY_H
#define GAIT_CLI_FUNCTION_SURVEY_H

#include "cli/code_file.h"
#include "hook/hook_plan.h"

struct function_survey {
    struct code_file file;
    struct eh_frame frame;
    struct elf_function_list functions;
    struct hook_module module;
    struct hook_planner planner; /* after function_survey_prepare() */
    void *memory;
};

/* Opens a file as code_file_open() does and lists its functions. To be closed by function_survey_close(). */
MUST_USE int function_survey_open(const char *name, struct function_survey *survey, struct gait_error *err);

/* Looks at its code, so that plans can be made. */
MUST_USE int function_survey_prepare(struct function_survey *survey, struct gait_error *err);

/* Whether it is a function that somebody may want to hook: no label, and no part of another. */
bool function_survey_has(const struct function_survey *survey, const struct elf_function *function);

void function_survey_close(struct function_survey *survey);

#endif
