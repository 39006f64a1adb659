/* SPDX-License-Identifier: MIT */
#include "unwind/module_frames.h"

#include "base/memory_functions.h"
#include "base/memory_map.h"
#include "process/memory_probe.h"

#include <asm/errno.h>
#include <linux/elf.h>

#define HEADERS_MAX    32u
#define PIECE_BYTES    (64u << 10)
#define FRAME_HDR_READ 64u
/* No module has so much of it. */
#define COPY_BYTES_MAX ((uint64_t)256 << 20)

/* What the program headers of a module in memory say. */
struct module_headers {
    uint64_t bias; /* from addresses in the file to those in memory */
    uint64_t frame_header;
    uint64_t frame_header_bytes;
    struct unwind_range code;
    unsigned count;
    Elf64_Phdr headers[HEADERS_MAX];
};

static int read_file_header(uint64_t base, struct module_headers *headers_out)
{
    Elf64_Ehdr file;
    int result = memory_probe_copy(base, &file, sizeof(file));

    if (result != 0)
        return result;
    if (memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 || file.e_ident[EI_CLASS] != ELFCLASS64 ||
        file.e_phentsize != sizeof(Elf64_Phdr) || file.e_phnum == 0 || file.e_phnum > HEADERS_MAX)
        return -ENOEXEC;
    headers_out->count = file.e_phnum;
    return memory_probe_copy(base + file.e_phoff, headers_out->headers, file.e_phnum * sizeof(Elf64_Phdr));
}

static void take_header(const Elf64_Phdr *header, struct module_headers *headers)
{
    uint64_t start = header->p_vaddr, end = header->p_vaddr + header->p_memsz;

    if (header->p_type == PT_LOAD && header->p_flags & PF_X && end > start) {
        headers->code.start = start < headers->code.start ? start : headers->code.start;
        headers->code.end = end > headers->code.end ? end : headers->code.end;
    }
    if (header->p_type == PT_GNU_EH_FRAME) {
        headers->frame_header = start;
        headers->frame_header_bytes = header->p_memsz;
    }
}

static int read_headers(uint64_t base, struct module_headers *headers_out)
{
    uint64_t low = UINT64_MAX;
    int result = read_file_header(base, headers_out);

    headers_out->frame_header_bytes = 0;
    headers_out->code = (struct unwind_range){UINT64_MAX, 0};
    for (unsigned i = 0; result == 0 && i < headers_out->count; i++) {
        const Elf64_Phdr *header = &headers_out->headers[i];

        take_header(header, headers_out);
        if (header->p_type == PT_LOAD && header->p_offset == 0 && header->p_vaddr < low)
            low = header->p_vaddr;
    }
    if (result != 0)
        return result;
    if (low == UINT64_MAX)
        return -ENOEXEC;
    headers_out->bias = base - low;
    headers_out->frame_header += headers_out->bias;
    headers_out->code.start += headers_out->bias;
    headers_out->code.end += headers_out->bias;
    return headers_out->frame_header_bytes == 0 || headers_out->code.end <= headers_out->code.start ? -ENOENT : 0;
}

/* How many bytes of a segment there are from the address on; 0: it is in none. */
static uint64_t bytes_loaded(const struct module_headers *headers, uint64_t address)
{
    for (unsigned i = 0; i < headers->count; i++) {
        const Elf64_Phdr *header = &headers->headers[i];
        uint64_t within = address - headers->bias - header->p_vaddr;

        if (header->p_type == PT_LOAD && within < header->p_filesz)
            return header->p_filesz - within;
    }
    return 0;
}

/* Where .eh_frame is, and how many bytes are there at most. */
static int find_section(const struct module_headers *headers, uint64_t *address_out, uint64_t *bytes_max_out)
{
    uint8_t bytes[FRAME_HDR_READ];
    size_t size_bytes = headers->frame_header_bytes < sizeof(bytes) ? headers->frame_header_bytes : sizeof(bytes);
    const struct eh_frame header = {bytes, size_bytes, headers->frame_header};
    int result = memory_probe_copy(headers->frame_header, bytes, size_bytes);

    if (result != 0)
        return result;
    if (eh_frame_find(&header, address_out) != 0)
        return -ENOENT;
    *bytes_max_out = bytes_loaded(headers, *address_out);
    if (*bytes_max_out > COPY_BYTES_MAX)
        *bytes_max_out = COPY_BYTES_MAX;
    return *bytes_max_out == 0 ? -ENOENT : 0;
}

/* Copies piece by piece, up to the end of the section, or of the segment. */
static int copy_section(uint64_t address, uint64_t bytes_max, uint8_t *copy, struct eh_frame *frame_out)
{
    struct eh_frame frame = {copy, 0, address};
    size_t offset = 0;

    while (frame.size_bytes < bytes_max && !eh_frame_has_end(&frame, &offset)) {
        uint64_t left = bytes_max - frame.size_bytes;
        size_t piece = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        int result = memory_probe_copy(address + frame.size_bytes, copy + frame.size_bytes, piece);

        if (result != 0)
            return result;
        frame.size_bytes += piece;
    }
    /* What is behind the end is something else. */
    if (eh_frame_has_end(&frame, &offset))
        frame.size_bytes = offset;
    *frame_out = frame;
    return 0;
}

/* The copy, of which only as much memory is kept as it needs. */
static int make_copy(const struct module_headers *headers, struct module_frames *frames, struct eh_frame *frame_out)
{
    uint64_t address, bytes_max;
    size_t mapped_bytes, kept_bytes;
    void *storage;
    int result = find_section(headers, &address, &bytes_max);

    if (result != 0)
        return result;
    mapped_bytes = memory_round_to_pages((size_t)bytes_max);
    result = memory_map(mapped_bytes, &storage);
    if (result != 0)
        return result;
    result = copy_section(address, bytes_max, storage, frame_out);
    if (result == 0 && frame_out->size_bytes == 0)
        result = -ENOENT;
    kept_bytes = result == 0 ? memory_round_to_pages(frame_out->size_bytes) : 0;
    if (kept_bytes < mapped_bytes)
        memory_unmap((uint8_t *)storage + kept_bytes, mapped_bytes - kept_bytes);
    frames->copy_bytes = kept_bytes;
    return result;
}

int module_frames_create(uint64_t base, const struct arch_frame_registers *registers, struct module_frames **frames_out)
{
    struct module_headers headers;
    struct module_frames *frames;
    struct eh_frame frame;
    void *storage;
    int result = read_headers(base, &headers);

    if (result == 0)
        result = memory_map(sizeof(*frames), &storage);
    if (result != 0)
        return result;
    frames = storage;
    frames->base = base;
    result = make_copy(&headers, frames, &frame);
    if (result == 0) {
        frames->table.frame = frame;
        result = unwind_table_make(&frames->table, &frame, headers.code, registers);
    }
    if (result == 0)
        *frames_out = frames;
    else
        module_frames_destroy(frames);
    return result;
}

void module_frames_destroy(struct module_frames *frames)
{
    if (frames->copy_bytes != 0)
        memory_unmap((void *)(uintptr_t)frames->table.frame.bytes, frames->copy_bytes);
    unwind_table_deinit(&frames->table);
    memory_unmap(frames, sizeof(*frames));
}

bool module_frames_are_current(const struct module_frames *frames)
{
    const struct eh_frame *frame = &frames->table.frame;
    uint8_t piece[1024];

    for (size_t offset = 0; offset < frame->size_bytes; offset += sizeof(piece)) {
        size_t left = frame->size_bytes - offset, size_bytes = left < sizeof(piece) ? left : sizeof(piece);

        if (memory_probe_copy(frame->address + offset, piece, size_bytes) != 0 ||
            memcmp(piece, frame->bytes + offset, size_bytes) != 0)
            return false;
    }
    return true;
}
