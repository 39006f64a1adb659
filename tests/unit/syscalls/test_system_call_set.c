/* SPDX-License-Identifier: MIT */
#include "syscalls/system_call_set.h"

#include "support/check.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

static struct system_call_set set;
static struct system_call_set_fault fault;

static bool has(const char *text, uint64_t number)
{
    CHECK_EQUAL(system_call_set_parse(text, &set, &fault), 0);
    return system_call_set_has(&set, number);
}

static void names_classes_and_expressions(void)
{
    CHECK(has("read", SYS_read) && !has("read", SYS_write));
    CHECK(has("read,write", SYS_write));
    CHECK(has("%file", SYS_openat) && has("file", SYS_openat) && !has("file", SYS_read));
    CHECK(has("%net", SYS_connect) && has("network,read", SYS_read));
    CHECK(has("%%stat", SYS_newfstatat) && has("%%statfs", SYS_fstatfs));
    CHECK(has("stat", SYS_stat) && !has("stat", SYS_lstat));
    CHECK(has("/^open", SYS_openat) && has("/^open/,close", SYS_close) && !has("/^open/", SYS_close));
    CHECK(has("/e{1,2}xit/", SYS_exit));
    CHECK(has("0,1", SYS_write));
}

static void all_none_and_all_others(void)
{
    CHECK(has("all", 5) && has("all", 100000));
    CHECK(!has("none", 5) && !has("none", 100000));
    CHECK(has("!read", SYS_write) && !has("!read", SYS_read) && has("!read", 100000));
    CHECK(!has("!all", 5) && has("!none", 5));
    CHECK(!has("?nosuch", 5) && has("?nosuch,read", SYS_read) && !has("?%nosuch", 5));
}

static void what_there_is_not_is_pointed_at(void)
{
    static const struct {
        const char *text, *word;
        bool is_class;
    } wrong[] = {
        {"raed", "raed", false},   {"read,wriet,close", "wriet", false},
        {"%flie", "%flie", true},  {"", "", false},
        {"read,", "", false},      {"/[/", "[", false},
        {"/^zzz/", "^zzz", false}, {"!nosuch", "nosuch", false},
        {"creds", "creds", false},
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        CHECK_EQUAL(system_call_set_parse(wrong[i].text, &set, &fault), -EINVAL);
        CHECK_EQUAL(fault.length, strlen(wrong[i].word));
        CHECK_EQUAL(memcmp(fault.word, wrong[i].word, fault.length), 0);
        CHECK_EQUAL(fault.is_class, wrong[i].is_class);
    }
    CHECK_TEXT(system_call_set_class(0), "file");
}

static const struct check_case cases[] = {
    CHECK_CASE(names_classes_and_expressions),
    CHECK_CASE(all_none_and_all_others),
    CHECK_CASE(what_there_is_not_is_pointed_at),
};

CHECK_MAIN(cases)
