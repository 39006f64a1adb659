/* SPDX-License-Identifier: MIT */
/*
 * Every symbol of code and every entry of .eh_frame is put down, all are sorted by where they start, and what starts at
 * the same place becomes one. Invariant: a list holds only starts that are in executable bytes of the file.
 */
#include "elf/function_list.h"

#include "base/memory_functions.h"
#include "base/partition_point.h"
#include "elf/byte_cursor.h"

#include <asm/errno.h>
#include <linux/elf.h>

/* More than any linker makes. */
#define CODE_RANGES_MAX 16
#define STUB_RANGES_MAX 8

struct address_span {
    uint64_t start;
    uint64_t end;
};

/* Where functions can be: in executable bytes, and not among the stubs through which others are called. */
struct function_space {
    struct address_span code[CODE_RANGES_MAX];
    size_t code_count;
    struct address_span stubs[STUB_RANGES_MAX];
    size_t stub_count;
};

static bool read_at(const struct elf_symbols *symbols, uint64_t offset, void *value_out, size_t size_bytes)
{
    if (offset > symbols->size_bytes || symbols->size_bytes - offset < size_bytes)
        return false;
    memcpy(value_out, symbols->bytes + offset, size_bytes);
    return true;
}

static bool read_segment(const struct elf_symbols *symbols, uint64_t which, Elf64_Phdr *segment_out)
{
    return read_at(symbols, symbols->program_headers + which * sizeof(*segment_out), segment_out, sizeof(*segment_out));
}

static void find_code(const struct elf_symbols *symbols, struct function_space *ranges)
{
    Elf64_Phdr segment;

    for (uint64_t i = 0; i < symbols->program_header_count && ranges->code_count < CODE_RANGES_MAX; i++) {
        if (!read_segment(symbols, i, &segment))
            return;
        if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X) ||
            segment.p_vaddr + segment.p_filesz < segment.p_vaddr)
            continue;
        ranges->code[ranges->code_count++] = (struct address_span){segment.p_vaddr, segment.p_vaddr + segment.p_filesz};
    }
}

/* ".plt", ".plt.sec", ".plt.got": entries of .eh_frame describe all of their stubs at once. */
static bool is_stub_section(const struct elf_symbols *symbols, uint64_t name_offset)
{
    char name[5] = "";

    if (!read_at(symbols, name_offset, name, sizeof(name)))
        return false;
    return memcmp(name, ".plt", 4) == 0 && (name[4] == '\0' || name[4] == '.');
}

static void find_stubs(const struct elf_symbols *symbols, struct function_space *ranges)
{
    Elf64_Shdr section, names;
    Elf64_Ehdr header;

    if (!read_at(symbols, 0, &header, sizeof(header)) || header.e_shentsize != sizeof(section) ||
        !read_at(symbols, header.e_shoff + (uint64_t)header.e_shstrndx * sizeof(names), &names, sizeof(names)))
        return;
    for (unsigned i = 0; i < header.e_shnum && ranges->stub_count < STUB_RANGES_MAX; i++) {
        if (!read_at(symbols, header.e_shoff + i * sizeof(section), &section, sizeof(section)))
            return;
        if (section.sh_flags & SHF_EXECINSTR && is_stub_section(symbols, names.sh_offset + section.sh_name))
            ranges->stubs[ranges->stub_count++] =
                (struct address_span){section.sh_addr, section.sh_addr + section.sh_size};
    }
}

static const struct address_span *find_range(const struct address_span *ranges, size_t count, uint64_t address)
{
    for (size_t i = 0; i < count; i++)
        if (address >= ranges[i].start && address < ranges[i].end)
            return &ranges[i];
    return NULL;
}

/* Adds a function unless it is in no code; its size is cut at the end of that. */
static int add(struct elf_function_list *list, const struct function_space *ranges, struct elf_function function)
{
    const struct address_span *code = find_range(ranges->code, ranges->code_count, function.start);

    if (code == NULL || find_range(ranges->stubs, ranges->stub_count, function.start) != NULL)
        return 0;
    if (list->count == list->capacity)
        return -ENOSPC;
    if (function.size_bytes > code->end - function.start)
        function.size_bytes = code->end - function.start;
    list->functions[list->count++] = function;
    return 0;
}

/* Compilers call the seldom used part of a function "name.cold", "name.cold.1". */
static bool has_name_of_part(const struct elf_symbol *symbol)
{
    static const char mark[] = ".cold";
    const size_t length = sizeof(mark) - 1;

    for (size_t i = 1; i + length <= symbol->name_length; i++)
        if (memcmp(symbol->name + i, mark, length) == 0 &&
            (i + length == symbol->name_length || symbol->name[i + length] == '.'))
            return true;
    return false;
}

static int add_symbols(struct elf_function_list *list, const struct function_space *ranges,
                       const struct elf_symbols *symbols)
{
    uint64_t count = elf_symbols_count(symbols);
    struct elf_symbol symbol;

    for (uint64_t i = 0; i < count; i++) {
        if (elf_symbols_peek(symbols, i, &symbol) != 0)
            continue;

        int result = add(list, ranges,
                         (struct elf_function){
                             .start = symbol.address,
                             .size_bytes = symbol.size_bytes,
                             .name = symbol.name,
                             .name_length = symbol.name_length > UINT32_MAX ? UINT32_MAX : (uint32_t)symbol.name_length,
                             .is_resolver = symbol.is_resolver,
                             .is_part = has_name_of_part(&symbol),
                             .is_label = !symbol.is_function && symbol.size_bytes == 0,
                         });

        if (result != 0)
            return result;
    }
    return 0;
}

/* DW_CFA_*: what a program of .eh_frame may begin with. */
#define OPERATION_HIGH        0xc0
#define OPERATION_NOTHING     0x00
#define OPERATION_OFFSET      0x80 /* with a register in the low bits */
#define OPERATION_RESTORE     0xc0
#define OPERATION_UNDEFINED   0x07
#define OPERATION_SAME        0x08
#define OPERATION_FRAME       0x0c
#define OPERATION_FRAME_LAST  0x0f
#define OPERATION_FRAME_SCALE 0x12
#define OPERATION_FRAME_MOVE  0x13
#define OPERATION_ARGUMENTS   0x2e

/*
 * Whether the frame is another one than that of a call from the first instruction on: then this is jumped to by code
 * that has made the frame. Where registers are, and which has no value, may be said before.
 */
static bool is_frame_there_already(const struct eh_frame_entry *entry)
{
    struct byte_cursor cursor = {entry->program.start, entry->program.end, false};

    while (!cursor.is_bad && cursor.at < cursor.end) {
        unsigned operation = (unsigned)byte_cursor_number(&cursor, 1);

        if ((operation >= OPERATION_FRAME && operation <= OPERATION_FRAME_LAST) || operation == OPERATION_FRAME_SCALE ||
            operation == OPERATION_FRAME_MOVE)
            return true;
        if ((operation & OPERATION_HIGH) == OPERATION_OFFSET || operation == OPERATION_UNDEFINED ||
            operation == OPERATION_SAME || operation == OPERATION_ARGUMENTS)
            (void)byte_cursor_uleb(&cursor);
        else if ((operation & OPERATION_HIGH) != OPERATION_RESTORE && operation != OPERATION_NOTHING)
            return false;
    }
    return false;
}

static int add_frames(struct elf_function_list *list, const struct function_space *ranges, const struct eh_frame *frame)
{
    struct eh_frame_entry entry;
    size_t offset = 0, before = 0;

    /* What is behind a mistake is not found; what was found is good. */
    while (offset < UINT32_MAX && eh_frame_next(frame, &offset, &entry) == 1) {
        int result = 0;

        /* Frames that the kernel makes are described from before their code on, and nobody calls it. */
        if (!entry.is_signal_frame)
            result = add(list, ranges,
                         (struct elf_function){
                             .start = entry.start,
                             .size_bytes = entry.end - entry.start,
                             .frame_offset = (uint32_t)before + 1,
                             .is_part = is_frame_there_already(&entry),
                         });
        if (result != 0)
            return result;
        before = offset;
    }
    return 0;
}

/* Moves what is at `hole` down in the heap of `count`, so that nobody starts before what is below him. */
static void sift(struct elf_function *functions, size_t hole, size_t count)
{
    struct elf_function function = functions[hole];

    while (2 * hole + 1 < count) {
        size_t below = 2 * hole + 1;

        if (below + 1 < count && functions[below + 1].start > functions[below].start)
            below++;
        if (functions[below].start <= function.start)
            break;
        functions[hole] = functions[below];
        hole = below;
    }
    functions[hole] = function;
}

static void sort_by_start(struct elf_function *functions, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sift(functions, i, count);
    for (size_t end = count; end-- > 1;) {
        struct elf_function last = functions[0];

        functions[0] = functions[end];
        functions[end] = last;
        sift(functions, 0, end);
    }
}

static bool has_better_name(const struct elf_function *function, const struct elf_function *other)
{
    struct elf_symbol symbol = {.name = function->name, .name_length = function->name_length};
    struct elf_symbol other_symbol = {.name = other->name, .name_length = other->name_length};

    if (function->name == NULL || other->name == NULL)
        return function->name != NULL;
    if (function->is_label != other->is_label)
        return !function->is_label;
    if (function->is_part != other->is_part)
        return !function->is_part;
    if (elf_symbol_has_plainer_name(&symbol, &other_symbol))
        return true;
    if (elf_symbol_has_plainer_name(&other_symbol, &symbol))
        return false;
    /* So that it does not depend on the order that sorting leaves: the shorter, and the first of the alphabet. */
    if (function->name_length != other->name_length)
        return function->name_length < other->name_length;
    return memcmp(function->name, other->name, function->name_length) < 0;
}

/* Two that start at the same place are one: `into` gets what the other one knows better. */
static void merge(struct elf_function *into, const struct elf_function *other)
{
    bool is_better = has_better_name(other, into);
    struct elf_function one = is_better ? *other : *into;
    struct elf_function lesser = is_better ? *into : *other;

    if (one.size_bytes == 0 || (lesser.size_bytes > one.size_bytes && lesser.name != NULL))
        one.size_bytes = lesser.size_bytes;
    if (one.frame_offset == 0)
        one.frame_offset = lesser.frame_offset;
    one.is_resolver |= lesser.is_resolver;
    /* A label with a frame of its own is a function, if its frame is one that a call makes. */
    if (one.is_label && lesser.frame_offset != 0) {
        one.is_label = false;
        one.is_part |= lesser.is_part;
    }
    *into = one;
}

static void merge_all(struct elf_function_list *list)
{
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (count != 0 && list->functions[count - 1].start == list->functions[i].start)
            merge(&list->functions[count - 1], &list->functions[i]);
        else
            list->functions[count++] = list->functions[i];
    }
    list->count = count;
}

static uint64_t later_of(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

/*
 * Finds how far everything before a place reaches. A frame of its own within a function that has a name is a piece of
 * hand-written code.
 */
static void find_ends(struct elf_function_list *list)
{
    uint64_t covered_end = 0, named_end = 0;

    for (size_t i = 0; i < list->count; i++) {
        struct elf_function *function = &list->functions[i];
        uint64_t end = function->start + function->size_bytes;

        if (function->size_bytes == 0)
            end = i + 1 < list->count ? list->functions[i + 1].start : UINT64_MAX;
        covered_end = later_of(covered_end, end);
        function->covered_end = covered_end;
        if (function->name == NULL)
            function->is_part |= function->start < named_end;
        else if (!function->is_label && function->size_bytes != 0)
            named_end = later_of(named_end, end);
    }
}

size_t elf_function_list_capacity(const struct elf_symbols *symbols, const struct eh_frame *frame)
{
    size_t count = (size_t)elf_symbols_count(symbols), offset = 0;
    struct eh_frame_entry entry;

    if (frame->bytes == NULL)
        return count;
    while (eh_frame_next(frame, &offset, &entry) == 1)
        count++;
    return count;
}

int elf_function_list_fill(struct elf_function_list *list, const struct elf_symbols *symbols,
                           const struct elf_symbols *names, const struct eh_frame *frame)
{
    struct function_space ranges = {0};
    int result;

    list->count = 0;
    find_code(symbols, &ranges);
    find_stubs(symbols, &ranges);
    result = add_symbols(list, &ranges, symbols);
    if (result == 0 && names != NULL)
        result = add_symbols(list, &ranges, names);
    if (result == 0 && frame != NULL && frame->bytes != NULL)
        result = add_frames(list, &ranges, frame);
    if (result != 0)
        return result;
    sort_by_start(list->functions, list->count);
    merge_all(list);
    find_ends(list);
    return 0;
}

const struct elf_function *elf_function_list_find(const struct elf_function_list *list, uint64_t address)
{
    size_t low = PARTITION_POINT(list->count, i, list->functions[i].start <= address);

    return low == 0 ? NULL : &list->functions[low - 1];
}

/* The bytes of a file at an address, up to the end of what their segment has of it. */
static bool find_bytes(const struct elf_symbols *symbols, uint64_t address, struct eh_frame *bytes_out)
{
    Elf64_Phdr segment;

    for (uint64_t i = 0; i < symbols->program_header_count; i++) {
        if (!read_segment(symbols, i, &segment))
            return false;

        uint64_t within = address - segment.p_vaddr;

        if (segment.p_type != PT_LOAD || address < segment.p_vaddr || within >= segment.p_filesz ||
            segment.p_offset > symbols->size_bytes || segment.p_filesz > symbols->size_bytes - segment.p_offset)
            continue;
        *bytes_out = (struct eh_frame){symbols->bytes + segment.p_offset + within, segment.p_filesz - within, address};
        return true;
    }
    return false;
}

int elf_function_list_frame(const struct elf_symbols *symbols, struct eh_frame *frame_out)
{
    struct eh_frame header;
    Elf64_Phdr segment;
    uint64_t address;

    for (uint64_t i = 0; i < symbols->program_header_count && read_segment(symbols, i, &segment); i++)
        if (segment.p_type == PT_GNU_EH_FRAME && find_bytes(symbols, segment.p_vaddr, &header) &&
            eh_frame_find(&header, &address) == 0 && find_bytes(symbols, address, frame_out))
            return 0;
    return -ENOENT;
}
