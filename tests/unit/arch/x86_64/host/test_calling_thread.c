/* SPDX-License-Identifier: MIT */
#include "arch/calling_thread.h"

#include "support/check.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

static void its_pointer_is_what_variables_are_found_by(void)
{
    CHECK_EQUAL(calling_thread_pointer(), (uintptr_t)__builtin_thread_pointer());
}

static void vectors_are_what_the_program_has(void)
{
    const uint64_t given[] = {1, 2, 3, 4, 5, 6, 7, 0x8877665544332211};
    uint64_t values[CALLING_THREAD_VECTORS] = {0};

    __asm__ volatile("movq 0(%0), %%xmm0; movq 8(%0), %%xmm1; movq 16(%0), %%xmm2; movq 24(%0), %%xmm3\n\t"
                     "movq 32(%0), %%xmm4; movq 40(%0), %%xmm5; movq 48(%0), %%xmm6; movq 56(%0), %%xmm7\n\t"
                     "mov %1, %%rdi\n\t"
                     "lea -128(%%rsp), %%rsp\n\t"
                     "call *%2\n\t"
                     "lea 128(%%rsp), %%rsp"
                     :
                     : "r"(given), "r"(values), "b"(calling_thread_vectors)
                     : "memory", "cc", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1",
                       "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
    for (unsigned i = 0; i < CALLING_THREAD_VECTORS; i++)
        CHECK_EQUAL(values[i], given[i]);
}

/* 0: it cannot be read, either. */
static uint64_t variable_at(uint64_t address)
{
    struct variable_function function;

    return variable_function_read(address, &function) ? calling_thread_variable(&function) : 0;
}

static void *check_errno(void *unused)
{
    (void)unused;
    CHECK_EQUAL(variable_at((uintptr_t)__errno_location), (uintptr_t)&errno);
    return NULL;
}

/* That of the C library that is here. */
static void the_c_library_tells_where_errno_is(void)
{
    pthread_t thread;

    check_errno(NULL);
    CHECK_EQUAL(pthread_create(&thread, NULL, check_errno, NULL), 0);
    pthread_join(thread, NULL);
}

static uint8_t *page;

static uint64_t variable_of(const char *code, size_t size_bytes)
{
    memset(page, 0xcc, 64);
    memcpy(page, code, size_bytes);
    return variable_at((uintptr_t)page);
}

#define VARIABLE_OF(code) variable_of(code, sizeof(code) - 1)

static void other_libraries_have_other_code(void)
{
    uint64_t pointer = calling_thread_pointer();

    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    /* musl, and static programs */
    CHECK_EQUAL(VARIABLE_OF("\x64\x48\x8b\x04\x25\0\0\0\0\x48\x83\xc0\x34\xc3"), pointer + 0x34);
    CHECK_EQUAL(VARIABLE_OF("\xf3\x0f\x1e\xfa\x48\xc7\xc0\xc0\xff\xff\xff\x64\x48\x03\x04\x25\0\0\0\0\xc3"),
                pointer - 0x40);
    CHECK_EQUAL(VARIABLE_OF("\x64\x48\x8b\x04\x25\0\0\0\0\x48\x05\x00\xff\xff\xff\xc3"), pointer - 0x100);
    CHECK_EQUAL(VARIABLE_OF("\x64\x48\x8b\x04\x25\0\0\0\0\x48\x8d\x80\x10\0\0\0\xc3"), pointer + 0x10);
    /* What is something else is not guessed at. */
    CHECK_EQUAL(VARIABLE_OF("\xc3"), 0);
    CHECK_EQUAL(VARIABLE_OF("\x48\xc7\xc0\xc0\xff\xff\xff\xc3"), 0);
    CHECK_EQUAL(VARIABLE_OF("\x64\x48\x8b\x04\x25\0\0\0\0\x64\x48\x03\x04\x25\0\0\0\0\xc3"), 0);
    CHECK_EQUAL(VARIABLE_OF("\x64\x48\x8b\x04\x25\x08\0\0\0\xc3"), 0);
    CHECK_EQUAL(VARIABLE_OF("\x48\x8b\x05\xf9\xff\xff\x7f\x64\x48\x03\x04\x25\0\0\0\0\xc3"), 0);
    CHECK_EQUAL(VARIABLE_OF("\x90\x90\x90\x90"), 0);
    munmap(page, 4096);
    CHECK_EQUAL(variable_at((uintptr_t)page), 0);
    CHECK_EQUAL(variable_at(0), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(its_pointer_is_what_variables_are_found_by),
    CHECK_CASE(vectors_are_what_the_program_has),
    CHECK_CASE(the_c_library_tells_where_errno_is),
    CHECK_CASE(other_libraries_have_other_code),
};

CHECK_MAIN(cases)
