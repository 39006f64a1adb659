/* SPDX-License-Identifier: MIT */
#include "cli/screens/find_listing.h"

#include "cli/screens/screen.h"
#include "support/check.h"
#include "trace/json_reader.h"

static const struct elf_function named = {
    .start = 0x1000, .size_bytes = 32, .name = "ab\tcd, unused", .name_length = 5};
static const struct elf_function unnamed = {.start = 0x2000, .size_bytes = 1};
static const struct hook_plan jump = {
    .patch_at = 0x1004, .patch_bytes = 5, .displaced_end = 0x100b, .method = HOOK_JUMP};
static const struct hook_plan trap = {.patch_at = 0x2000,
                                      .patch_bytes = 1,
                                      .displaced_end = 0x2001,
                                      .method = HOOK_TRAP,
                                      .obstacle = HOOK_TOO_SHORT,
                                      .is_entry_only = true};

/* What a listing of two modules prints, to be freed. */
static char *list(struct find_listing listing)
{
    char *output = NULL;
    size_t size = 0;
    struct screen screen = {.stream = open_memstream(&output, &size), .width = 100};

    listing.screen = &screen;
    find_listing_begin(&listing);
    find_listing_begin_module(&listing, "/lib/one.so", 0);
    find_listing_add(&listing, &named, &jump);
    find_listing_add(&listing, &unnamed, &trap);
    find_listing_end_module(&listing);
    find_listing_begin_module(&listing, "two", 0x100000);
    find_listing_add(&listing, &named, &jump);
    find_listing_end_module(&listing);
    find_listing_end(&listing);
    fclose(screen.stream);
    return output;
}

static void check_list(struct find_listing listing, const char *expected)
{
    char *output = list(listing);

    CHECK_TEXT(output, expected);
    free(output);
}

static void functions_have_a_line_each(void)
{
    check_list((struct find_listing){0}, "            1000       32  ab?cd  one.so\n"
                                         "            2000        1  one.so+0x2000  one.so\n"
                                         "          101000       32  ab?cd  two\n");
}

static void how_they_are_hooked_is_shown_with_numbers(void)
{
    check_list((struct find_listing){.is_hookable = true},
               "            1000       32  jump                          ab?cd  one.so\n"
               "            2000        1  trap, entry only              one.so+0x2000  one.so  (it is too short)\n"
               "one.so: 2 functions: jump 1 (50.0 %), jump into padding 0 (0.0 %), hop 0 (0.0 %), trap 1 "
               "(50.0 %), impossible 0 (0.0 %); entry only 1\n"
               "          101000       32  jump                          ab?cd  two\n"
               "two: 1 function: jump 1 (100.0 %), jump into padding 0 (0.0 %), hop 0 (0.0 %), trap 0 "
               "(0.0 %), impossible 0 (0.0 %); entry only 0\n"
               "all: 3 functions: jump 2 (66.7 %), jump into padding 0 (0.0 %), hop 0 (0.0 %), trap 1 "
               "(33.3 %), impossible 0 (0.0 %); entry only 1\n");
    check_list((struct find_listing){.is_summary = true}, "one.so: 2 functions\ntwo: 1 function\nall: 3 functions\n");
}

static const struct json_value *read_json(struct find_listing listing, struct json_value **root)
{
    char *output = list(listing);

    CHECK_EQUAL(json_read("listing", output, strlen(output), root, NULL), 0);
    free(output);
    return json_member(*root, "modules");
}

static void json_has_it_all(void)
{
    struct json_value *root;
    const struct json_value *module =
        read_json((struct find_listing){.is_json = true, .is_hookable = true}, &root)->first;
    const struct json_value *function = json_member(module, "functions")->first;
    uint64_t number = 0;

    CHECK_TEXT(json_member(module, "path")->text, "/lib/one.so");
    CHECK_EQUAL(json_count(json_member(module, "functions")), 2);
    CHECK_TEXT(json_member(function, "name")->text, "ab\tcd");
    CHECK_TEXT(json_member(function, "address")->text, "0x1000");
    CHECK_TEXT(json_member(function, "patch_at")->text, "0x1004");
    CHECK(json_to_u64(json_member(function, "displaced_bytes"), &number) && number == 7);
    CHECK_TEXT(json_member(function, "method")->text, "jump");
    function = function->next;
    CHECK_EQUAL(json_member(function, "name")->kind, JSON_NULL);
    CHECK_EQUAL(json_member(function, "entry_only")->kind, JSON_TRUE);
    CHECK_TEXT(json_member(function, "obstacle")->text, "it is too short");
    CHECK_TEXT(json_member(json_member(module->next, "functions")->first, "address")->text, "0x101000");
    CHECK(json_to_u64(json_member(json_member(root, "summary"), "trap"), &number) && number == 1);
    json_free(root);
    module = read_json((struct find_listing){.is_json = true, .is_summary = true}, &root)->first;
    CHECK(json_member(module, "functions") == NULL);
    CHECK(json_to_u64(json_member(json_member(module, "summary"), "functions"), &number) && number == 2);
    json_free(root);
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_have_a_line_each),
    CHECK_CASE(how_they_are_hooked_is_shown_with_numbers),
    CHECK_CASE(json_has_it_all),
};

CHECK_MAIN(cases)
