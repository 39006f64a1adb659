/* SPDX-License-Identifier: MIT */
/* Sections called .plt and the like are entries of one size. Slots are looked up in a list that is made once. */
#include "symbolize/stub_names.h"

#include "arch/arch.h"
#include "elf/imports.h"
#include "elf/sections.h"
#include "elf/symbols.h"
#include "hosted/growing_array.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define STUB_INSNS_MAX 2 /* a landing mark, and the jump */
#define STUB_BYTES     16u
#define STUB_BYTES_MAX 64u
#define SECTION_PREFIX ".plt"

/* What the dynamic linker puts where. */
struct stub_slot {
    uint64_t address;
    uint64_t symbol;
};

struct slots {
    struct stub_slot *slots; /* by address */
    size_t count;
    size_t capacity;
};

static int add_slot(struct slots *slots, const Elf64_Rela *relocation)
{
    if (ARRAY_RESERVE(slots->slots, slots->capacity, slots->count + 1) != 0)
        return -ENOMEM;
    slots->slots[slots->count++] = (struct stub_slot){relocation->r_offset, ELF64_R_SYM(relocation->r_info)};
    return 0;
}

static int compare_slots(const void *left_slot, const void *right_slot)
{
    const struct stub_slot *left = left_slot, *right = right_slot;

    return left->address < right->address ? -1 : left->address > right->address;
}

static bool is_whole(const struct elf_symbols *symbols, const struct elf_section *section)
{
    return section->file_offset <= symbols->size_bytes &&
           section->size_bytes <= symbols->size_bytes - section->file_offset;
}

static int gather_slots(const struct elf_symbols *symbols, struct slots *slots)
{
    struct elf_section section;
    Elf64_Rela relocation;
    int result = 0;

    for (unsigned i = 0; result == 0 && elf_section_get(symbols, i, &section) == 0; i++) {
        if (section.type != SHT_RELA || section.entry_bytes != sizeof(relocation) || !is_whole(symbols, &section))
            continue;
        for (uint64_t at = 0; result == 0 && section.size_bytes - at >= sizeof(relocation); at += sizeof(relocation)) {
            memcpy(&relocation, symbols->bytes + section.file_offset + at, sizeof(relocation));
            if (ELF64_R_SYM(relocation.r_info) != 0)
                result = add_slot(slots, &relocation);
        }
    }
    if (slots->count != 0)
        qsort(slots->slots, slots->count, sizeof(*slots->slots), compare_slots);
    return result;
}

/* The slot through which the code at an address jumps. False: it does something else. */
static bool find_slot_address(const struct elf_symbols *symbols, uint64_t address, uint64_t *slot_out)
{
    const struct arch *arch = arch_by_elf_machine(symbols->machine);
    struct arch_insn insn = {.flow = ARCH_FLOW_NEXT};
    const uint8_t *code;
    uint64_t available;

    if (arch == NULL || elf_symbols_code(symbols, address, &code, &available) != 0)
        return false;
    for (unsigned i = 0; i < STUB_INSNS_MAX && insn.flow == ARCH_FLOW_NEXT; i++) {
        if (arch->decode(code, available, app_pc_of(address), 0, &insn) != 0)
            return false;
        address += insn.length;
        code += insn.length;
        available -= insn.length;
    }
    if (insn.flow != ARCH_FLOW_JUMP_INDIRECT || !(insn.properties & ARCH_PC_RELATIVE))
        return false;
    *slot_out = insn.memory_address;
    return true;
}

static bool name_stub(const struct elf_symbols *symbols, const struct slots *slots, struct named_stub *stub)
{
    struct stub_slot wanted = {0};
    const struct stub_slot *slot;

    if (slots->count == 0 || !find_slot_address(symbols, stub->address, &wanted.address))
        return false;
    slot = bsearch(&wanted, slots->slots, slots->count, sizeof(*slots->slots), compare_slots);
    return slot != NULL && elf_imports_name(symbols, slot->symbol, &stub->name, &stub->name_length) == 0;
}

static int gather_section(struct stub_names *names, const struct elf_symbols *symbols, const struct slots *slots,
                          const struct elf_section *section)
{
    uint64_t step = section->entry_bytes, size_bytes = section->size_bytes;
    struct named_stub *grown;

    if (step < 8 || step > STUB_BYTES_MAX)
        step = STUB_BYTES;
    if (!is_whole(symbols, section))
        return 0;
    grown = realloc(names->stubs, (names->count + size_bytes / step + 1) * sizeof(*grown));
    if (grown == NULL)
        return -ENOMEM;
    names->stubs = grown;
    for (uint64_t at = 0; size_bytes - at >= step; at += step) {
        struct named_stub stub = {.address = section->address + at, .size_bytes = step};

        if (name_stub(symbols, slots, &stub))
            names->stubs[names->count++] = stub;
    }
    return 0;
}

static int compare_stubs(const void *left_stub, const void *right_stub)
{
    const struct named_stub *left = left_stub, *right = right_stub;

    return left->address < right->address ? -1 : left->address > right->address;
}

int stub_names_make(struct stub_names *names, const struct elf_symbols *symbols)
{
    struct slots slots = {.count = 0};
    struct elf_section section;
    int result = gather_slots(symbols, &slots);

    *names = (struct stub_names){.count = 0};
    for (unsigned i = 0; result == 0 && elf_section_get(symbols, i, &section) == 0; i++)
        if (section.type == SHT_PROGBITS && section.flags & SHF_EXECINSTR &&
            strncmp(section.name, SECTION_PREFIX, strlen(SECTION_PREFIX)) == 0)
            result = gather_section(names, symbols, &slots, &section);
    free(slots.slots);
    if (result != 0)
        stub_names_deinit(names);
    else if (names->count != 0)
        qsort(names->stubs, names->count, sizeof(*names->stubs), compare_stubs);
    return result;
}

void stub_names_deinit(struct stub_names *names)
{
    free(names->stubs);
    *names = (struct stub_names){.count = 0};
}
