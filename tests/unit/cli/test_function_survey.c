/* SPDX-License-Identifier: MIT */
#include "cli/function_survey.h"

#include "support/check.h"
#include "support/handmade_functions.h"

#include <errno.h>
#include <unistd.h>

static struct handmade_functions made;
static struct function_survey survey;
static struct gait_error err;
static char path[] = "/tmp/gait-test-XXXXXX";

static void write_file(void)
{
    int fd;

    strcpy(path + strlen(path) - 6, "XXXXXX");
    fd = mkstemp(path);
    CHECK_EQUAL(write(fd, &made, sizeof(made)), sizeof(made));
    close(fd);
}

static const struct elf_function *at(uint64_t address)
{
    return elf_function_list_find(&survey.functions, address);
}

static void functions_of_a_file_are_planned(void)
{
    struct hook_plan plan;

    handmade_functions_make(&made);
    /* Of the function at 0x1070, which the one at 0x1000 branches to: je. */
    memcpy(made.code, "\x0f\x84\x6a\x00\x00\x00\xc3", 7);
    write_file();
    CHECK_EQUAL(function_survey_open(path, &survey, &err), 0);
    CHECK_EQUAL(survey.functions.count, 10);
    CHECK(function_survey_has(&survey, at(0x1000)));
    CHECK(!function_survey_has(&survey, at(0x1004)));
    CHECK(!function_survey_has(&survey, at(0x1008)));
    CHECK(!function_survey_has(&survey, at(0x1060)));
    CHECK(function_survey_has(&survey, at(0x1070)));
    CHECK_EQUAL(function_survey_prepare(&survey, &err), 0);
    CHECK_EQUAL(survey.module.span_count, 2);
    /* A relocation has its address: it is a function all the same. */
    CHECK(function_survey_has(&survey, at(0x1070)));
    hook_planner_plan(&survey.planner, at(0x1000), &plan);
    CHECK_TEXT(hook_method_name(plan.method), "trap");
    CHECK_EQUAL(plan.displaced_end, 0x1006);
    function_survey_close(&survey);
    unlink(path);
}

static void parts_are_no_functions(void)
{
    handmade_functions_make(&made);
    memcpy(made.code, "\x0f\x84\x6a\x00\x00\x00\xc3", 7);
    made.relocations[0].r_addend = 0;
    /* The part that is before it ends where it begins. */
    made.symbols[4].st_size = 0x10;
    write_file();
    CHECK_EQUAL(function_survey_open(path, &survey, &err), 0);
    CHECK_EQUAL(function_survey_prepare(&survey, &err), 0);
    CHECK(!function_survey_has(&survey, at(0x1070)));
    function_survey_close(&survey);
    unlink(path);
}

static void what_cannot_be_read_is_explained(void)
{
    CHECK_EQUAL(function_survey_open("/nowhere", &survey, &err), -ENOENT);
    CHECK(strstr(err.text, "no such file") != NULL);
    handmade_functions_make(&made);
    made.header.e_machine = EM_AARCH64;
    write_file();
    CHECK_EQUAL(function_survey_open(path, &survey, &err), -ENOTSUP);
    CHECK(strstr(err.text, "another CPU") != NULL);
    unlink(path);
}

static void segments_that_make_no_sense_are_left_out(void)
{
    handmade_functions_make(&made);
    made.segments[1].p_vaddr = HANDMADE_CODE + 8;
    made.segments[2].p_type = PT_LOAD;
    made.segments[2].p_offset = UINT64_MAX;
    write_file();
    CHECK_EQUAL(function_survey_open(path, &survey, &err), 0);
    CHECK_EQUAL(function_survey_prepare(&survey, &err), 0);
    CHECK_EQUAL(survey.module.span_count, 1);
    function_survey_close(&survey);
    unlink(path);
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_of_a_file_are_planned),
    CHECK_CASE(parts_are_no_functions),
    CHECK_CASE(what_cannot_be_read_is_explained),
    CHECK_CASE(segments_that_make_no_sense_are_left_out),
};

CHECK_MAIN(cases)
