/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* What is told of translations, and what is said where there are none. */
#include "gait/stalker.h"

#include "support/check.h"
#include "support/code_page.h"
#include "support/followed_call.h"

#include <errno.h>

static struct code_page page;
static struct gait_stalker *stalker;

static struct gait_translation translation_of(const struct gait_follow_options *options)
{
    struct gait_translation translation = {.size_bytes = sizeof(translation)};
    struct gait_error err = {0};

    CHECK_EQUAL(gait_stalker_prefetch(stalker, options, page.start, NULL), 0);
    CHECK_EQUAL(gait_stalker_find_translation(stalker, options, page.start, &translation, &err), 0);
    CHECK_TEXT(err.text, "");
    return translation;
}

/* mov eax, edi; add eax, esi; ret */
static void begin(void)
{
    stalker = followed_call_stalker();
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x89\xf8\x01\xf0\xc3");
}

static void a_translation_has_what_the_block_has(void)
{
    struct gait_follow_options plain = followed_options(), events = followed_options();
    struct gait_translation translation;
    uint64_t original = 0;

    begin();
    translation = translation_of(&plain);
    CHECK_EQUAL(translation.start, page.start);
    CHECK_EQUAL(translation.original_bytes, 5);
    CHECK(translation.code_bytes >= 4);
    CHECK(memcmp(translation.code, "\x89\xf8\x01\xf0", 4) == 0);
    CHECK_EQUAL(gait_stalker_original_address(stalker, &plain, (uintptr_t)translation.code, &original, NULL), 0);
    CHECK_EQUAL(original, page.start);
    CHECK_EQUAL(gait_stalker_original_address(stalker, &plain, (uintptr_t)translation.code + 2, &original, NULL), 0);
    CHECK_EQUAL(original, page.start + 2);
    events.events = GAIT_EVENT_BLOCK;
    CHECK(translation_of(&events).code_bytes > translation.code_bytes);
    gait_stalker_destroy(stalker);
}

static void a_shorter_struct_gets_less(void)
{
    struct gait_follow_options options = followed_options();
    struct gait_translation translation = {.size_bytes = offsetof(struct gait_translation, code), .code = "mine"};

    begin();
    translation_of(&options);
    CHECK_EQUAL(gait_stalker_find_translation(stalker, &options, page.start, &translation, NULL), 0);
    CHECK_EQUAL(translation.original_bytes, 5);
    CHECK_TEXT(translation.code, "mine");
    translation.size_bytes = 0;
    CHECK_EQUAL(gait_stalker_find_translation(stalker, &options, page.start, &translation, NULL), -EINVAL);
    gait_stalker_destroy(stalker);
}

static void where_there_is_none_it_is_said(void)
{
    struct gait_translation translation = {.size_bytes = sizeof(translation)};
    struct gait_follow_options options = followed_options();
    struct gait_error err = {0};
    uint64_t original;

    begin();
    CHECK_EQUAL(gait_stalker_find_translation(stalker, NULL, 0x1234, &translation, &err), -ENOENT);
    CHECK_TEXT(err.text, "cannot show a translation of 0x1234: no block that begins there is translated for these "
                         "events and this transformer");
    CHECK_EQUAL(gait_stalker_original_address(stalker, NULL, 0x1234, &original, &err), -ENOENT);
    CHECK_TEXT(err.text, "cannot find what 0x1234 stands for: nothing is known of that place");
    CHECK_EQUAL(gait_stalker_find_translation(stalker, NULL, 0x1234, NULL, &err), -EINVAL);
    CHECK_EQUAL(gait_stalker_original_address(stalker, NULL, 0x1234, NULL, &err), -EINVAL);
    CHECK_EQUAL(gait_stalker_find_translation(NULL, NULL, 1, &translation, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot show a translation: there is no stalker, it is NULL");
    CHECK_EQUAL(gait_stalker_original_address(NULL, NULL, 1, &original, &err), -EINVAL);
    options.events = 1u << 20;
    CHECK_EQUAL(gait_stalker_find_translation(stalker, &options, 1, &translation, NULL), -EINVAL);
    CHECK_EQUAL(gait_stalker_original_address(stalker, &options, 1, &original, NULL), -EINVAL);
    gait_stalker_destroy(stalker);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_translation_has_what_the_block_has),
    CHECK_CASE(a_shorter_struct_gets_less),
    CHECK_CASE(where_there_is_none_it_is_said),
};

int main(void)
{
    code_page_init(&page, 1 << 12);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
