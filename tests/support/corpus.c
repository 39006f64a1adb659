/* SPDX-License-Identifier: MIT */
/*
 * Libraries are found as the dynamic linker would find them, the compiler proper by asking the compiler driver, the
 * rest where Debian puts it.
 */
#define _GNU_SOURCE
#include "support/corpus.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGE_FILE_BYTES (16u << 20)

/* Prints a path, or nothing. */
static const struct {
    const char *name;
    const char *command;
} sources[] = {
    {"libc.so.6", "ldconfig -p | sed -n 's/.*libc\\.so\\.6 (libc6,x86-64.*=> //p'"},
    {"libcrypto.so.3", "ldconfig -p | sed -n 's/.*libcrypto\\.so\\.3 (libc6,x86-64.*=> //p'"},
    {"libstdc++.so.6", "ldconfig -p | sed -n 's/.*libstdc++\\.so\\.6 (libc6,x86-64.*=> //p'"},
    {"javascriptcore", "ldconfig -p | sed -n 's/.*libjavascriptcoregtk-4.*(libc6,x86-64.*=> //p'"},
    /* The same code is in the library or in the program, depending on who packed it. */
    {"node", "ldconfig -p | sed -n 's/.*libnode\\.so\\.[0-9]* (libc6,x86-64.*=> //p'; ls /usr/bin/node"},
    {"cc1", "gcc -print-prog-name=cc1 | grep /"},
    {"python3", "ls /usr/bin/python3.[0-9]*[0-9]"},
    {"perl", "ls /usr/bin/perl"},
    {"this test", "readlink /proc/$PPID/exe"},
};

/* Stores the first line that the command prints. */
static bool ask(const char *command, char *line_out, size_t size_bytes)
{
    char whole[512];

    snprintf(whole, sizeof(whole), "PATH=$PATH:/sbin:/usr/sbin; { %s; } 2>/dev/null", command);

    FILE *pipe = popen(whole, "r");

    if (pipe == NULL)
        return false;

    bool has_line = fgets(line_out, (int)size_bytes, pipe) != NULL;

    while (fgets(whole, sizeof(whole), pipe) != NULL) {
        /* A command whose pipe is closed early would complain. */
    }
    pclose(pipe);
    if (has_line)
        line_out[strcspn(line_out, "\n")] = 0;
    return has_line;
}

static int map_file(struct corpus_file *file)
{
    struct stat status;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    if (fstat(fd, &status) != 0 || status.st_size < (off_t)sizeof(Elf64_Ehdr)) {
        close(fd);
        return -ENOEXEC;
    }
    file->size_bytes = (size_t)status.st_size;
    file->is_large = file->size_bytes > LARGE_FILE_BYTES;
    file->bytes = mmap(NULL, file->size_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    return file->bytes == MAP_FAILED ? -errno : 0;
}

static bool is_x86_64(const struct corpus_file *file)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file->bytes;

    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
           header->e_machine == EM_X86_64 && header->e_shentsize == sizeof(Elf64_Shdr) &&
           header->e_shoff <= file->size_bytes &&
           header->e_shnum <= (file->size_bytes - header->e_shoff) / sizeof(Elf64_Shdr);
}

/* The section's name, from the file; empty where the file does not say. */
static const char *section_name(const struct corpus_file *file, const Elf64_Shdr *sections, const Elf64_Shdr *section)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file->bytes;

    if (header->e_shstrndx >= header->e_shnum)
        return "";

    uint64_t offset = sections[header->e_shstrndx].sh_offset;

    if (offset >= file->size_bytes || section->sh_name >= file->size_bytes - offset)
        return "";

    const char *name = (const char *)file->bytes + offset + section->sh_name;

    return memchr(name, 0, file->size_bytes - offset - section->sh_name) != NULL ? name : "";
}

static void add_sections(struct corpus *corpus, const struct corpus_file *file)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file->bytes;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(file->bytes + header->e_shoff);

    for (unsigned i = 0; i < header->e_shnum; i++) {
        const Elf64_Shdr *section = &sections[i];

        if (!(section->sh_flags & SHF_EXECINSTR) || section->sh_type != SHT_PROGBITS ||
            section->sh_offset > file->size_bytes || section->sh_size > file->size_bytes - section->sh_offset ||
            corpus->section_count == CORPUS_MAX_SECTIONS)
            continue;
        corpus->sections[corpus->section_count++] = (struct corpus_section){
            .file = file,
            .name = section_name(file, sections, section),
            .bytes = file->bytes + section->sh_offset,
            .size_bytes = section->sh_size,
            .address = section->sh_addr,
        };
    }
}

static int add_named(struct corpus *corpus, const char *name, const char *path)
{
    struct corpus_file *file = &corpus->files[corpus->file_count];

    if (corpus->file_count == CORPUS_MAX_FILES)
        return -ENOSPC;
    file->name = name;
    snprintf(file->path, sizeof(file->path), "%s", path);

    int result = map_file(file);

    if (result != 0)
        return result;
    if (!is_x86_64(file)) {
        munmap(file->bytes, file->size_bytes);
        return -ENOEXEC;
    }
    corpus->file_count++;
    add_sections(corpus, file);
    return 0;
}

int corpus_add(struct corpus *corpus, const char *path)
{
    return add_named(corpus, path, path);
}

void corpus_init(struct corpus *corpus)
{
    memset(corpus, 0, sizeof(*corpus));
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        char path[256];
        int result = ask(sources[i].command, path, sizeof(path)) ? add_named(corpus, sources[i].name, path) : -ENOENT;

        if (result != 0)
            printf("without %s: %s\n", sources[i].name, strerror(-result));
    }
}

void corpus_deinit(struct corpus *corpus)
{
    for (size_t i = 0; i < corpus->file_count; i++)
        munmap(corpus->files[i].bytes, corpus->files[i].size_bytes);
    memset(corpus, 0, sizeof(*corpus));
}

size_t corpus_cut(const struct corpus *corpus, size_t size_bytes, struct corpus_piece **pieces_out)
{
    size_t count = 0;

    for (size_t i = 0; i < corpus->section_count; i++)
        count += (corpus->sections[i].size_bytes + size_bytes - 1) / size_bytes;

    struct corpus_piece *pieces = calloc(count + 1, sizeof(*pieces));
    size_t used = 0;

    for (size_t i = 0; pieces != NULL && i < corpus->section_count; i++) {
        const struct corpus_section *section = &corpus->sections[i];

        for (size_t begin = 0; begin < section->size_bytes; begin += size_bytes) {
            size_t left = section->size_bytes - begin;

            pieces[used++] = (struct corpus_piece){section, begin, begin + (left < size_bytes ? left : size_bytes)};
        }
    }
    *pieces_out = pieces;
    return used;
}
