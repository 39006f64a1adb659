/* SPDX-License-Identifier: MIT */
#include "symbolize/name_store.h"

#include "support/check.h"

#define MANY 5000

static void texts_are_kept_once(void)
{
    static const char *kept[MANY];
    struct name_store store;
    char text[32];

    name_store_init(&store);
    for (unsigned i = 0; i < MANY; i++)
        kept[i] = name_store_put(&store, text, (size_t)snprintf(text, sizeof(text), "text %u", i));
    for (unsigned i = 0; i < MANY; i++) {
        size_t length = (size_t)snprintf(text, sizeof(text), "text %u", i);

        CHECK(name_store_put(&store, text, length) == kept[i]);
        CHECK_TEXT(kept[i], text);
    }
    CHECK_EQUAL(store.count, MANY);
    CHECK_TEXT(name_store_put(&store, "longer", 4), "long");
    name_store_deinit(&store);
}

static void functions_are_another_matter(void)
{
    struct name_store store;
    const char *meaning, *text;

    name_store_init(&store);
    meaning = name_store_put_function(&store, "_ZN3foo3barEv", 13);
    text = name_store_put(&store, "_ZN3foo3barEv", 13);
    CHECK_TEXT(text, "_ZN3foo3barEv");
    /* As this build is, with a library for it or without. */
    CHECK(strcmp(meaning, "foo::bar()") == 0 || strcmp(meaning, "_ZN3foo3barEv") == 0);
    CHECK(name_store_put_function(&store, "_ZN3foo3barEv", 13) == meaning);
    CHECK_TEXT(name_store_put_function(&store, "main", 4), "main");
    name_store_deinit(&store);
}

static void names_at_fixed_addresses_are_found_by_them(void)
{
    static const char name[] = "main@version";
    struct name_store store;
    const char *kept;

    name_store_init(&store);
    kept = name_store_put_fixed_function(&store, name, 4);
    CHECK_TEXT(kept, "main");
    CHECK(name_store_put_fixed_function(&store, name, 4) == kept);
    CHECK(name_store_put_function(&store, "main", 4) == kept);
    CHECK_TEXT(name_store_put_fixed_function(&store, name + 5, SIZE_MAX), "version");
    name_store_deinit(&store);
}

static void an_empty_one_needs_nothing(void)
{
    struct name_store store;

    name_store_init(&store);
    name_store_deinit(&store);
    CHECK_EQUAL(store.count, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(texts_are_kept_once),
    CHECK_CASE(functions_are_another_matter),
    CHECK_CASE(names_at_fixed_addresses_are_found_by_them),
    CHECK_CASE(an_empty_one_needs_nothing),
};

CHECK_MAIN(cases)
