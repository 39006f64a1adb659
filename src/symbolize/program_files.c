/* SPDX-License-Identifier: MIT */
/*
 * Libraries are looked for where the dynamic linker would: in the folders that the file names, those of the
 * environment, and those of the system; but not in its cache, whose format belongs to one libc.
 */
#define _GNU_SOURCE
#include "symbolize/program_files.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDERS_BYTES 4096

/* The folder for a CPU stands for any: a file that is for another one is passed over. */
static const char system_folders[] = "/usr/local/lib:/lib/*:/usr/lib/*:/lib64:/usr/lib64:/lib:/usr/lib";

/* Adds a file once. */
static bool add(struct program_files *files, const char *path)
{
    char *whole = realpath(path, NULL);

    if (whole == NULL || files->count == PROGRAM_FILES_MAX) {
        free(whole);
        return false;
    }
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->paths[i], whole) == 0) {
            free(whole);
            return true;
        }
    files->paths[files->count++] = whole;
    return true;
}

void program_files_deinit(struct program_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->paths[i]);
    files->count = 0;
}

/* ---- what a file says -------------------------------------------------------------------------------------------- */

struct elf_file {
    const uint8_t *bytes;
    size_t size_bytes;
    Elf64_Ehdr header;
};

static bool open_elf(const char *path, struct elf_file *file)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    void *bytes = MAP_FAILED;

    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && (size_t)status.st_size >= sizeof(file->header))
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (bytes == MAP_FAILED)
        return false;
    *file = (struct elf_file){.bytes = bytes, .size_bytes = (size_t)status.st_size};
    memcpy(&file->header, bytes, sizeof(file->header));
    if (memcmp(file->header.e_ident, ELFMAG, SELFMAG) == 0 && file->header.e_ident[EI_CLASS] == ELFCLASS64 &&
        file->header.e_phentsize == sizeof(Elf64_Phdr))
        return true;
    munmap(bytes, file->size_bytes);
    return false;
}

static void close_elf(struct elf_file *file)
{
    munmap((void *)(uintptr_t)file->bytes, file->size_bytes);
}

static bool read_at(const struct elf_file *file, uint64_t offset, void *value_out, size_t size_bytes)
{
    if (offset > file->size_bytes || size_bytes > file->size_bytes - offset)
        return false;
    memcpy(value_out, file->bytes + offset, size_bytes);
    return true;
}

static bool read_segment(const struct elf_file *file, unsigned which, Elf64_Phdr *segment_out)
{
    return which < file->header.e_phnum &&
           read_at(file, file->header.e_phoff + which * sizeof(*segment_out), segment_out, sizeof(*segment_out));
}

/* Where in the file an address is; the end of the file if it is not. */
static uint64_t offset_of(const struct elf_file *file, uint64_t address)
{
    Elf64_Phdr segment;

    for (unsigned i = 0; read_segment(file, i, &segment); i++)
        if (segment.p_type == PT_LOAD && address - segment.p_vaddr < segment.p_filesz)
            return address - segment.p_vaddr + segment.p_offset;
    return file->size_bytes;
}

/* The number `which` of the entries with that tag. */
static bool find_dynamic(const struct elf_file *file, int64_t tag, unsigned which, uint64_t *value_out)
{
    Elf64_Phdr segment;
    Elf64_Dyn entry;
    unsigned i = 0;

    while (read_segment(file, i, &segment) && segment.p_type != PT_DYNAMIC)
        i++;
    if (!read_segment(file, i, &segment))
        return false;
    for (uint64_t at = 0; read_at(file, segment.p_offset + at, &entry, sizeof(entry)) && entry.d_tag != DT_NULL;
         at += sizeof(entry))
        if (entry.d_tag == tag && which-- == 0) {
            *value_out = entry.d_un.d_val;
            return true;
        }
    return false;
}

/* The same, of a tag that names a text; NULL: there is none. */
static const char *find_text(const struct elf_file *file, int64_t tag, unsigned which)
{
    uint64_t table, offset, place;

    if (!find_dynamic(file, DT_STRTAB, 0, &table) || !find_dynamic(file, tag, which, &offset))
        return NULL;
    place = offset_of(file, table + offset);
    if (place >= file->size_bytes || memchr(file->bytes + place, '\0', file->size_bytes - place) == NULL)
        return NULL;
    return (const char *)file->bytes + place;
}

/* ---- libraries --------------------------------------------------------------------------------------------------- */

static bool is_for_same_cpu(const char *path, const struct elf_file *file)
{
    struct elf_file other;
    bool is_same;

    if (!open_elf(path, &other))
        return false;
    is_same = other.header.e_machine == file->header.e_machine;
    close_elf(&other);
    return is_same;
}

/* In folders that may be patterns. */
static bool search_pattern(struct program_files *files, const char *pattern, const struct elf_file *file)
{
    bool is_found = false;
    glob_t found;

    if (glob(pattern, 0, NULL, &found) != 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc && !is_found; i++)
        is_found = is_for_same_cpu(found.gl_pathv[i], file) && add(files, found.gl_pathv[i]);
    globfree(&found);
    return is_found;
}

/* Folders with colons between them; $ORIGIN is the one that the file is in. */
static bool search_folders(struct program_files *files, const char *folders, const char *name,
                           const struct elf_file *file, const char *origin)
{
    while (folders != NULL && *folders != '\0') {
        size_t length = strcspn(folders, ":"), mark = strlen("$ORIGIN");
        bool is_relative = strncmp(folders, "$ORIGIN", mark) == 0;
        const char *rest = folders + (is_relative ? mark : 0);
        char pattern[FOLDERS_BYTES];

        snprintf(pattern, sizeof(pattern), "%.*s%.*s/%s", is_relative ? (int)(strrchr(origin, '/') - origin) : 0,
                 origin, (int)(folders + length - rest), rest, name);
        if (length != 0 && search_pattern(files, pattern, file))
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

static void add_library(struct program_files *files, const char *name, const struct elf_file *file, const char *origin)
{
    if (strchr(name, '/') != NULL) {
        (void)add(files, name);
        return;
    }
    (void)!(search_folders(files, find_text(file, DT_RPATH, 0), name, file, origin) ||
            search_folders(files, getenv("LD_LIBRARY_PATH"), name, file, origin) ||
            search_folders(files, find_text(file, DT_RUNPATH, 0), name, file, origin) ||
            search_folders(files, system_folders, name, file, origin));
}

/* Those that are found need others: they are behind in the list. */
static void add_needed(struct program_files *files, size_t which)
{
    struct elf_file file;
    const char *name;

    if (!open_elf(files->paths[which], &file))
        return;
    for (unsigned i = 0; (name = find_text(&file, DT_NEEDED, i)) != NULL; i++)
        add_library(files, name, &file, files->paths[which]);
    close_elf(&file);
}

/* ---- programs and processes -------------------------------------------------------------------------------------- */

static bool search_path(const char *name, char *path_out, size_t path_bytes)
{
    const char *folders = getenv("PATH");

    for (; folders != NULL && *folders != '\0'; folders += folders[strcspn(folders, ":")] == ':') {
        size_t length = strcspn(folders, ":");

        snprintf(path_out, path_bytes, "%.*s/%s", (int)length, folders, name);
        if (length != 0 && access(path_out, X_OK) == 0)
            return true;
        folders += length;
    }
    return false;
}

/* A script is run by the program that its first line names. */
static void replace_script(char *path, size_t path_bytes)
{
    FILE *file = fopen(path, "re");
    char line[PATH_MAX];
    bool is_script = file != NULL && fgets(line, sizeof(line), file) != NULL && strncmp(line, "#!", 2) == 0;

    if (file != NULL)
        fclose(file);
    if (is_script) {
        char *name = line + 2 + strspn(line + 2, " \t");

        snprintf(path, path_bytes, "%.*s", (int)strcspn(name, " \t\n"), name);
    }
}

int program_files_of_program(const char *name, struct program_files *files_out)
{
    char path[PATH_MAX];

    files_out->count = 0;
    snprintf(path, sizeof(path), "%s", name);
    if (strchr(name, '/') == NULL && !search_path(name, path, sizeof(path)))
        return -ENOENT;
    replace_script(path, sizeof(path));
    if (!add(files_out, path))
        return -ENOENT;
    for (size_t i = 0; i < files_out->count; i++)
        add_needed(files_out, i);
    return 0;
}

int program_files_of_process(pid_t pid, struct program_files *files_out)
{
    char path[64], line[PATH_MAX + 128];
    FILE *maps;

    files_out->count = 0;
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    if (!add(files_out, path))
        return -ENOENT;
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    maps = fopen(path, "re");
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
        const char *access_text = strchr(line, ' '), *name = strchr(line, '/');

        line[strcspn(line, "\n")] = '\0';
        if (access_text != NULL && strlen(access_text) > 4 && access_text[3] == 'x' && name != NULL)
            (void)add(files_out, name);
    }
    if (maps != NULL)
        fclose(maps);
    return 0;
}
