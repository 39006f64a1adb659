/* SPDX-License-Identifier: MIT */
#include "symbolize/stack_names.h"

#include "support/check.h"
#include "symbolize/function_names.h"
#include "trace/modules.h"

#include <elf.h>
#include <link.h>

extern const char __executable_start[];

/* Are only named. The first one ends with a call that does not return. */
__asm__(".text\n"
        ".globl ends_with_call\n"
        ".type ends_with_call, @function\n"
        "ends_with_call: .skip 32, 0x90\n"
        ".size ends_with_call, . - ends_with_call\n"
        ".globl comes_behind\n"
        ".type comes_behind, @function\n"
        "comes_behind: .skip 32, 0x90\n"
        ".size comes_behind, . - comes_behind\n");
extern const char ends_with_call[], comes_behind[];

static char text[256];

/* This program, as the recorder would see its code. */
static struct recorded_module this_program(void)
{
    const ElfW(Ehdr) *header = (const void *)__executable_start;
    const ElfW(Phdr) *segment = (const void *)(__executable_start + header->e_phoff);
    uint64_t base = header->e_type == ET_DYN ? (uintptr_t)__executable_start : 0;
    struct recorded_module module = {.path = "/proc/self/exe", .loaded = 10, .unloaded = 20};

    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segment[i].p_type == PT_LOAD && (segment[i].p_flags & PF_X)) {
            module.start = base + segment[i].p_vaddr;
            module.end = module.start + segment[i].p_filesz;
            module.file_offset = segment[i].p_offset;
        }
    return module;
}

static void a_return_address_belongs_to_the_call_before_it(void)
{
    struct recorded_module other = {
        .path = "/gone/libother.so", .start = 0x5000, .end = 0x6000, .file_offset = 0x1000, .unloaded = UINT64_MAX};
    struct recorded_module list[] = {this_program(), other};
    struct modules modules = {.modules = list, .count = 2};
    struct function_names names;

    function_names_init(&names);
    stack_names_find(&modules, &names, 15, (uintptr_t)ends_with_call + 5, text, sizeof(text));
    CHECK_TEXT(text, "ends_with_call+0x5");
    stack_names_find(&modules, &names, 15, (uintptr_t)comes_behind, text, sizeof(text));
    CHECK_TEXT(text, "ends_with_call+0x20");
    stack_names_find(&modules, &names, 15, (uintptr_t)comes_behind + 1, text, sizeof(text));
    CHECK_TEXT(text, "comes_behind+0x1");
    /* It is not there any more, or nothing ever was. */
    stack_names_find(&modules, &names, 25, 0x77, text, sizeof(text));
    CHECK_TEXT(text, "0x77");
    stack_names_find(&modules, &names, 25, 0x6000, text, sizeof(text));
    CHECK_TEXT(text, "libother.so+0x2000");
    function_names_deinit(&names);
}

/* The line of the call, not of what comes behind it. */
static void calls_are_told_with_their_lines(void)
{
    struct recorded_module list[] = {this_program()};
    struct modules modules = {.modules = list, .count = 1};
    struct function_names names;
    char line[64];

    function_names_init(&names);
    function_names_line(&names, &list[0], (uintptr_t)ends_with_call + 4, line, sizeof(line));
    stack_names_find_line(&modules, &names, 15, (uintptr_t)ends_with_call + 5, text, sizeof(text));
    CHECK(strncmp(text, "ends_with_call+0x5", 18) == 0);
    CHECK_TEXT(text + 18, line);
    stack_names_find_line(&modules, &names, 15, 0x77, text, sizeof(text));
    CHECK_TEXT(text, "0x77");
    function_names_deinit(&names);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_return_address_belongs_to_the_call_before_it),
    CHECK_CASE(calls_are_told_with_their_lines),
};

CHECK_MAIN(cases)
