/* SPDX-License-Identifier: MIT */
/*
 * Memory as large as the file, of which only those pages are touched whose bytes are of interest: so places in the file
 * are places in memory, and symbols.c checks them as it does for a whole file.
 */
#include "elf/symbol_file.h"

#include "base/descriptor.h"
#include "base/memory_map.h"
#include "base/raw_syscall.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/elf.h>
#include <linux/fcntl.h>
#include <linux/fs.h>

#define FILE_BYTES_MAX (4ull << 30)
#define TYPE_SYMBOLS   2
#define TYPE_DYNAMIC   11
#define TYPE_NOTE      7

struct reader {
    long fd;
    uint8_t *memory;
    uint64_t size_bytes;
};

/* Reads a piece of the file to its place. */
static int read_piece(const struct reader *reader, uint64_t offset, uint64_t size_bytes)
{
    if (offset > reader->size_bytes || reader->size_bytes - offset < size_bytes)
        return -ENOEXEC;
    while (size_bytes != 0) {
        long got = raw_syscall(__NR_pread64, reader->fd, (long)(reader->memory + offset), (long)size_bytes,
                               (long)offset, 0, 0);

        if (got == -EINTR)
            continue;
        if (got <= 0)
            return got == 0 ? -ENOEXEC : (int)got;
        offset += (uint64_t)got;
        size_bytes -= (uint64_t)got;
    }
    return 0;
}

static int read_notes(const struct reader *reader, const Elf64_Ehdr *header)
{
    int result = read_piece(reader, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr));

    for (unsigned i = 0; result == 0 && i < header->e_phnum; i++) {
        Elf64_Phdr segment;

        __builtin_memcpy(&segment, reader->memory + header->e_phoff + i * sizeof(segment), sizeof(segment));
        if (segment.p_type == PT_NOTE)
            result = read_piece(reader, segment.p_offset, segment.p_filesz);
    }
    return result;
}

/* Those of sections are few; a file without them is no worse for it. */
static void read_section_names(const struct reader *reader, const Elf64_Ehdr *header)
{
    Elf64_Shdr names;

    if (header->e_shstrndx >= header->e_shnum)
        return;
    __builtin_memcpy(&names, reader->memory + header->e_shoff + header->e_shstrndx * sizeof(names), sizeof(names));
    (void)!read_piece(reader, names.sh_offset, names.sh_size);
}

static int read_tables(const struct reader *reader, const Elf64_Ehdr *header)
{
    const uint8_t *sections = reader->memory + header->e_shoff;
    int result = read_piece(reader, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr));

    if (result == 0)
        read_section_names(reader, header);

    for (unsigned i = 0; result == 0 && i < header->e_shnum; i++) {
        Elf64_Shdr section, names;

        __builtin_memcpy(&section, sections + i * sizeof(section), sizeof(section));
        /* Notes that are not loaded, as those of static probes; a file where they cannot be read has none. */
        if (section.sh_type == TYPE_NOTE)
            (void)!read_piece(reader, section.sh_offset, section.sh_size);
        if ((section.sh_type != TYPE_SYMBOLS && section.sh_type != TYPE_DYNAMIC) || section.sh_link >= header->e_shnum)
            continue;
        __builtin_memcpy(&names, sections + section.sh_link * sizeof(names), sizeof(names));
        result = read_piece(reader, section.sh_offset, section.sh_size);
        if (result == 0)
            result = read_piece(reader, names.sh_offset, names.sh_size);
    }
    return result;
}

static int read_parts(const struct reader *reader)
{
    Elf64_Ehdr header;
    int result = read_piece(reader, 0, sizeof(header));

    if (result != 0)
        return result;
    __builtin_memcpy(&header, reader->memory, sizeof(header));
    if (__builtin_memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
        return -ENOEXEC;
    if (header.e_phnum != 0 && header.e_phentsize == sizeof(Elf64_Phdr))
        result = read_notes(reader, &header);
    if (result == 0 && header.e_shnum != 0 && header.e_shentsize == sizeof(Elf64_Shdr))
        result = read_tables(reader, &header);
    return result;
}

/* The same, and all that a loader would map. */
static int read_loaded(const struct reader *reader)
{
    int result = read_parts(reader);
    Elf64_Ehdr header;

    __builtin_memcpy(&header, reader->memory, sizeof(header));
    if (header.e_phentsize != sizeof(Elf64_Phdr))
        return result;
    for (unsigned i = 0; result == 0 && i < header.e_phnum; i++) {
        Elf64_Phdr segment;

        __builtin_memcpy(&segment, reader->memory + header.e_phoff + i * sizeof(segment), sizeof(segment));
        if (segment.p_type == PT_LOAD)
            result = read_piece(reader, segment.p_offset, segment.p_filesz);
    }
    return result;
}

static int read_whole(const struct reader *reader)
{
    return read_piece(reader, 0, reader->size_bytes);
}

static int read_file(long fd, int (*read)(const struct reader *reader), struct symbol_file *file_out)
{
    long size_bytes = raw_syscall(__NR_lseek, fd, 0, SEEK_END, 0, 0, 0);
    struct symbol_file file = {.size_bytes = (size_t)size_bytes};
    struct reader reader = {.fd = fd, .size_bytes = (uint64_t)size_bytes};
    int result;

    if (size_bytes < (long)sizeof(Elf64_Ehdr) || reader.size_bytes > FILE_BYTES_MAX)
        return size_bytes < 0 ? (int)size_bytes : -ENOEXEC;
    result = memory_map(file.size_bytes, &file.memory);
    if (result != 0)
        return result;
    reader.memory = file.memory;
    result = read(&reader);
    if (result == 0)
        result = elf_symbols_parse(file.memory, file.size_bytes, &file.symbols);
    if (result != 0) {
        symbol_file_close(&file);
        return result;
    }
    *file_out = file;
    return 0;
}

static int open_file(const char *path, int (*read)(const struct reader *reader), struct symbol_file *file_out)
{
    long fd = descriptor_open(path, O_RDONLY | O_NONBLOCK);
    int result;

    if (fd < 0)
        return (int)fd;
    result = read_file(fd, read, file_out);
    (void)raw_syscall(__NR_close, fd, 0, 0, 0, 0, 0);
    return result;
}

int symbol_file_open(const char *path, struct symbol_file *file_out)
{
    return open_file(path, read_parts, file_out);
}

int symbol_file_open_loaded(const char *path, struct symbol_file *file_out)
{
    return open_file(path, read_loaded, file_out);
}

int symbol_file_open_whole(const char *path, struct symbol_file *file_out)
{
    return open_file(path, read_whole, file_out);
}

void symbol_file_close(struct symbol_file *file)
{
    memory_unmap(file->memory, file->size_bytes);
    *file = (struct symbol_file){0};
}
