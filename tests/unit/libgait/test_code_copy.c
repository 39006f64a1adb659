/* SPDX-License-Identifier: MIT */
/*
 * Copies functions that compilers made, runs both and compares. Under sanitizers such functions call into the
 * sanitizer's runtime, which is as good as any other call.
 */
#define _GNU_SOURCE
#include "gait/code_copy.h"

#include "arch/arch.h"
#include "gait/instruction.h"
#include "support/check.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#define GIBIBYTE (1ull << 30)

static struct gait_code_copy_options fresh(enum gait_placement placement)
{
    return (struct gait_code_copy_options){.size_bytes = sizeof(struct gait_code_copy_options), .placement = placement};
}

/* The size of a function of libc, as its symbol tells. */
static size_t size_of(const void *function)
{
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;

    if (dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0 || symbol == NULL)
        return 0;
    return symbol->st_size;
}

static uint64_t distance(const void *left, const void *right)
{
    uintptr_t a = (uintptr_t)left, b = (uintptr_t)right;

    return a > b ? a - b : b - a;
}

static int compare_longs(const void *left, const void *right)
{
    long a = *(const long *)left, b = *(const long *)right;

    return a < b ? -1 : a > b;
}

typedef void *bsearch_function(const void *, const void *, size_t, size_t, int (*)(const void *, const void *));

static void a_copied_function_finds_the_same(enum gait_placement placement)
{
    static const long sorted[] = {-7, 0, 3, 5, 8, 13, 21, 34, 55};
    struct gait_code_copy_options options = fresh(placement);
    void *original = dlsym(RTLD_DEFAULT, "bsearch");
    struct gait_code_copy *copy = NULL;
    struct gait_error err = {0};

    CHECK_EQUAL(gait_code_copy_create(&options, original, size_of(original), &copy, &err), 0);
    CHECK_TEXT(err.text, "");
    if (copy == NULL)
        return;

    bsearch_function *copied = (bsearch_function *)gait_code_copy_entry(copy);

    for (long key = -10; key < 60; key++)
        CHECK(copied(&key, sorted, 9, sizeof(long), compare_longs) ==
              ((bsearch_function *)original)(&key, sorted, 9, sizeof(long), compare_longs));
    if (placement == GAIT_PLACEMENT_NEAR)
        CHECK(distance(gait_code_copy_entry(copy), original) < 2 * GIBIBYTE);
    if (placement == GAIT_PLACEMENT_FAR)
        CHECK(distance(gait_code_copy_entry(copy), original) > 4 * GIBIBYTE);
    gait_code_copy_destroy(copy);
}

static void copies_run_near_far_and_anywhere(void)
{
    a_copied_function_finds_the_same(GAIT_PLACEMENT_ANY);
    a_copied_function_finds_the_same(GAIT_PLACEMENT_NEAR);
    a_copied_function_finds_the_same(GAIT_PLACEMENT_FAR);
}

/* strtol has tables, branches and, behind it, calls: the copy of what it is made of must read numbers as it does. */
static void data_of_the_original_is_found_from_far_away(void)
{
    long (*original)(const char *, char **, int) = (long (*)(const char *, char **, int))dlsym(RTLD_DEFAULT, "strtol");
    struct gait_code_copy_options options = fresh(GAIT_PLACEMENT_FAR);
    struct gait_code_copy *copy = NULL;
    static const char *const texts[] = {"0", "-17", "0x7f", "9223372036854775808", "x", "  42abc", ""};

    CHECK_EQUAL(gait_code_copy_create(&options, (void *)original, size_of((void *)original), &copy, NULL), 0);
    if (copy == NULL)
        return;

    long (*copied)(const char *, char **, int) = (long (*)(const char *, char **, int))gait_code_copy_entry(copy);

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        CHECK_EQUAL(copied(texts[i], NULL, 0), original(texts[i], NULL, 0));
    gait_code_copy_destroy(copy);
}

static void addresses_lead_from_one_to_the_other(void)
{
    struct gait_code_copy_options options = fresh(GAIT_PLACEMENT_FAR);
    uint8_t *original = dlsym(RTLD_DEFAULT, "bsearch");
    size_t size = size_of(original);
    struct gait_code_copy *copy = NULL;
    uint64_t address = 0, back = 0, entry;

    CHECK_EQUAL(gait_code_copy_create(&options, original, size, &copy, NULL), 0);
    if (copy == NULL)
        return;
    entry = (uintptr_t)gait_code_copy_entry(copy);
    CHECK(gait_code_copy_total_size(copy) >= gait_code_copy_size(copy));
    for (size_t offset = 0; offset < size;) {
        struct gait_instruction instruction = {.size_bytes = sizeof(instruction)};
        uint64_t place = (uintptr_t)original + offset;

        CHECK_EQUAL(gait_instruction_decode(original + offset, size - offset, place, &instruction, NULL), 0);
        CHECK_EQUAL(gait_code_copy_address(copy, place, &address), 0);
        CHECK_EQUAL(gait_code_copy_original_address(copy, address, &back), 0);
        CHECK_EQUAL(back, place);
        offset += instruction.length;
    }
    CHECK_EQUAL(gait_code_copy_address(copy, (uintptr_t)original, &address), 0);
    CHECK_EQUAL(address, entry);
    CHECK_EQUAL(gait_code_copy_address(copy, (uintptr_t)original + size, &address), -ENOENT);
    CHECK_EQUAL(gait_code_copy_original_address(copy, entry - 1, &back), -ENOENT);
    CHECK_EQUAL(gait_code_copy_original_address(copy, entry + gait_code_copy_size(copy), &back), -ENOENT);
    gait_code_copy_destroy(copy);
}

static void code_can_be_understood_at_another_address(void)
{
    struct gait_code_copy_options options = fresh(GAIT_PLACEMENT_FAR);
    struct gait_code_copy *copy = NULL;
    uint64_t original = 0;

    options.original_address = 0x5000;
    CHECK_EQUAL(gait_code_copy_create(&options, "\x90\xc3", 2, &copy, NULL), 0);
    CHECK_EQUAL(gait_code_copy_original_address(copy, (uintptr_t)gait_code_copy_entry(copy) + 1, &original), 0);
    CHECK_EQUAL(original, 0x5001);
    CHECK(distance(gait_code_copy_entry(copy), NULL) > 4 * GIBIBYTE);
    gait_code_copy_destroy(copy);
}

/* A long run of far references needs far more memory than it has itself. */
static void copies_may_be_much_larger_than_their_original(void)
{
    enum { COUNT = 20000 };
    struct gait_code_copy_options options = fresh(GAIT_PLACEMENT_FAR);
    uint8_t *code = malloc(7 * COUNT + 1);
    struct gait_code_copy *copy = NULL;
    struct gait_error err = {0};

    for (int i = 0; i < COUNT; i++)
        memcpy(code + 7 * i, "\x48\x8b\x05\x00\x10\x00\x00", 7); /* mov rax, [rip+0x1000] */
    code[7 * COUNT] = 0xc3;
    CHECK_EQUAL(gait_code_copy_create(&options, code, 7 * COUNT + 1, &copy, &err), 0);
    CHECK_TEXT(err.text, "");
    CHECK(copy != NULL && gait_code_copy_size(copy) > 7 * COUNT);
    gait_code_copy_destroy(copy);
    free(code);
}

static int error_of(const struct gait_code_copy_options *options, const void *code, size_t size, const char *word)
{
    struct gait_code_copy *copy = (struct gait_code_copy *)code;
    struct gait_error err = {0};
    int result = gait_code_copy_create(options, code, size, &copy, &err);

    CHECK(copy == code);
    CHECK_EQUAL(err.code, -result);
    if (strstr(err.text, word) == NULL)
        printf("'%s' is not in: %s\n", word, err.text);
    CHECK(strstr(err.text, word) != NULL);
    CHECK(strstr(err.text, "cannot ") == err.text && strstr(err.text, "; ") != NULL);
    return result;
}

static void what_cannot_be_copied_is_explained(void)
{
    static const char far_call[] = "\x90\x90\xff\x18\xc3", garbage[] = "\x90\x06\x06", cut[] = "\x90\xe8\x00";
    char place[32];

    CHECK_EQUAL(error_of(NULL, NULL, 4, "there is none"), -EINVAL);
    CHECK_EQUAL(error_of(NULL, "\xc3", 0, "there is none"), -EINVAL);
    CHECK_EQUAL(error_of(NULL, "\xc3", SIZE_MAX, "more than"), -EINVAL);
    snprintf(place, sizeof(place), "%p", (const void *)(far_call + 2));
    CHECK_EQUAL(error_of(NULL, far_call, sizeof(far_call) - 1, place), -EOPNOTSUPP);
    snprintf(place, sizeof(place), "%p", (const void *)(garbage + 1));
    CHECK_EQUAL(error_of(NULL, garbage, sizeof(garbage) - 1, place), -EILSEQ);
    snprintf(place, sizeof(place), "%p", (const void *)(cut + 1));
    CHECK_EQUAL(error_of(NULL, cut, sizeof(cut) - 1, place), -ENODATA);
    CHECK_EQUAL(gait_code_copy_create(NULL, "\xc3", 1, NULL, NULL), -EINVAL);
    gait_code_copy_destroy(NULL);
}

static void options_of_another_size_are_understood_or_refused(void)
{
    struct {
        struct gait_code_copy_options options;
        uint64_t later;
    } larger = {.options = fresh(GAIT_PLACEMENT_ANY)};
    struct gait_code_copy_options options = fresh(GAIT_PLACEMENT_ANY);
    struct gait_code_copy *copy = NULL;

    larger.options.size_bytes = sizeof(larger);
    CHECK_EQUAL(gait_code_copy_create(&larger.options, "\xc3", 1, &copy, NULL), 0);
    gait_code_copy_destroy(copy);
    larger.later = 1;
    CHECK_EQUAL(error_of(&larger.options, "\xc3", 1, "does not know"), -EINVAL);
    options.size_bytes = sizeof(size_t);
    options.placement = 77; /* behind the size: not looked at */
    CHECK_EQUAL(gait_code_copy_create(&options, "\xc3", 1, &copy, NULL), 0);
    gait_code_copy_destroy(copy);
    options.size_bytes = 0;
    CHECK_EQUAL(error_of(&options, "\xc3", 1, "size_bytes"), -EINVAL);
    options.size_bytes = sizeof(options);
    CHECK_EQUAL(error_of(&options, "\xc3", 1, "none of those"), -EINVAL);
}

static const struct check_case cases[] = {
    CHECK_CASE(copies_run_near_far_and_anywhere),
    CHECK_CASE(data_of_the_original_is_found_from_far_away),
    CHECK_CASE(addresses_lead_from_one_to_the_other),
    CHECK_CASE(code_can_be_understood_at_another_address),
    CHECK_CASE(copies_may_be_much_larger_than_their_original),
    CHECK_CASE(what_cannot_be_copied_is_explained),
    CHECK_CASE(options_of_another_size_are_understood_or_refused),
};

int main(void)
{
    if (arch_host() == NULL || strcmp(arch_host()->name, "x86_64") != 0)
        check_skip("this test knows x86-64 instructions");
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
