/* SPDX-License-Identifier: MIT */
/*
 * Addresses in a separate file may differ from those in the program by a distance, which the extent has. libdw unpacks
 * compressed sections when it opens a file; after that libelf gives them out unpacked.
 */
#define _GNU_SOURCE
#include "symbolize/dwarf/dwarf_session.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where there is code, from the first to the last. */
static void find_extent(Elf *elf, struct dwarf_extent *extent)
{
    GElf_Phdr segment;
    size_t count = 0;

    extent->begin = UINT64_MAX;
    extent->end = 0;
    (void)elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        if (gelf_getphdr(elf, (int)i, &segment) == NULL || segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
            continue;
        if (segment.p_vaddr < extent->begin)
            extent->begin = segment.p_vaddr;
        if (segment.p_vaddr + segment.p_memsz > extent->end)
            extent->end = segment.p_vaddr + segment.p_memsz;
    }
}

static int open_module(struct dwarf_session *session, Dwfl_Module *module)
{
    GElf_Addr program_bias;
    Dwarf_Addr bias;
    Elf *elf = dwfl_module_getelf(module, &program_bias);

    session->dwarf = elf == NULL ? NULL : dwfl_module_getdwarf(module, &bias);
    if (session->dwarf == NULL)
        return -ENOENT;
    find_extent(elf, &session->extent);
    session->extent.distance = bias - program_bias;
    return 0;
}

/* Beside the file, in .debug beside it, and in the folders; what is found by name must have the right sum. */
static int begin(struct dwarf_session *session, const char *folders)
{
    if (asprintf(&session->folders, "+:.debug:%s", folders) < 0) {
        session->folders = NULL;
        return -ENOMEM;
    }
    session->callbacks = (Dwfl_Callbacks){.find_elf = dwfl_build_id_find_elf,
                                          .find_debuginfo = dwfl_standard_find_debuginfo,
                                          .section_address = dwfl_offline_section_address,
                                          .debuginfo_path = &session->folders};
    session->session = dwfl_begin(&session->callbacks);
    return session->session == NULL ? -ENOMEM : 0;
}

int dwarf_session_begin(struct dwarf_session *session, const char *path, const char *folders)
{
    Dwfl_Module *module = NULL;

    *session = (struct dwarf_session){.session = NULL};
    if (begin(session, folders) == 0) {
        dwfl_report_begin(session->session);
        module = dwfl_report_offline(session->session, path, path, -1);
        (void)dwfl_report_end(session->session, NULL, NULL);
    }
    if (module == NULL || open_module(session, module) != 0) {
        dwarf_session_end(session);
        return -ENOENT;
    }
    return 0;
}

void dwarf_session_end(struct dwarf_session *session)
{
    if (session->session != NULL)
        dwfl_end(session->session);
    free(session->folders);
    *session = (struct dwarf_session){.session = NULL};
}

/* ---- sections ---------------------------------------------------------------------------------------------------- */

/* Bytes that are there: the file may be shorter than it says. */
static void take_section(struct dwarf_sections *sections, Elf *elf, Elf_Scn *section, size_t names)
{
    GElf_Shdr header;
    const char *name;
    struct dwarf_span *span;
    Elf_Data *data;

    if (gelf_getshdr(section, &header) == NULL || header.sh_type == SHT_NOBITS)
        return;
    name = elf_strptr(elf, names, header.sh_name);
    span = name == NULL ? NULL : dwarf_sections_by_name(sections, name);
    /* One that is still packed could not be unpacked. */
    if (span == NULL || span->bytes != NULL || (header.sh_flags & SHF_COMPRESSED) != 0)
        return;
    data = elf_getdata(section, NULL);
    if (data != NULL && data->d_buf != NULL && data->d_size != 0)
        *span = (struct dwarf_span){data->d_buf, data->d_size};
}

bool dwarf_session_sections(Dwarf *dwarf, struct dwarf_sections *sections_out)
{
    struct dwarf_sections sections = {.info = {.bytes = NULL}};
    Elf *elf = dwarf_getelf(dwarf);
    Elf_Scn *section = NULL;
    GElf_Ehdr header;
    size_t names;

    /* What is not linked yet has places to be filled in. */
    if (elf == NULL || gelf_getehdr(elf, &header) == NULL || header.e_type == ET_REL ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || elf_getshdrstrndx(elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(elf, section)) != NULL)
        take_section(&sections, elf, section, names);
    *sections_out = sections;
    return sections.info.bytes != NULL && sections.abbrev.bytes != NULL;
}

/* ---- packages ---------------------------------------------------------------------------------------------------- */

/* Also of those that somebody has compressed. */
static void take_package_section(struct dwarf_package_file *file, Elf_Scn *section, size_t names)
{
    GElf_Shdr header;
    const char *name;
    Elf_Data *data;

    if (gelf_getshdr(section, &header) == NULL)
        return;
    if ((header.sh_flags & SHF_COMPRESSED) != 0)
        (void)elf_compress(section, 0, 0);
    take_section(&file->sections, file->elf, section, names);
    name = elf_strptr(file->elf, names, header.sh_name);
    if (name == NULL || strcmp(name, ".debug_cu_index") != 0 || gelf_getshdr(section, &header) == NULL ||
        (header.sh_flags & SHF_COMPRESSED) != 0)
        return;
    data = elf_getdata(section, NULL);
    if (data != NULL && data->d_buf != NULL)
        file->index = (struct dwarf_span){data->d_buf, data->d_size};
}

static int open_package(struct dwarf_package_file *file, const char *path)
{
    Elf_Scn *section = NULL;
    size_t names;

    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0)
        return -ENOENT;
    (void)elf_version(EV_CURRENT);
    file->elf = elf_begin(file->fd, ELF_C_READ_MMAP_PRIVATE, NULL);
    if (file->elf == NULL) {
        close(file->fd);
        return -ENOENT;
    }
    if (elf_getshdrstrndx(file->elf, &names) == 0)
        while ((section = elf_nextscn(file->elf, section)) != NULL)
            take_package_section(file, section, names);
    if (file->sections.info.bytes != NULL && file->sections.abbrev.bytes != NULL && file->index.bytes != NULL)
        return 0;
    dwarf_package_file_close(file);
    return -ENOENT;
}

int dwarf_package_file_open(struct dwarf_package_file *file, const char *program)
{
    char *path;
    int result;

    *file = (struct dwarf_package_file){.elf = NULL};
    if (asprintf(&path, "%s.dwp", program) < 0)
        return -ENOENT;
    result = open_package(file, path);
    free(path);
    return result;
}

void dwarf_package_file_close(struct dwarf_package_file *file)
{
    if (file->elf != NULL) {
        (void)elf_end(file->elf);
        close(file->fd);
    }
    *file = (struct dwarf_package_file){.elf = NULL};
}
