/* SPDX-License-Identifier: MIT */
/* Functions are chosen among those of this program. */
#include "agent/hook_choice.h"

#include "hook/hook_image.h"
#include "support/check_apart.h"

int chosen_one(int value);
int chosen_two(int value);
int other_one(int value);
int other_name(int value) __attribute__((alias("other_one")));
int found_late(int value);

__attribute__((noinline)) int chosen_one(int value)
{
    return value + 1;
}

__attribute__((noinline)) int chosen_two(int value)
{
    return value + 2;
}

__attribute__((noinline)) int other_one(int value)
{
    return value + 3;
}

static __attribute__((used)) int (*find_late(void))(int)
{
    return chosen_one;
}

int found_late(int value) __attribute__((ifunc("find_late")));

#define PATTERNS 8

static struct hook_image image;
static struct agent_pattern patterns[PATTERNS];
static struct agent_pattern_parts parts[PATTERNS];
static unsigned pattern_count;
static struct hook_choice choice;

static void begin(void)
{
    CHECK_EQUAL(hook_image_open(&image, "/proc/self/exe"), 0);
    choice = (struct hook_choice){.symbols = &image.file.symbols, .functions = &image.functions, .parts = parts};
    choice.chosen = calloc(image.functions.count, sizeof(*choice.chosen));
}

/* Its bit. */
static uint64_t add(enum agent_pattern_use use, const char *text)
{
    patterns[pattern_count].use = use;
    strcpy(patterns[pattern_count].text, text);
    agent_pattern_split(&patterns[pattern_count], &parts[pattern_count]);
    return 1ull << pattern_count++;
}

static uint64_t want(const char *text)
{
    uint64_t bit = add(AGENT_PATTERN_HOOK, text);

    choice.wanted |= bit;
    return bit;
}

static uint64_t refuse(const char *text)
{
    uint64_t bit = add(AGENT_PATTERN_EXCLUDE, text);

    choice.unwanted |= bit;
    return bit;
}

static long find(const char *name)
{
    for (size_t i = 0; i < image.functions.count; i++) {
        const struct elf_function *function = &image.functions.functions[i];

        if (function->name != NULL && function->name_length == strlen(name) &&
            memcmp(function->name, name, function->name_length) == 0)
            return (long)i;
    }
    printf("no function is called %s\n", name);
    exit(1);
}

static uint64_t patterns_of(const char *name)
{
    return choice.chosen[find(name)].patterns;
}

static size_t count_chosen(void)
{
    size_t count = 0;

    for (size_t i = 0; i < image.functions.count; i++)
        count += choice.chosen[i].patterns != 0;
    return count;
}

static void without_patterns_nothing_is_chosen(void)
{
    begin();
    CHECK_EQUAL(hook_choice_make(&choice), 0);
    CHECK_EQUAL(count_chosen(), 0);
}

static void functions_are_chosen_by_their_names(void)
{
    uint64_t both, one, none;

    begin();
    both = want("chosen_*");
    one = want("!chosen_one");
    none = want("no_such_function");
    CHECK_EQUAL(hook_choice_make(&choice), both | one);
    CHECK_EQUAL(patterns_of("chosen_one"), both | one);
    CHECK_EQUAL(patterns_of("chosen_two"), both);
    CHECK_EQUAL(patterns_of("other_one") & (both | one | none), 0);
    CHECK_EQUAL(count_chosen(), 2);
}

static void any_name_of_a_function_counts(void)
{
    uint64_t bit;

    begin();
    bit = want("other_name");
    CHECK_EQUAL(hook_choice_make(&choice), bit);
    CHECK_EQUAL(count_chosen(), 1);
}

static void what_is_excluded_is_not_chosen_whatever_else_says_so(void)
{
    uint64_t wanted, unwanted;

    begin();
    unwanted = refuse("!chosen_two");
    wanted = want("chosen_*");
    CHECK_EQUAL(hook_choice_make(&choice), wanted | unwanted);
    CHECK_EQUAL(patterns_of("chosen_one"), wanted);
    CHECK_EQUAL(patterns_of("chosen_two"), 0);
}

static void all_functions_are_chosen_but_the_entry_and_resolvers(void)
{
    long entry;

    begin();
    choice.entry = image.entry;
    entry = find("_start");
    CHECK_EQUAL(image.functions.functions[entry].start, image.entry);
    CHECK_EQUAL(hook_choice_make(&choice), 0);
    CHECK_EQUAL(want("*"), 1);
    CHECK_EQUAL(hook_choice_make(&choice), 1);
    CHECK_EQUAL(choice.chosen[entry].patterns, 0);
    CHECK_EQUAL(patterns_of("chosen_one"), 1);
    for (size_t i = 0; i < image.functions.count; i++) {
        const struct elf_function *function = &image.functions.functions[i];

        if (function->is_resolver || function->is_part || function->is_label)
            CHECK_EQUAL(choice.chosen[i].patterns, 0);
    }
    /* It matters which one it is. */
    choice.entry = 0;
    CHECK_EQUAL(hook_choice_make(&choice), 1);
    CHECK_EQUAL(choice.chosen[entry].patterns, 1);
}

static void a_module_that_is_excluded_as_a_whole_has_none(void)
{
    uint64_t unwanted;

    begin();
    want("chosen_*");
    unwanted = refuse("test_hook_choice");
    CHECK_EQUAL(hook_choice_make(&choice), unwanted);
    CHECK_EQUAL(count_chosen(), 0);
}

static void functions_that_only_choose_another_one_are_told(void)
{
    uint64_t late, unwanted;

    begin();
    late = want("found_late");
    unwanted = refuse("!found_late");
    CHECK_EQUAL(hook_choice_make(&choice), 0);
    CHECK_EQUAL(choice.unresolved, late);
    CHECK((choice.unresolved & unwanted) == 0);
    CHECK_EQUAL(count_chosen(), 0);
    CHECK_EQUAL(found_late(1) + other_name(1), 6);
}

static uint64_t address_of(const char *name)
{
    struct elf_symbol symbol;

    CHECK_EQUAL(elf_symbols_find(choice.symbols, name, &symbol), 0);
    return symbol.address;
}

static void functions_are_chosen_where_they_were_looked_up(void)
{
    static struct agent_places places;
    uint64_t looked_up, elsewhere;

    begin();
    looked_up = want("chosen_*");
    elsewhere = want("other_one");
    choice.places = &places;
    choice.module = 7;
    places.count = 0;
    CHECK(agent_places_add(&places, 7, address_of("chosen_one"), looked_up));
    CHECK(agent_places_add(&places, 7, address_of("chosen_one") + 1, looked_up));
    CHECK(agent_places_add(&places, 8, address_of("chosen_two"), elsewhere));
    CHECK_EQUAL(hook_choice_make(&choice), looked_up | elsewhere);
    CHECK_EQUAL(choice.chosen[find("chosen_one")].patterns, looked_up);
    CHECK_EQUAL(choice.chosen[find("chosen_two")].patterns, 0);
    CHECK_EQUAL(choice.chosen[find("other_one")].patterns, elsewhere);
}

static void functions_are_chosen_by_an_address_in_them(void)
{
    char text[32];
    uint64_t bit;

    begin();
    snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address_of("chosen_two") + 1);
    bit = want(text);
    (void)want("0x1");
    CHECK_EQUAL(hook_choice_make(&choice), bit);
    CHECK_EQUAL(choice.chosen[find("chosen_two")].patterns, bit);
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_are_chosen_where_they_were_looked_up),
    CHECK_CASE(functions_are_chosen_by_an_address_in_them),
    CHECK_CASE(without_patterns_nothing_is_chosen),
    CHECK_CASE(functions_are_chosen_by_their_names),
    CHECK_CASE(any_name_of_a_function_counts),
    CHECK_CASE(what_is_excluded_is_not_chosen_whatever_else_says_so),
    CHECK_CASE(all_functions_are_chosen_but_the_entry_and_resolvers),
    CHECK_CASE(a_module_that_is_excluded_as_a_whole_has_none),
    CHECK_CASE(functions_that_only_choose_another_one_are_told),
};

CHECK_APART_MAIN(cases)
