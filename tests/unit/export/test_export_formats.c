/* SPDX-License-Identifier: MIT */
#include "export/export_format.h"

#include "support/check.h"

static void every_format_is_found_by_its_name(void)
{
    const struct export_format *format;
    size_t count = 0;

    for (; (format = export_formats_get(count)) != NULL; count++) {
        CHECK(export_formats_find(format->name) == format);
        CHECK(format->write != NULL);
        CHECK(format->file_name != NULL && format->file_name[0] != '\0');
    }
    CHECK(count >= 5);
    CHECK(export_formats_get(count + 1) == NULL);
}

static void names_in_the_list_are_those_of_formats(void)
{
    static const char *const listed[] = {
#define EXPORT_FORMAT(name, summary) #name,
#include "export/export_formats.def"
#undef EXPORT_FORMAT
    };

    for (size_t i = 0; i < sizeof(listed) / sizeof(listed[0]); i++)
        CHECK_TEXT(export_formats_get(i)->name, listed[i]);
}

static void other_names_are_of_none(void)
{
    CHECK(export_formats_find("") == NULL);
    CHECK(export_formats_find("chrom") == NULL);
    CHECK(export_formats_find("chromee") == NULL);
}

/* `gait help export` shows them behind ten spaces, in lines of 80 columns at most. */
static void summaries_fit_into_their_line(void)
{
    static const char *const summaries[] = {
#define EXPORT_FORMAT(name, summary) summary,
#include "export/export_formats.def"
#undef EXPORT_FORMAT
    };

    for (size_t i = 0; i < sizeof(summaries) / sizeof(summaries[0]); i++) {
        CHECK(summaries[i][0] != '\0');
        CHECK(strlen(summaries[i]) <= 70);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(every_format_is_found_by_its_name),
    CHECK_CASE(names_in_the_list_are_those_of_formats),
    CHECK_CASE(other_names_are_of_none),
    CHECK_CASE(summaries_fit_into_their_line),
};

CHECK_MAIN(cases)
