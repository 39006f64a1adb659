/* SPDX-License-Identifier: MIT */
#include "cli/options/nearest_name.h"

#include "support/check.h"

static struct nearest_names search(const char *wanted, const char *const *names, size_t count)
{
    struct nearest_names nearest;

    nearest_names_init(&nearest, wanted);
    for (size_t i = 0; i < count; i++)
        nearest_names_offer(&nearest, names[i], strlen(names[i]));
    return nearest;
}

static const char *const functions[] = {"qsort", "qsort_r", "bsearch", "strtol", "strtoul", "qsort", "memcpy"};

static void the_nearest_name_comes_first(void)
{
    struct nearest_names nearest = search("qsrt", functions, 7);

    CHECK(nearest.count > 0);
    CHECK_TEXT(nearest.best[0].name, "qsort");
    CHECK_EQUAL(nearest.best[0].distance, 1);
    nearest = search("strtl", functions, 7);
    CHECK_TEXT(nearest.best[0].name, "strtol");
    nearest = search("mmecpy", functions, 7);
    CHECK_TEXT(nearest.best[0].name, "memcpy");
    CHECK_EQUAL(nearest.best[0].distance, 1);
}

static void names_that_go_on_are_near(void)
{
    struct nearest_names nearest = search("bse", functions, 7);

    CHECK_EQUAL(nearest.count, 1);
    CHECK_TEXT(nearest.best[0].name, "bsearch");
}

static void what_was_typed_is_no_other_name(void)
{
    struct nearest_names nearest;

    nearest_names_init(&nearest, "qsort");
    nearest_names_offer_other(&nearest, "qsort", 5);
    nearest_names_offer_other(&nearest, "qsort_r", 7);
    CHECK_EQUAL(nearest.count, 1);
    CHECK_TEXT(nearest.best[0].name, "qsort_r");
}

static void what_is_far_off_is_not_suggested(void)
{
    CHECK_EQUAL(search("pthread_create", functions, 7).count, 0);
    CHECK_EQUAL(search("", functions, 7).count, 0);
}

static void each_name_is_suggested_once_and_few_of_them(void)
{
    static const char *const many[] = {"aaa", "aab", "aac", "aad", "aae", "aaa"};
    struct nearest_names nearest = search("aaa", many, 6);
    char text[64];

    CHECK_EQUAL(nearest.count, NEAREST_NAMES_MAX);
    nearest_names_join(&nearest, text, sizeof(text));
    CHECK_TEXT(text, "aaa, aab or aac");
    nearest = search("qsort", functions, 1);
    nearest_names_join(&nearest, text, sizeof(text));
    CHECK_TEXT(text, "qsort");
    nearest = search("nothing", functions, 0);
    nearest_names_join(&nearest, text, sizeof(text));
    CHECK_TEXT(text, "");
}

static void long_names_are_cut_off(void)
{
    char name[1000], text[32];
    struct nearest_names nearest;

    memset(name, 'x', sizeof(name));
    nearest_names_init(&nearest, "xxx");
    nearest_names_offer(&nearest, name, sizeof(name));
    CHECK_EQUAL(nearest.count, 1);
    CHECK_EQUAL(strlen(nearest.best[0].name), NEAREST_NAME_BYTES - 1);
    nearest_names_join(&nearest, text, sizeof(text));
    CHECK_EQUAL(strlen(text), sizeof(text) - 1);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_nearest_name_comes_first),
    CHECK_CASE(names_that_go_on_are_near),
    CHECK_CASE(what_was_typed_is_no_other_name),
    CHECK_CASE(what_is_far_off_is_not_suggested),
    CHECK_CASE(each_name_is_suggested_once_and_few_of_them),
    CHECK_CASE(long_names_are_cut_off),
};

CHECK_MAIN(cases)
