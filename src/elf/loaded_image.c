/* SPDX-License-Identifier: MIT */
#include "elf/loaded_image.h"

#include "base/alignment.h"
#include "base/memory_functions.h"
#include "base/memory_map.h"

#include <asm/errno.h>
#include <linux/elf.h>

#define HEADERS_MAX 64u
/* No dynamic section has more entries. */
#define DYNAMIC_ENTRIES_MAX 4096u
#define ENTRIES_AT_ONCE     32u
/* The smallest page that there is. */

static int read_header(const struct elf_memory *memory, uint64_t address, Elf64_Ehdr *header_out)
{
    if (!memory->read(memory->context, address, header_out, sizeof(*header_out)))
        return -EFAULT;
    if (memcmp(header_out->e_ident, ELFMAG, SELFMAG) != 0 || header_out->e_ident[EI_CLASS] != ELFCLASS64 ||
        header_out->e_phentsize != sizeof(Elf64_Phdr) || header_out->e_phnum == 0 || header_out->e_phnum > HEADERS_MAX)
        return -ENOEXEC;
    return 0;
}

static unsigned access_of(const Elf64_Phdr *header)
{
    return (header->p_flags & PF_R ? MEMORY_READ : 0) | (header->p_flags & PF_W ? MEMORY_WRITE : 0) |
           (header->p_flags & PF_X ? MEMORY_EXECUTE : 0);
}

/* Addresses as in the file, for now. */
static int take_segment(const Elf64_Phdr *header, struct elf_loaded_image *image)
{
    uint64_t end = header->p_vaddr + header->p_memsz;

    if (end < header->p_vaddr || image->segment_count == ELF_LOADED_SEGMENTS_MAX)
        return -ENOEXEC;
    image->segments[image->segment_count++] = (struct elf_loaded_segment){
        .start = header->p_vaddr,
        .end = end,
        .file_offset = header->p_offset,
        .file_bytes = header->p_filesz,
        .access = access_of(header),
    };
    return 0;
}

static int take_headers(const Elf64_Phdr *headers, unsigned count, struct elf_loaded_image *image)
{
    int result = 0;

    for (unsigned i = 0; result == 0 && i < count; i++) {
        if (headers[i].p_type == PT_LOAD)
            result = take_segment(&headers[i], image);
        if (headers[i].p_type == PT_DYNAMIC) {
            image->dynamic = headers[i].p_vaddr;
            image->dynamic_bytes = headers[i].p_memsz;
        }
    }
    return result;
}

/* The header is the beginning of the file: so whichever segment has that tells where all are. */
static int move_to_memory(struct elf_loaded_image *image, uint64_t entry)
{
    uint64_t end = 0;
    bool is_found = false;

    for (unsigned i = 0; i < image->segment_count && !is_found; i++) {
        is_found = image->segments[i].file_offset < memory_page_size();
        image->bias = image->base - (image->segments[i].start - image->segments[i].file_offset);
    }
    if (!is_found)
        return -ENOEXEC;
    for (unsigned i = 0; i < image->segment_count; i++) {
        image->segments[i].start += image->bias;
        image->segments[i].end += image->bias;
        end = image->segments[i].end > end ? image->segments[i].end : end;
    }
    image->end = align_up(end, memory_page_size());
    image->entry = entry == 0 ? 0 : entry + image->bias;
    image->dynamic = image->dynamic_bytes == 0 ? 0 : image->dynamic + image->bias;
    return image->end > image->base ? 0 : -ENOEXEC;
}

int elf_loaded_image_read(const struct elf_memory *memory, uint64_t header_address, struct elf_loaded_image *image_out)
{
    struct elf_loaded_image image = {.base = header_address};
    Elf64_Phdr headers[HEADERS_MAX];
    Elf64_Ehdr header;
    int result = read_header(memory, header_address, &header);

    if (result != 0)
        return result;
    if (!memory->read(memory->context, header_address + header.e_phoff, headers, header.e_phnum * sizeof(headers[0])))
        return -EFAULT;
    result = take_headers(headers, header.e_phnum, &image);
    if (result == 0)
        result = move_to_memory(&image, header.e_entry);
    if (result == 0)
        *image_out = image;
    return result;
}

int elf_loaded_image_dynamic(const struct elf_memory *memory, const struct elf_loaded_image *image, uint64_t tag,
                             uint64_t *value_out, uint64_t *place_out)
{
    uint64_t count = image->dynamic_bytes / sizeof(Elf64_Dyn);
    Elf64_Dyn entries[ENTRIES_AT_ONCE];

    if (count > DYNAMIC_ENTRIES_MAX)
        count = DYNAMIC_ENTRIES_MAX;
    for (uint64_t i = 0; i < count; i++) {
        const Elf64_Dyn *entry = &entries[i % ENTRIES_AT_ONCE];
        uint64_t left = count - i < ENTRIES_AT_ONCE ? count - i : ENTRIES_AT_ONCE;

        if (i % ENTRIES_AT_ONCE == 0 &&
            !memory->read(memory->context, image->dynamic + i * sizeof(*entry), entries, left * sizeof(*entry)))
            return -ENOENT;
        if (entry->d_tag == DT_NULL)
            return -ENOENT;
        if ((uint64_t)entry->d_tag != tag)
            continue;
        *value_out = entry->d_un.d_val;
        if (place_out != NULL)
            *place_out = image->dynamic + i * sizeof(*entry) + offsetof(Elf64_Dyn, d_un);
        return 0;
    }
    return -ENOENT;
}

int elf_loaded_image_dynamic_address(const struct elf_memory *memory, const struct elf_loaded_image *image,
                                     uint64_t tag, uint64_t *address_out)
{
    uint64_t value;
    int result = elf_loaded_image_dynamic(memory, image, tag, &value, NULL);

    if (result == 0)
        *address_out = value >= image->base && value < image->end ? value : value + image->bias;
    return result;
}
