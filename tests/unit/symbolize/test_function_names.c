/* SPDX-License-Identifier: MIT */
#include "symbolize/function_names.h"

#include "support/check.h"
#include "support/trace_folder.h"
#include "trace/modules.h"

#include <elf.h>
#include <link.h>

extern const char __executable_start[];

/* Is only named. */
__asm__(".text\n"
        ".globl named_function\n"
        ".type named_function, @function\n"
        "named_function: .skip 32, 0x90\n"
        ".size named_function, . - named_function\n");
extern const char named_function[];

static char text[256];

/* This program, as the recorder would see its code. */
static __attribute__((noinline)) struct recorded_module this_program(void)
{
    const ElfW(Ehdr) *header = (const void *)__executable_start;
    const ElfW(Phdr) *segment = (const void *)(__executable_start + header->e_phoff);
    uint64_t base = header->e_type == ET_DYN ? (uintptr_t)__executable_start : 0;
    struct recorded_module module = {.path = "/proc/self/exe", .unloaded = UINT64_MAX};

    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segment[i].p_type == PT_LOAD && (segment[i].p_flags & PF_X)) {
            module.start = base + segment[i].p_vaddr;
            module.end = module.start + segment[i].p_filesz;
            module.file_offset = segment[i].p_offset;
        }
    return module;
}

static void functions_get_their_names(void)
{
    struct recorded_module module = this_program();
    uint64_t address = (uintptr_t)named_function;
    struct function_names names;

    function_names_init(&names);
    CHECK(address >= module.start && address < module.end);
    CHECK(function_names_find(&names, &module, address, text, sizeof(text)) == NULL);
    CHECK_TEXT(text, "named_function");
    CHECK(function_names_find(&names, &module, address + 18, text, sizeof(text)) == NULL);
    CHECK_TEXT(text, "named_function+0x12");
    function_names_deinit(&names);
}

static void lines_are_told_where_they_are_known(void)
{
    struct recorded_module module = this_program();
    struct function_names names;
    const char *behind;

    function_names_init(&names);
    CHECK(function_names_find_line(&names, &module, (uintptr_t)this_program, text, sizeof(text)) == NULL);
    behind = text + strlen("this_program");
    CHECK(strncmp(text, "this_program", strlen("this_program")) == 0);
    /* As this build is, with libdw or without. */
    CHECK(*behind == '\0' || strncmp(behind, " (test_function_names.c:", 24) == 0);
    function_names_line(&names, &module, (uintptr_t)named_function, text, sizeof(text));
    CHECK(text[0] == '\0' || strstr(text, ".c:") != NULL);
    function_names_deinit(&names);
}

static void expect_problem(const char *path, uint32_t build_id_bytes, const char *problem, const char *name)
{
    struct recorded_module module = {
        .path = (char *)(uintptr_t)path, .start = 0x5000, .end = 0x6000, .file_offset = 0x1000};
    struct function_names names;
    const char *found;

    module.build_id_bytes = build_id_bytes;
    function_names_init(&names);
    found = function_names_find(&names, &module, 0x5234, text, sizeof(text));
    CHECK_TEXT(found == NULL ? "" : found, problem);
    CHECK_TEXT(text, name);
    function_names_deinit(&names);
}

static void files_that_cannot_be_used_give_places(void)
{
    expect_problem("/nowhere/library.so", 0, "is gone", "library.so+0x1234");
    expect_problem("[vdso]", 0, "is gone", "[vdso]+0x1234");
    expect_problem("/dev/null", 0, "is no program or library", "null+0x1234");
    expect_problem("/tmp", 0, "is no program or library", "tmp+0x1234");
    expect_problem("/proc/self/exe", 20, "has changed since", "exe+0x1234");
}

static void damaged_files_give_places(void)
{
    struct trace_folder folder;
    char path[128];

    trace_folder_init(&folder);
    trace_folder_write(&folder, "library.so", "\177ELF and nothing else", 21);
    snprintf(path, sizeof(path), "%s/library.so", folder.path);
    expect_problem(path, 0, "is no program or library", "library.so+0x1234");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_get_their_names),
    CHECK_CASE(lines_are_told_where_they_are_known),
    CHECK_CASE(files_that_cannot_be_used_give_places),
    CHECK_CASE(damaged_files_give_places),
};

CHECK_MAIN(cases)
