/* SPDX-License-Identifier: MIT */
#include "symbolize/symbolizer.h"

#include "support/check.h"
#include "symbolize/dwarf/dwarf_code.h"
#include "trace/modules.h"

#include <elf.h>
#include <errno.h>
#include <link.h>

extern const char __executable_start[];

static struct symbolizer symbolizer;
static struct symbol_place place;

__asm__(".text\n"
        ".globl _ZN5named8functionEv\n"
        ".type _ZN5named8functionEv, @function\n"
        "_ZN5named8functionEv: .skip 32, 0x90\n"
        ".size _ZN5named8functionEv, . - _ZN5named8functionEv\n");
extern const char named_function[] __asm__("_ZN5named8functionEv");

/* This program, as the recorder would see its code. */
static struct recorded_module this_program(void)
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

static void symbols_are_told_with_distances(void)
{
    struct recorded_module module = this_program();
    uint64_t own;

    symbolizer_init(&symbolizer, &(struct symbolizer_options){.has_no_cache = true});
    symbolizer_find(&symbolizer, &module, (uintptr_t)named_function + 18, &place);
    CHECK(place.problem == NULL);
    CHECK(place.symbol_length == 20 && memcmp(place.symbol, "_ZN5named8functionEv", 20) == 0);
    CHECK_EQUAL(place.distance, 18);
    CHECK(strcmp(place.frames[place.count - 1].function, "named::function()") == 0 ||
          strcmp(place.frames[place.count - 1].function, "_ZN5named8functionEv") == 0);
    CHECK_EQUAL(symbolizer_place(&symbolizer, &module, (uintptr_t)named_function, &own), 0);
    symbolizer_deinit(&symbolizer);
}

static void files_that_cannot_be_used_give_places(void)
{
    struct recorded_module module = {
        .path = "/nowhere/library.so", .start = 0x5000, .end = 0x6000, .file_offset = 0x1000};
    struct symbol_function function;
    uint64_t own;

    symbolizer_init(&symbolizer, &(struct symbolizer_options){.has_no_cache = true});
    symbolizer_find(&symbolizer, &module, 0x5234, &place);
    CHECK_EQUAL(place.count, 1);
    CHECK_TEXT(place.problem, "is gone");
    CHECK_TEXT(place.frames[0].function, "library.so+0x1234");
    CHECK(place.symbol == NULL && place.frames[0].file == NULL);
    symbolizer_find_function(&symbolizer, &module, 0x5234, &function);
    CHECK_TEXT(function.name, "library.so+0x1234");
    CHECK_TEXT(function.problem, "is gone");
    CHECK_EQUAL(symbolizer_place(&symbolizer, &module, 0x5234, &own), -ENOENT);
    symbolizer_deinit(&symbolizer);
}

static volatile int sink;

static inline __attribute__((always_inline)) void put_in(int n)
{
    sink = n + sink;
}

static const uint32_t line_of_call = __LINE__ + 4;

static __attribute__((noinline)) void holds_another(int n)
{
    put_in(n);
}

/* The frames at the first address that is of what was put in. */
static bool find_inlined(const struct recorded_module *module)
{
    for (uint64_t i = 0; i < 64; i++) {
        symbolizer_find(&symbolizer, module, (uintptr_t)holds_another + i, &place);
        if (place.count == 2)
            return true;
    }
    return false;
}

static void what_was_put_into_a_function_is_a_frame(void)
{
    struct recorded_module module = this_program();
    struct symbol_address wanted = {&module, (uintptr_t)holds_another};
    struct symbol_function function;
    struct dwarf_code *code = NULL;

    holds_another(1);
    if (dwarf_code_open("/proc/self/exe", "", &code) == -ENOTSUP)
        return;
    dwarf_code_close(code);
    symbolizer_init(&symbolizer, &(struct symbolizer_options){.has_no_cache = true});
    symbolizer_prepare(&symbolizer, &wanted, 1);
    CHECK(find_inlined(&module));
    CHECK_TEXT(place.frames[0].function, "put_in");
    CHECK(place.frames[0].is_inlined && place.frames[0].line != 0 && place.frames[0].file != NULL);
    CHECK_TEXT(place.frames[1].function, "holds_another");
    CHECK(!place.frames[1].is_inlined);
    CHECK_EQUAL(place.frames[1].line, line_of_call);
    CHECK(strstr(place.frames[1].file, "test_symbolizer.c") != NULL);
    /* As a function, it begins where its source does. */
    symbolizer_find_function(&symbolizer, &module, (uintptr_t)holds_another, &function);
    CHECK_TEXT(function.name, "holds_another");
    CHECK_EQUAL(function.line, line_of_call - 2);
    /* Symbols alone know nothing of that. */
    symbolizer_find_symbol(&symbolizer, &module, (uintptr_t)holds_another, &place);
    CHECK(place.count == 1 && place.frames[0].file == NULL);
    CHECK_TEXT(place.name, "holds_another");
    symbolizer_deinit(&symbolizer);
}

static const struct check_case cases[] = {
    CHECK_CASE(symbols_are_told_with_distances),
    CHECK_CASE(what_was_put_into_a_function_is_a_frame),
    CHECK_CASE(files_that_cannot_be_used_give_places),
};

CHECK_MAIN(cases)
