/* SPDX-License-Identifier: MIT */
#include "symbolize/module_symbols.h"

#include "elf/build_id.h"
#include "support/check.h"
#include "trace/modules.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

extern const char __executable_start[];

/* Is only named. */
__asm__(".text\n"
        ".globl named_function\n"
        ".type named_function, @function\n"
        "named_function: .skip 32, 0x90\n"
        ".size named_function, . - named_function\n"
        "calls_getppid: jmp getppid@plt\n");
extern const char named_function[], calls_getppid[];

/* An image of this process, as the recorder would see its code. */
static struct recorded_module module_at(const char *start, const char *path)
{
    const ElfW(Ehdr) *header = (const void *)start;
    const ElfW(Phdr) *segment = (const void *)(start + header->e_phoff);
    uint64_t base = header->e_type == ET_DYN ? (uintptr_t)start : 0;
    struct recorded_module module = {.path = (char *)(uintptr_t)path, .unloaded = UINT64_MAX};

    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segment[i].p_type == PT_LOAD && (segment[i].p_flags & PF_X)) {
            module.start = base + segment[i].p_vaddr;
            module.end = module.start + segment[i].p_filesz;
            module.file_offset = segment[i].p_offset;
        }
    return module;
}

static void symbols_cover_their_code(void)
{
    struct recorded_module module = module_at(__executable_start, "/proc/self/exe");
    const struct elf_symbol *symbol;
    struct module_symbols file;
    uint64_t place;

    module_symbols_open(&file, &module, "");
    CHECK(file.problem == NULL && module_symbols_is_of(&file, &module));
    CHECK_EQUAL(module_symbols_place(&file, &module, (uintptr_t)named_function + 18, &place), 0);
    symbol = module_symbols_symbol(&file, place);
    CHECK(symbol != NULL && symbol->name_length == 14 && memcmp(symbol->name, "named_function", 14) == 0);
    CHECK(symbol != NULL && place - symbol->address == 18);
    CHECK_EQUAL(module_symbols_place(&file, &module, module.start - 0x100000000, &place), -ENOENT);
    module.build_id_bytes = 20;
    CHECK(!module_symbols_is_of(&file, &module));
    module_symbols_close(&file);
}

/* Where the jump of four bytes behind its first one leads. */
static uint64_t target_of_jump(const char *code)
{
    int32_t distance;

    memcpy(&distance, code + 1, sizeof(distance));
    return (uint64_t)(uintptr_t)code + 5 + (uint64_t)(int64_t)distance;
}

static void stubs_are_known_by_what_they_call(void)
{
    struct recorded_module module = module_at(__executable_start, "/proc/self/exe");
    struct module_symbols file;
    const char *name;
    size_t length;
    uint64_t place;

    if ((uint8_t)calls_getppid[0] != 0xe9)
        return;
    module_symbols_open(&file, &module, "");
    CHECK_EQUAL(module_symbols_place(&file, &module, target_of_jump(calls_getppid), &place), 0);
    CHECK_EQUAL(module_symbols_stub(&file, place, &name, &length), 0);
    CHECK(length == 7 && memcmp(name, "getppid", 7) == 0);
    CHECK_EQUAL(module_symbols_place(&file, &module, (uintptr_t)named_function, &place), 0);
    CHECK_EQUAL(module_symbols_stub(&file, place, &name, &length), -ENOENT);
    module_symbols_close(&file);
}

static void take_build_id(struct recorded_module *module, const void *image, size_t size_bytes)
{
    struct elf_symbols symbols;
    const uint8_t *id;
    size_t id_bytes;

    CHECK_EQUAL(elf_symbols_parse(image, size_bytes, &symbols), 0);
    CHECK_EQUAL(elf_build_id_find(&symbols, &id, &id_bytes), 0);
    memcpy(module->build_id, id, id_bytes);
    module->build_id_bytes = (uint32_t)id_bytes;
}

static void the_vdso_has_names_on_the_same_kernel(void)
{
    const char *image = (const char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
    struct elf_symbol wanted;
    struct elf_symbols symbols;
    struct module_symbols file;
    struct recorded_module module;
    const ElfW(Ehdr) *header = (const void *)image;
    uint64_t place;

    if (image == NULL)
        return;
    module = module_at(image, "[vdso]");
    module_symbols_open(&file, &module, "");
    CHECK_TEXT(file.problem == NULL ? "" : file.problem, "is gone");
    module_symbols_close(&file);

    take_build_id(&module, image, header->e_shoff + header->e_shnum * header->e_shentsize);
    module_symbols_open(&file, &module, "");
    CHECK(file.problem == NULL);
    CHECK_EQUAL(elf_symbols_parse(image, header->e_shoff + header->e_shnum * header->e_shentsize, &symbols), 0);
    CHECK_EQUAL(elf_symbols_find(&symbols, "__vdso_clock_gettime", &wanted), 0);
    CHECK_EQUAL(module_symbols_place(&file, &module, (uintptr_t)image + wanted.address, &place), 0);
    CHECK(module_symbols_symbol(&file, place) != NULL);
    module_symbols_close(&file);

    module.build_id[0] ^= 1;
    module_symbols_open(&file, &module, "");
    CHECK_TEXT(file.problem == NULL ? "" : file.problem, "has changed since");
    module_symbols_close(&file);
}

static void what_is_wrong_is_said(void)
{
    static const char *const paths[][2] = {
        {"/nowhere/library.so", "is gone"},
        {"/dev/null", "is no program or library"},
        {"/tmp", "is no program or library"},
        {"/etc/passwd", "is no program or library"},
    };
    struct module_symbols file;
    struct recorded_module module = {.start = 0x5000, .end = 0x6000};
    uint64_t place;

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        module.path = (char *)(uintptr_t)paths[i][0];
        module_symbols_open(&file, &module, "");
        CHECK_TEXT(file.problem == NULL ? "" : file.problem, paths[i][1]);
        CHECK_EQUAL(module_symbols_place(&file, &module, 0x5000, &place), -ENOENT);
        CHECK(module_symbols_symbol(&file, 0x5000) == NULL);
        module_symbols_close(&file);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(symbols_cover_their_code),
    CHECK_CASE(stubs_are_known_by_what_they_call),
    CHECK_CASE(the_vdso_has_names_on_the_same_kernel),
    CHECK_CASE(what_is_wrong_is_said),
};

CHECK_MAIN(cases)
