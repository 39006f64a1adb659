/* SPDX-License-Identifier: MIT */
#include "symbolize/symbolizer.h"

#include "support/check.h"
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
static struct module this_program(void)
{
    const ElfW(Ehdr) *header = (const void *)__executable_start;
    const ElfW(Phdr) *segment = (const void *)(__executable_start + header->e_phoff);
    uint64_t base = header->e_type == ET_DYN ? (uintptr_t)__executable_start : 0;
    struct module module = {.path = "/proc/self/exe", .unloaded = UINT64_MAX};

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
    struct module module = this_program();
    uint64_t own;

    symbolizer_init(&symbolizer, &(struct symbolizer_options){.has_no_cache = true});
    symbolizer_find(&symbolizer, &module, (uintptr_t)named_function + 18, &place);
    CHECK(place.problem == NULL);
    CHECK_TEXT(place.symbol, "_ZN5named8functionEv");
    CHECK_EQUAL(place.distance, 18);
    CHECK(strcmp(place.frames[place.count - 1].function, "named::function()") == 0 ||
          strcmp(place.frames[place.count - 1].function, place.symbol) == 0);
    CHECK_EQUAL(symbolizer_place(&symbolizer, &module, (uintptr_t)named_function, &own), 0);
    symbolizer_deinit(&symbolizer);
}

static void files_that_cannot_be_used_give_places(void)
{
    struct module module = {.path = "/nowhere/library.so", .start = 0x5000, .end = 0x6000, .file_offset = 0x1000};
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

static const struct check_case cases[] = {
    CHECK_CASE(symbols_are_told_with_distances),
    CHECK_CASE(files_that_cannot_be_used_give_places),
};

CHECK_MAIN(cases)
