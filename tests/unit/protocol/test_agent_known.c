/* SPDX-License-Identifier: MIT */
#include "protocol/agent_known.h"

#include "support/check.h"
#include "support/random.h"

static struct agent_known known;

static uint64_t key_of(const char *path, uint64_t address)
{
    return agent_known_key((struct glob_text){path, strlen(path)}, address);
}

static struct detail_declaration declaration_of(unsigned number)
{
    return (struct detail_declaration){
        .is_given = 1, .count = 1, .fields = {{DETAIL_TYPE_STRING, 0, (uint16_t)number}}};
}

static void a_file_is_known_by_its_name(void)
{
    CHECK_EQUAL(key_of("/usr/lib/libc.so.6", 0x1000), key_of("/lib/libc.so.6", 0x1000));
    CHECK_EQUAL(key_of("libc.so.6", 0x1000), key_of("/lib/libc.so.6", 0x1000));
    CHECK(key_of("/lib/libc.so.6", 0x1000) != key_of("/lib/libc.so.6", 0x1001));
    CHECK(key_of("/lib/libc.so.6", 0x1000) != key_of("/lib/libm.so.6", 0x1000));
}

static void functions_are_found_by_their_keys(void)
{
    struct random random;
    uint64_t keys[AGENT_KNOWN_MAX];

    random_init(&random, 5);
    memset(&known, 0, sizeof(known));
    CHECK(agent_known_find(&known, 1) == NULL);
    for (unsigned i = 0; i < AGENT_KNOWN_MAX; i++) {
        const struct detail_declaration declaration = declaration_of(i % 100);

        keys[i] = random_u64(&random);
        CHECK(agent_known_add(&known, keys[i], &declaration));
    }
    CHECK_EQUAL(known.declaration_count, 100);
    CHECK(!agent_known_add(&known, 1, &known.declarations[0]));
    agent_known_sort(&known);
    for (unsigned i = 0; i < AGENT_KNOWN_MAX; i++) {
        const struct detail_declaration *found = agent_known_find(&known, keys[i]);

        CHECK(found != NULL && found->fields[0].size == i % 100);
        CHECK(i == 0 || known.functions[i - 1].key <= known.functions[i].key);
    }
    CHECK(agent_known_find(&known, 1) == NULL && agent_known_find(&known, UINT64_MAX) == NULL);
}

static void only_so_many_declarations_differ(void)
{
    struct detail_declaration declaration;

    memset(&known, 0, sizeof(known));
    for (unsigned i = 0; i < AGENT_DECLARATIONS_MAX; i++) {
        declaration = declaration_of(i);
        CHECK(agent_known_add(&known, i, &declaration));
    }
    declaration = declaration_of(AGENT_DECLARATIONS_MAX);
    CHECK(!agent_known_add(&known, 5000, &declaration));
    declaration = declaration_of(3);
    CHECK(agent_known_add(&known, 5000, &declaration));
    CHECK_EQUAL(known.count, AGENT_DECLARATIONS_MAX + 1);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_file_is_known_by_its_name),
    CHECK_CASE(functions_are_found_by_their_keys),
    CHECK_CASE(only_so_many_declarations_differ),
};

CHECK_MAIN(cases)
