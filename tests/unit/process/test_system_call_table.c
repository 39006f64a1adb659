/* SPDX-License-Identifier: MIT */
#include "process/system_call_table.h"

#include "support/check.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

static const struct system_call_signature *named(const char *name)
{
    return system_call_by_name(name, strlen(name));
}

static void calls_are_found_by_number_and_by_name(void)
{
    CHECK_TEXT(system_call_by_number(SYS_openat)->name, "openat");
    CHECK_TEXT(system_call_by_number(SYS_futex_waitv)->name, "futex_waitv");
    CHECK_EQUAL(named("write")->number, SYS_write);
    CHECK_EQUAL(named("mseal")->number, 462);
    CHECK_EQUAL(named("file_setattr")->number, 469);
    for (size_t i = 0; i < system_call_count(); i++) {
        const struct system_call_signature *call = system_call_at(i);

        if (call->number < 0)
            continue;
        CHECK_EQUAL(system_call_by_number((uint64_t)call->number) == call, 1);
        CHECK_EQUAL(named(call->name) == call, 1);
    }
}

static void what_is_not_there_is_not_found(void)
{
    CHECK_EQUAL(system_call_by_number(SYSTEM_CALL_NUMBERS - 1) == NULL, 1);
    CHECK_EQUAL(system_call_by_number(SYSTEM_CALL_NUMBERS) == NULL, 1);
    CHECK_EQUAL(system_call_by_number(UINT64_MAX) == NULL, 1);
    CHECK_EQUAL(named("") == NULL, 1);
    CHECK_EQUAL(named("rea") == NULL, 1);
    CHECK_EQUAL(named("readx") == NULL, 1);
    CHECK_EQUAL(system_call_by_name("readx", 4) == named("read"), 1);
}

/* The header of the system that this was compiled on may be older than the table, never another one. */
static void numbers_are_those_of_the_kernels_header(void)
{
    FILE *header = fopen("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "r");
    char line[256], name[64];
    unsigned number, seen = 0;

    if (header == NULL)
        return;
    while (fgets(line, sizeof(line), header) != NULL) {
        if (sscanf(line, "#define __NR_%63s %u", name, &number) != 2)
            continue;
        CHECK_EQUAL(named(name) != NULL, 1);
        CHECK_EQUAL(named(name)->number, number);
        seen++;
    }
    fclose(header);
    CHECK_EQUAL(seen > 300, 1);
}

static void lengths_name_arguments_that_there_are(void)
{
    for (size_t i = 0; i < system_call_count(); i++) {
        const struct system_call_signature *call = system_call_at(i);

        CHECK_EQUAL(call->argument_count <= SYSTEM_CALL_ARGUMENTS_MAX, 1);
        for (unsigned k = 0; k < call->argument_count; k++) {
            const struct system_call_argument *argument = &call->arguments[k];
            unsigned source = SYSTEM_CALL_LENGTH_SOURCE(argument->length);

            if (source >= SYSTEM_CALL_LENGTH_ARGUMENT && source <= SYSTEM_CALL_LENGTH_POINTED_AT)
                CHECK_EQUAL(SYSTEM_CALL_LENGTH_NUMBER(argument->length) < call->argument_count, 1);
            CHECK_EQUAL(argument->kind >= SYSTEM_CALL_FIRST_POINTER, argument->direction != 0);
        }
    }
}

static void classes_are_as_people_know_them(void)
{
    CHECK_EQUAL(named("openat")->classes, SYSTEM_CALL_CLASS_FILE | SYSTEM_CALL_CLASS_DESC);
    CHECK_EQUAL(named("connect")->classes, SYSTEM_CALL_CLASS_NETWORK);
    CHECK_EQUAL(named("mmap")->classes, SYSTEM_CALL_CLASS_DESC | SYSTEM_CALL_CLASS_MEMORY);
    CHECK_EQUAL(named("kill")->classes, SYSTEM_CALL_CLASS_PROCESS | SYSTEM_CALL_CLASS_SIGNALS);
    CHECK_EQUAL(named("getuid")->classes, SYSTEM_CALL_CLASS_CREDS | SYSTEM_CALL_CLASS_PURE);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_are_found_by_number_and_by_name),   CHECK_CASE(what_is_not_there_is_not_found),
    CHECK_CASE(numbers_are_those_of_the_kernels_header), CHECK_CASE(lengths_name_arguments_that_there_are),
    CHECK_CASE(classes_are_as_people_know_them),
};

CHECK_MAIN(cases)
