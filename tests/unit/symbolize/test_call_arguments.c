/* SPDX-License-Identifier: MIT */
#include "symbolize/call_arguments.h"

#include "support/check.h"
#include "support/described_functions.h"
#include "symbolize/dwarf/dwarf_arguments.h"
#include "symbolize/function_names.h"
#include "trace/modules.h"

#include <elf.h>
#include <link.h>

extern const char __executable_start[];

static struct function_names names;
static struct call_arguments arguments;
static char shown[DETAIL_TEXT_BYTES];
static const struct detail_values none = {NULL, 0};

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

static const char *show(const struct recorded_module *module, const void *function, struct detail_values values)
{
    const struct detail_enter enter = {
        .record = {.kind = DETAIL_ENTER, .function = (uintptr_t)function},
        .arguments = {0x1000, 0xfffffffe, 3, 1, 'x', 0xffffffff},
    };
    struct detail_text text;

    detail_text_init(&text, shown, sizeof(shown));
    call_arguments_put(&arguments, module, &enter, NULL, values, &text);
    return shown;
}

static const char *show_result(const struct recorded_module *module, const void *function, uint64_t value)
{
    const struct detail_leave leave = {
        .record = {.kind = DETAIL_LEAVE, .function = (uintptr_t)function},
        .value = value,
    };
    struct detail_text text;

    detail_text_init(&text, shown, sizeof(shown));
    call_arguments_put_result(&arguments, module, &leave, none, &text);
    return shown;
}

static const uint8_t recorded[] = {
    DETAIL_TYPE_STRING, 0, 2, 0, 'o', 'k', DETAIL_TYPE_HEX, 0, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0};
static const struct detail_values values = {recorded, sizeof(recorded)};

static void what_was_recorded_needs_no_names(void)
{
    /* Modules are kept as long as anything is known of them. */
    static struct recorded_module gone = {.path = "/gone", .start = 0x1000, .end = 0x2000, .unloaded = UINT64_MAX};

    CHECK_TEXT(show(NULL, (const void *)0x1500, values), "\"ok\", 0x1");
    CHECK_TEXT(show(&gone, (const void *)0x1500, values), "\"ok\", 0x1");
    CHECK_TEXT(show(&gone, (const void *)0x1500, none), "");
    CHECK_TEXT(show_result(&gone, (const void *)0x1500, 5), "");
}

static void debug_information_gives_names_and_numbers(void)
{
    static struct recorded_module module;
    struct dwarf_arguments *file;

    if (dwarf_arguments_open("/proc/self/exe", &file) != 0)
        return;
    dwarf_arguments_close(file);
    module = this_program();
    for (unsigned i = 0; i < 3; i++) {
        CHECK_TEXT(show(&module, (const void *)described_plain, none),
                   "text=0x1000, number=-2, small=3, truth=true, letter='x', sign=DESCRIBED_MINUS");
        CHECK_TEXT(show(&module, (const void *)described_plain, values), "text=\"ok\", number=0x1");
        CHECK_TEXT(show(&module, (const void *)described_variadic, none), "format=0x1000, ...");
        CHECK_TEXT(show_result(&module, (const void *)described_plain, 5), "DESCRIBED_GREEN");
        CHECK_TEXT(show_result(&module, (const void *)described_plain, 6), "6");
        CHECK_TEXT(show(&module, (const char *)(uintptr_t)described_plain + 1, none), "");
    }
}

static void copies_that_compilers_make_may_differ(void)
{
    CHECK(call_arguments_may_differ("f.isra.0", 8) && call_arguments_may_differ("f.constprop.1.part.0", 20));
    CHECK(!call_arguments_may_differ("f.localalias", 12) && !call_arguments_may_differ("f.isra", 3));
}

static const struct check_case cases[] = {
    CHECK_CASE(what_was_recorded_needs_no_names),
    CHECK_CASE(debug_information_gives_names_and_numbers),
    CHECK_CASE(copies_that_compilers_make_may_differ),
};

int main(void)
{
    int status;

    function_names_init(&names);
    CHECK_EQUAL(call_arguments_init(&arguments, &names), 0);
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    call_arguments_deinit(&arguments);
    function_names_deinit(&names);
    return status;
}
