/* SPDX-License-Identifier: MIT */
/*
 * The functions of a program or library on disk, and how they would be hooked. One thread at a time.
 */
#ifndef GAIT_CLI_FUNCTION_SURVEY_H
#define GAIT_CLI_FUNCTION_SURVEY_H

#include "cli/code_file.h"
#include "hook/hook_plan.h"
#include "symbolize/debug_file.h"

struct function_survey {
    struct code_file file;
    struct debug_file debug; /* without symbols, if there is none */
    struct eh_frame frame;
    struct elf_function_list functions;
    struct hook_module module;
    struct hook_planner planner; /* after function_survey_prepare() */
    void *memory;
};

/*
 * Opens a file as code_file_open() does, finds separate symbols of it in the folders that GAIT_DEBUG_PATH names, or
 * else in the usual one, and lists its functions. To be closed by function_survey_close().
 */
MUST_USE int function_survey_open(const char *name, struct function_survey *survey, struct gait_error *err);

/* Looks at its code, so that plans can be made. */
MUST_USE int function_survey_prepare(struct function_survey *survey, struct gait_error *err);

/* Whether it is a function that a user may want to hook: no label, and no part of another. */
bool function_survey_has(const struct function_survey *survey, const struct elf_function *function);

/*
 * Chooses functions as people spell them (symbolize/function_spelling.h): marks[i] is set to 1 for the one at i, which
 * is called by the name that was meant from now on. Returns how many there are.
 */
size_t function_survey_select(struct function_survey *survey, const char *pattern, uint8_t *marks);

void function_survey_close(struct function_survey *survey);

#endif
