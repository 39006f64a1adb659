/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "export/function_texts.h"

#include "support/check.h"
#include "support/export_lab.h"

static struct export_lab lab;
static unsigned made;

static char *make(const struct view_function *function)
{
    char *text;

    made++;
    return asprintf(&text, "%u %s", function->number, function->name) < 0 ? NULL : text;
}

static void a_text_is_made_when_it_is_first_needed(void)
{
    struct function_texts texts;
    const char *text;

    export_lab_init(&lab);
    for (uint32_t i = 0; i < 1000; i++)
        CHECK_EQUAL(view_functions_number(&lab.functions, 0, 0x401000 + i, 5000), i);
    function_texts_init(&texts, &lab.functions, make);
    text = function_texts_get(&texts, 900);
    CHECK_TEXT(text, "900 example+0x1384");
    CHECK(function_texts_get(&texts, 900) == text);
    CHECK_TEXT(function_texts_get(&texts, 2), "2 example+0x1002");
    CHECK_EQUAL(made, 2);
    function_texts_deinit(&texts);
    export_lab_deinit(&lab);
}

static void names_are_clean(void)
{
    char *text;

    text = function_texts_name(&(struct view_function){.name = "\xff\n\xff;"});
    CHECK_TEXT(text, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd;");
    free(text);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_text_is_made_when_it_is_first_needed),
    CHECK_CASE(names_are_clean),
};

CHECK_MAIN(cases)
