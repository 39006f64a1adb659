/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "export/frame_texts.h"

#include "support/check.h"
#include "support/export_lab.h"

static struct export_lab lab;

/* Functions that are near are alike. */
static char *make(const struct view_function *function)
{
    char *text;

    return asprintf(&text, "%" PRIx64, function->address / 16) < 0 ? NULL : text;
}

static void the_same_text_has_the_same_number(void)
{
    struct frame_texts frames;
    char text[16];

    export_lab_init(&lab);
    CHECK_EQUAL(frame_texts_init(&frames, &lab.functions, make), 0);
    CHECK_EQUAL(frame_texts_number(&frames, "main"), 0);
    CHECK_EQUAL(frame_texts_number(&frames, ""), 1);
    CHECK_EQUAL(frame_texts_number(&frames, "main"), 0);
    for (uint32_t i = 0; i < 2000; i++) {
        snprintf(text, sizeof(text), "f%u", i);
        CHECK_EQUAL(frame_texts_number(&frames, text), 2 + i);
    }
    CHECK_EQUAL(frame_texts_number(&frames, "f1234"), 2 + 1234);
    CHECK_TEXT(frames.texts[2 + 1999], "f1999");
    CHECK_EQUAL(frames.count, 2002);
    frame_texts_deinit(&frames);
    export_lab_deinit(&lab);
}

static void functions_with_the_same_text_are_one_frame(void)
{
    struct frame_texts frames;

    export_lab_init(&lab);
    CHECK_EQUAL(frame_texts_init(&frames, &lab.functions, make), 0);
    for (uint32_t i = 0; i < 1000; i++)
        CHECK_EQUAL(view_functions_number(&lab.functions, 0, 0x401000 + i, 5000), i);
    CHECK_EQUAL(frame_texts_of_function(&frames, 999), 0);
    CHECK_EQUAL(frame_texts_of_function(&frames, 0), 1);
    CHECK_EQUAL(frame_texts_of_function(&frames, 15), 1);
    CHECK_EQUAL(frame_texts_of_function(&frames, 16), 2);
    CHECK_EQUAL(frame_texts_of_function(&frames, 15), 1);
    CHECK_EQUAL(frame_texts_number(&frames, "40101"), 2);
    CHECK_EQUAL(frames.count, 3);
    frame_texts_deinit(&frames);
    export_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_same_text_has_the_same_number),
    CHECK_CASE(functions_with_the_same_text_are_one_frame),
};

CHECK_MAIN(cases)
