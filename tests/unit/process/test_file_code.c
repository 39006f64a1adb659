/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "process/file_code.h"

#include "support/check.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE       4096u
#define BREAKPOINT 0xcc

static char path[] = "/tmp/file_code_XXXXXX";

/* A file of one page, whose bytes count up, mapped as code is. */
static uint8_t *map_file(int access)
{
    uint8_t bytes[PAGE], *start;
    int fd = mkstemp(path);

    for (size_t i = 0; i < PAGE; i++)
        bytes[i] = (uint8_t)(i % 200);
    CHECK_EQUAL(write(fd, bytes, PAGE), PAGE);
    start = mmap(NULL, PAGE, access, MAP_PRIVATE, fd, 0);
    CHECK(start != MAP_FAILED);
    close(fd);
    return start;
}

static void unmap_file(uint8_t *start)
{
    munmap(start, PAGE);
    unlink(path);
    memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
}

/* As the kernel does it: whatever the mapping allows. */
static void write_code(uint8_t *at, uint8_t byte)
{
    uint8_t *page = at - (uintptr_t)at % PAGE;

    CHECK_EQUAL(mprotect(page, PAGE, PROT_READ | PROT_WRITE), 0);
    *at = byte;
    CHECK_EQUAL(mprotect(page, PAGE, PROT_READ | PROT_EXEC), 0);
}

static bool is_found(const uint8_t *at, uint8_t *byte_out)
{
    return file_code_behind_breakpoint((uintptr_t)at, byte_out, 1);
}

static void the_file_has_what_stood_there(void)
{
    uint8_t *code = map_file(PROT_READ | PROT_EXEC), byte = 0;

    write_code(code + 100, BREAKPOINT);
    CHECK(is_found(code + 100, &byte));
    CHECK_EQUAL(byte, 100);
    /* There may be several close to each other, at the ends, too. */
    write_code(code + 101, BREAKPOINT);
    write_code(code, BREAKPOINT);
    write_code(code + PAGE - 1, BREAKPOINT);
    CHECK(is_found(code + 101, &byte));
    CHECK_EQUAL(byte, 101);
    CHECK(is_found(code, &byte));
    CHECK_EQUAL(byte, 0);
    CHECK(is_found(code + PAGE - 1, &byte));
    CHECK_EQUAL(byte, (PAGE - 1) % 200);
    unmap_file(code);
}

static void what_the_file_has_itself_is_the_programs(void)
{
    uint8_t *code = map_file(PROT_READ | PROT_EXEC), byte = 77;

    CHECK(!is_found(code + 100, &byte));
    CHECK_EQUAL(byte, 77);
    unmap_file(code);
}

static void another_file_of_that_name_says_nothing(void)
{
    uint8_t *code = map_file(PROT_READ | PROT_EXEC), byte = 77;

    write_code(code + 100, BREAKPOINT);
    write_code(code + 90, 1);
    CHECK(!is_found(code + 100, &byte));
    unlink(path);
    CHECK(!is_found(code + 200, &byte));
    CHECK_EQUAL(byte, 77);
    unmap_file(code);
}

static void only_code_of_files_is_looked_up(void)
{
    uint8_t *code = map_file(PROT_READ | PROT_WRITE | PROT_EXEC), byte = 77;
    uint8_t *own = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    code[100] = BREAKPOINT;
    CHECK(!is_found(code + 100, &byte));
    CHECK(!is_found(own, &byte));
    /* A breakpoint that goes over the end of what is compared is in no code that there is. */
    CHECK(!file_code_behind_breakpoint((uintptr_t)code + 62, &byte, 4));
    CHECK_EQUAL(byte, 77);
    munmap(own, PAGE);
    unmap_file(code);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_file_has_what_stood_there),
    CHECK_CASE(what_the_file_has_itself_is_the_programs),
    CHECK_CASE(another_file_of_that_name_says_nothing),
    CHECK_CASE(only_code_of_files_is_looked_up),
};

CHECK_MAIN(cases)
