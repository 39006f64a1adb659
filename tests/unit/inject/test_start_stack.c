/* SPDX-License-Identifier: MIT */
/* What is read from the stack of a program that begins is what /proc says of it. */
#define _GNU_SOURCE
#include "inject/start_stack.h"

#include "inject/spawn.h"
#include "support/check.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct gait_error err;
static struct tracee tracee;

static void compare_with_proc(char *const arguments[])
{
    Elf64_auxv_t entries[64];
    char path[64];
    ssize_t got;
    size_t count = 0;
    int fd;

    CHECK_EQUAL(spawn_stopped(arguments, &tracee, &err), 0);
    snprintf(path, sizeof(path), "/proc/%d/auxv", (int)tracee.pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    got = read(fd, entries, sizeof(entries));
    close(fd);
    CHECK(got > 0);
    for (; count < (size_t)got / sizeof(entries[0]) && entries[count].a_type != AT_NULL; count++) {
        uint64_t value = 1;

        CHECK_EQUAL(start_stack_auxiliary(&tracee, entries[count].a_type, &value), 0);
        CHECK_EQUAL(value, entries[count].a_un.a_val);
    }
    CHECK(count > 8);
    spawn_abandon(&tracee, 0);
}

static void all_values_are_those_of_proc(void)
{
    compare_with_proc((char *[]){"/bin/true", NULL});
}

/* Their pointers alone take several pages. */
static void many_arguments_are_passed_over(void)
{
    static char *arguments[5002];

    arguments[0] = "/bin/true";
    for (size_t i = 1; i <= 5000; i++)
        arguments[i] = i % 3 == 0 ? "" : "an argument";
    compare_with_proc(arguments);
}

static void an_empty_environment_is_passed_over(void)
{
    char **before = environ, *nothing[] = {NULL};

    environ = nothing;
    compare_with_proc((char *[]){"/bin/true", NULL});
    environ = before;
}

static void what_is_not_there_is_not_found(void)
{
    uint64_t value = 77;

    CHECK_EQUAL(spawn_stopped((char *[]){"/bin/true", NULL}, &tracee, &err), 0);
    CHECK_EQUAL(start_stack_auxiliary(&tracee, 7777, &value), -ENOENT);
    CHECK_EQUAL(value, 77);
    spawn_abandon(&tracee, 0);
    CHECK(start_stack_auxiliary(&tracee, AT_PAGESZ, &value) < 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(all_values_are_those_of_proc),
    CHECK_CASE(many_arguments_are_passed_over),
    CHECK_CASE(an_empty_environment_is_passed_over),
    CHECK_CASE(what_is_not_there_is_not_found),
};

CHECK_MAIN(cases)
