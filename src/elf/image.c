/* SPDX-License-Identifier: MIT */
/*
 * Parsing, copying and relocating ELF images. Invariant of a parsed image: each segment's part of the file lies in the
 * bytes, segments are in order and apart, and their addresses from low to high fit into SPAN_MAX; everything else is
 * looked at when it is used. Its neighbour image_load.c maps an image into this process.
 */
#include "elf/image.h"

#include "base/memory_map.h"

#include <asm/errno.h>
#include <linux/elf.h>

#define PROGRAM_HEADERS_MAX 64
#define ALIGNMENT_MAX       (2ull * 1024 * 1024)
#define SPAN_MAX            (1ull << 30)

/* Not in all versions of the system's header. */
#define DYNAMIC_RELR_SIZE 35
#define DYNAMIC_RELR      36
#define DYNAMIC_RELR_ITEM 37

/* Copies size bytes at an offset of the file. */
static int read_file(const struct elf_image *image, uint64_t offset, void *bytes_out, size_t size_bytes)
{
    if (offset > image->size_bytes || image->size_bytes - offset < size_bytes)
        return -ENOEXEC;
    __builtin_memcpy(bytes_out, image->bytes + offset, size_bytes);
    return 0;
}

static bool is_our_kind(const Elf64_Ehdr *header, unsigned machine)
{
    const unsigned char *ident = header->e_ident;

    return ident[EI_MAG0] == ELFMAG0 && ident[EI_MAG1] == ELFMAG1 && ident[EI_MAG2] == ELFMAG2 &&
           ident[EI_MAG3] == ELFMAG3 && ident[EI_CLASS] == ELFCLASS64 && ident[EI_DATA] == ELFDATA2LSB &&
           ident[EI_VERSION] == EV_CURRENT && header->e_type == ET_DYN && header->e_machine == machine &&
           header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum <= PROGRAM_HEADERS_MAX;
}

static unsigned access_of(uint32_t flags)
{
    return ((flags & PF_R) != 0 ? MEMORY_READ : 0u) | ((flags & PF_W) != 0 ? MEMORY_WRITE : 0u) |
           ((flags & PF_X) != 0 ? MEMORY_EXECUTE : 0u);
}

static bool is_sound_segment(const struct elf_image *image, const Elf64_Phdr *header)
{
    uint64_t alignment = header->p_align > 1 ? header->p_align : 1;

    if (header->p_filesz > header->p_memsz || header->p_offset > image->size_bytes ||
        header->p_filesz > image->size_bytes - header->p_offset)
        return false;
    if (header->p_memsz > SPAN_MAX || header->p_vaddr > UINT64_MAX / 2 || header->p_vaddr < image->high)
        return false;
    return (alignment & (alignment - 1)) == 0 && alignment <= ALIGNMENT_MAX &&
           (header->p_vaddr - header->p_offset) % alignment == 0;
}

static int add_segment(struct elf_image *image, const Elf64_Phdr *header)
{
    if (header->p_memsz == 0)
        return 0;
    if (image->segment_count == ELF_IMAGE_SEGMENTS_MAX || !is_sound_segment(image, header))
        return -ENOEXEC;
    if (image->segment_count == 0)
        image->low = header->p_vaddr;
    if (header->p_align > image->alignment)
        image->alignment = header->p_align;
    image->high = header->p_vaddr + header->p_memsz;
    image->segments[image->segment_count++] = (struct elf_segment){
        .address = header->p_vaddr,
        .memory_bytes = header->p_memsz,
        .file_offset = header->p_offset,
        .file_bytes = header->p_filesz,
        .access = access_of(header->p_flags),
    };
    return 0;
}

/* What a program header says; the dynamic section is only noted, since it lies in segments that may come later. */
static int take_program_header(struct elf_image *image, const Elf64_Phdr *header, struct elf_span *dynamic)
{
    switch (header->p_type) {
    case PT_LOAD:
        return add_segment(image, header);
    case PT_DYNAMIC:
        *dynamic = (struct elf_span){header->p_vaddr, header->p_filesz};
        return 0;
    case PT_GNU_RELRO:
        image->read_only = (struct elf_span){header->p_vaddr, header->p_memsz};
        return 0;
    case PT_TLS:
        image->has_thread_storage = true;
        return 0;
    default:
        return 0;
    }
}

static int parse_program_headers(struct elf_image *image, const Elf64_Ehdr *header, struct elf_span *dynamic)
{
    image->alignment = 1;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr program_header;
        int result = header->e_phoff <= image->size_bytes ? 0 : -ENOEXEC;

        if (result == 0)
            result =
                read_file(image, header->e_phoff + i * sizeof(Elf64_Phdr), &program_header, sizeof(program_header));
        if (result == 0)
            result = take_program_header(image, &program_header, dynamic);
        if (result != 0)
            return result;
    }
    image->low &= ~(image->alignment - 1);
    return image->segment_count > 0 && elf_image_span(image) <= SPAN_MAX ? 0 : -ENOEXEC;
}

/* False: a size of items that we do not know. */
static bool take_dynamic(struct elf_image *image, const Elf64_Dyn *entry)
{
    switch (entry->d_tag) {
    case DT_NEEDED:
        image->needed_count++;
        return true;
    case DT_RELA:
        image->relocations.address = entry->d_un.d_ptr;
        return true;
    case DT_RELASZ:
        image->relocations.size_bytes = entry->d_un.d_val;
        return true;
    case DT_RELAENT:
        return entry->d_un.d_val == sizeof(Elf64_Rela);
    case DYNAMIC_RELR:
        image->packed_relocations.address = entry->d_un.d_ptr;
        return true;
    case DYNAMIC_RELR_SIZE:
        image->packed_relocations.size_bytes = entry->d_un.d_val;
        return true;
    case DYNAMIC_RELR_ITEM:
        return entry->d_un.d_val == sizeof(uint64_t);
    case DT_RELSZ:
    case DT_PLTRELSZ:
        image->has_other_relocations |= entry->d_un.d_val != 0;
        return true;
    default:
        return true;
    }
}

static int parse_dynamic(struct elf_image *image, struct elf_span dynamic)
{
    for (uint64_t offset = 0; offset + sizeof(Elf64_Dyn) <= dynamic.size_bytes; offset += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        int result = elf_image_read(image, dynamic.address + offset, &entry, sizeof(entry));

        if (result != 0)
            return result;
        if (entry.d_tag == DT_NULL)
            return 0;
        if (!take_dynamic(image, &entry))
            return -ENOEXEC;
    }
    return 0;
}

static bool is_in_span(const struct elf_image *image, struct elf_span span)
{
    return span.size_bytes == 0 ||
           (span.address >= image->low && span.address <= image->high && image->high - span.address >= span.size_bytes);
}

int elf_image_parse(const void *bytes, size_t size_bytes, struct elf_machine machine, struct elf_image *image_out)
{
    struct elf_image image = {.bytes = bytes, .size_bytes = size_bytes, .machine = machine};
    struct elf_span dynamic = {0, 0};
    Elf64_Ehdr header;
    int result = read_file(&image, 0, &header, sizeof(header));

    if (result != 0)
        return result;
    if (!is_our_kind(&header, machine.number))
        return -ENOEXEC;
    image.entry = header.e_entry;
    result = parse_program_headers(&image, &header, &dynamic);
    if (result == 0)
        result = parse_dynamic(&image, dynamic);
    if (result != 0)
        return result;
    if (!is_in_span(&image, image.read_only) || !is_in_span(&image, image.relocations) ||
        !is_in_span(&image, image.packed_relocations) ||
        !is_in_span(&image, (struct elf_span){image.entry, image.entry != 0}))
        return -ENOEXEC;
    *image_out = image;
    return 0;
}

int elf_image_read(const struct elf_image *image, uint64_t address, void *bytes_out, size_t size_bytes)
{
    for (size_t i = 0; i < image->segment_count; i++) {
        const struct elf_segment *segment = &image->segments[i];
        uint64_t offset = address - segment->address;

        if (address >= segment->address && offset <= segment->file_bytes && segment->file_bytes - offset >= size_bytes)
            return read_file(image, segment->file_offset + offset, bytes_out, size_bytes);
    }
    return -ENOEXEC;
}

void elf_image_copy(const struct elf_image *image, const struct elf_part *part)
{
    uint64_t end = part->address + part->size_bytes;

    __builtin_memset(part->memory, 0, part->size_bytes);
    for (size_t i = 0; i < image->segment_count; i++) {
        const struct elf_segment *segment = &image->segments[i];
        uint64_t from = segment->address > part->address ? segment->address : part->address;
        uint64_t to = segment->address + segment->file_bytes < end ? segment->address + segment->file_bytes : end;

        if (from < to)
            __builtin_memcpy(part->memory + (from - part->address),
                             image->bytes + segment->file_offset + (from - segment->address), to - from);
    }
}

/* The eight bytes that a relocation changes, in the copy; NULL: not all in one segment, and in the part. */
static uint8_t *relocated_place(const struct elf_image *image, const struct elf_part *part, uint64_t address)
{
    uint64_t place = address - part->address;

    if (address < part->address || place > part->size_bytes || part->size_bytes - place < sizeof(uint64_t))
        return NULL;
    for (size_t i = 0; i < image->segment_count; i++) {
        const struct elf_segment *segment = &image->segments[i];
        uint64_t offset = address - segment->address;

        if (address >= segment->address && offset <= segment->memory_bytes &&
            segment->memory_bytes - offset >= sizeof(uint64_t))
            return part->memory + place;
    }
    return NULL;
}

static int read_relocation(const struct elf_image *image, uint64_t offset, Elf64_Rela *relocation_out)
{
    Elf64_Rela relocation;
    int result = elf_image_read(image, image->relocations.address + offset, &relocation, sizeof(relocation));

    if (result != 0)
        return result;
    if (relocation.r_info != image->machine.relative_relocation)
        return -ENOEXEC;
    *relocation_out = relocation;
    return 0;
}

int elf_image_check_self_contained(const struct elf_image *image)
{
    if (image->needed_count != 0 || image->has_other_relocations || image->has_thread_storage)
        return -ENOEXEC;
    for (uint64_t offset = 0; offset < image->relocations.size_bytes; offset += sizeof(Elf64_Rela)) {
        Elf64_Rela relocation;
        int result = read_relocation(image, offset, &relocation);

        if (result != 0)
            return result;
    }
    return 0;
}

static int relocate_listed(const struct elf_image *image, const struct elf_part *part, uint64_t bias)
{
    for (uint64_t offset = 0; offset < image->relocations.size_bytes; offset += sizeof(Elf64_Rela)) {
        Elf64_Rela relocation;
        int result = read_relocation(image, offset, &relocation);
        uint64_t value;
        uint8_t *place;

        if (result != 0)
            return result;
        place = relocated_place(image, part, relocation.r_offset);
        if (place == NULL)
            return -ENOEXEC;
        value = bias + (uint64_t)relocation.r_addend;
        __builtin_memcpy(place, &value, sizeof(value));
    }
    return 0;
}

static int add_bias(const struct elf_image *image, const struct elf_part *part, uint64_t address, uint64_t bias)
{
    uint8_t *place = relocated_place(image, part, address);
    uint64_t value;

    if (place == NULL)
        return -ENOEXEC;
    __builtin_memcpy(&value, place, sizeof(value));
    value += bias;
    __builtin_memcpy(place, &value, sizeof(value));
    return 0;
}

/* A bit for each of the 63 words from `address` on; bit 0 only says that it is a bitmap. */
static int relocate_bitmap(const struct elf_image *image, const struct elf_part *part, uint64_t address, uint64_t bits,
                           uint64_t bias)
{
    for (; (bits >>= 1) != 0; address += sizeof(uint64_t)) {
        int result = (bits & 1) != 0 ? add_bias(image, part, address, bias) : 0;

        if (result != 0)
            return result;
    }
    return 0;
}

static int relocate_packed(const struct elf_image *image, const struct elf_part *part, uint64_t bias)
{
    struct elf_span table = image->packed_relocations;
    uint64_t next = 0; /* the address that a bitmap begins at */

    for (uint64_t offset = 0; offset < table.size_bytes; offset += sizeof(uint64_t)) {
        uint64_t item;
        int result = elf_image_read(image, table.address + offset, &item, sizeof(item));

        if (result == 0 && (item & 1) == 0)
            result = add_bias(image, part, item, bias);
        else if (result == 0)
            result = relocate_bitmap(image, part, next, item, bias);
        if (result != 0)
            return result;
        next = (item & 1) == 0 ? item + sizeof(uint64_t) : next + 63 * sizeof(uint64_t);
    }
    return 0;
}

int elf_image_relocate(const struct elf_image *image, const struct elf_part *part, uint64_t load_address)
{
    uint64_t bias = load_address - image->low;
    int result = relocate_listed(image, part, bias);

    return result != 0 ? result : relocate_packed(image, part, bias);
}
