/* SPDX-License-Identifier: MIT */
#include "kernel/user_code.h"

#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct user_code code;
static struct gait_error err;

__attribute__((noinline, visibility("default"))) int user_code_example(int number);

int user_code_example(int number)
{
    __asm__ volatile("");
    return number * 3;
}

/* What the file has at that place is what is in memory. */
static void functions_are_found_in_the_file(void)
{
    struct user_function function;
    uint8_t bytes[16];
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    CHECK_EQUAL(user_code_open("/proc/self/exe", &code, &err), 0);
    CHECK(strstr(code.path, "test_user_code") != NULL);
    CHECK_EQUAL(user_code_find(&code, "user_code_example", &function), 0);
    CHECK_EQUAL(pread(fd, bytes, sizeof(bytes), (off_t)function.file_offset), sizeof(bytes));
    CHECK_EQUAL(memcmp(bytes, (const void *)(uintptr_t)user_code_example, 8), 0);
    CHECK_EQUAL(user_code_find(&code, "user_code_examples", &function), -ENOENT);
    user_code_close(&code);
    close(fd);
}

static int count_function(void *context, const struct user_function *function)
{
    size_t *count = context;

    *count += function->name_length == strlen("user_code_example");
    return 0;
}

static void patterns_list_them(void)
{
    size_t count = 0;

    CHECK_EQUAL(user_code_open("/proc/self/exe", &code, &err), 0);
    CHECK_EQUAL(user_code_list(&code, "user_code_exa*", count_function, &count), 0);
    CHECK(count >= 1);
    user_code_close(&code);
}

static void files_are_found_by_name(void)
{
    CHECK_EQUAL(user_code_open("libc.so.6", &code, &err), 0);
    CHECK(strstr(code.path, "/libc") != NULL);
    user_code_close(&code);
    CHECK_EQUAL(user_code_open("sh", &code, &err), 0);
    user_code_close(&code);
    CHECK_EQUAL(user_code_open("no-such-program-anywhere", &code, &err), -ENOENT);
    CHECK_EQUAL(user_code_open("/nowhere/at/all", &code, &err), -ENOENT);
    CHECK_EQUAL(user_code_open("/etc/passwd", &code, &err), -ENOEXEC);
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_are_found_in_the_file),
    CHECK_CASE(patterns_list_them),
    CHECK_CASE(files_are_found_by_name),
};

CHECK_MAIN(cases)
