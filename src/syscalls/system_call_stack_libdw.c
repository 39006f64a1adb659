/* SPDX-License-Identifier: MIT */
/*
 * libdwfl reads registers and memory of the stopped thread itself. What it knows of a process's files is kept from one
 * call to the next, and looked over each time, since programs load and unload.
 */
#include "syscalls/system_call_stack.h"

#include "syscalls/system_call_event.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 256

static struct {
    Dwfl *dwfl;
    int pid;
} known;

/* A file that kept stacks lead to, whether the process lives or not. */
struct known_file {
    struct known_file *next;
    char *path;
    Dwfl *dwfl;
    Dwfl_Module *module; /* NULL: it cannot be read */
};

static struct known_file *files;

/* Names that were found lately: libdwfl goes through all symbols for each. */
#define FOUND_NAMES 4096

static struct {
    const struct known_file *file;
    uint64_t file_offset;
    const char *name; /* libdwfl's, as long as the file is known */
    GElf_Off offset;
} found[FOUND_NAMES];

struct frames {
    FILE *stream;
    unsigned count;
};

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_linux_proc_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
};

static const Dwfl_Callbacks file_callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

bool system_call_stack_is_there(void)
{
    return true;
}

static void forget_file(struct known_file *file)
{
    if (file->dwfl != NULL)
        dwfl_end(file->dwfl);
    free(file->path);
    free(file);
}

static void forget_process(void)
{
    if (known.dwfl != NULL)
        dwfl_end(known.dwfl);
    known.dwfl = NULL;
    known.pid = 0;
}

void system_call_stack_forget(void)
{
    forget_process();
    memset(found, 0, sizeof(found));
    while (files != NULL) {
        struct known_file *next = files->next;

        forget_file(files);
        files = next;
    }
}

/* ---- frames of files --------------------------------------------------------------------------------------------- */

static struct known_file *file_of(const char *path)
{
    struct known_file *file = files;

    while (file != NULL && strcmp(file->path, path) != 0)
        file = file->next;
    if (file != NULL)
        return file;
    file = calloc(1, sizeof(*file));
    if (file == NULL)
        return NULL;
    file->path = strdup(path);
    file->dwfl = dwfl_begin(&file_callbacks);
    if (file->path == NULL || file->dwfl == NULL) {
        forget_file(file);
        return NULL;
    }
    dwfl_report_begin(file->dwfl);
    file->module = dwfl_report_offline(file->dwfl, path, path, -1);
    dwfl_report_end(file->dwfl, NULL, NULL);
    file->next = files;
    files = file;
    return file;
}

/* The address that a place in a file is linked for. False: it is in no part that is loaded. */
static bool find_address(Elf *elf, uint64_t file_offset, GElf_Addr *address_out)
{
    size_t count;
    GElf_Phdr part;

    if (elf == NULL || elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf, (int)i, &part) != NULL && part.p_type == PT_LOAD && file_offset >= part.p_offset &&
            file_offset - part.p_offset < part.p_filesz) {
            *address_out = part.p_vaddr + (file_offset - part.p_offset);
            return true;
        }
    return false;
}

/* The call before it decides about the name: it may be the last instruction of its function. */
static const char *find_name(const struct known_file *file, GElf_Addr address, GElf_Off *offset_out)
{
    GElf_Sym symbol;
    const char *name = dwfl_module_addrinfo(file->module, address - 1, offset_out, &symbol, NULL, NULL, NULL);

    ++*offset_out;
    /* Where handlers return to nobody has called them. */
    return name != NULL ? name : dwfl_module_addrinfo(file->module, address, offset_out, &symbol, NULL, NULL, NULL);
}

static void put_kept_frame(FILE *stream, const struct call_frame *frame)
{
    const struct known_file *file = frame->path == NULL ? NULL : file_of(frame->path);
    size_t which = (frame->file_offset ^ (uintptr_t)file / sizeof(*file)) % FOUND_NAMES;
    GElf_Addr address;
    Dwarf_Addr bias = 0;

    if (file == NULL || file->module == NULL ||
        !find_address(dwfl_module_getelf(file->module, &bias), frame->file_offset, &address)) {
        fprintf(stream, " > %s() [0x%lx]\n", frame->path == NULL ? "unknown" : frame->path,
                (unsigned long)frame->address);
        return;
    }
    if (found[which].file != file || found[which].file_offset != frame->file_offset) {
        found[which].name = find_name(file, address + bias, &found[which].offset);
        found[which].file = file;
        found[which].file_offset = frame->file_offset;
    }
    if (found[which].name != NULL)
        fprintf(stream, " > %s(%s+0x%lx) [0x%lx]\n", file->path, found[which].name, (unsigned long)found[which].offset,
                (unsigned long)address);
    else
        fprintf(stream, " > %s() [0x%lx]\n", file->path, (unsigned long)address);
}

/* ---- frames of a stopped thread ---------------------------------------------------------------------------------- */

/* The instruction that `within` is in decides about the name; pc is where the thread goes on. */
static void put_frame(FILE *stream, Dwarf_Addr within, Dwarf_Addr pc)
{
    GElf_Off offset = 0;
    GElf_Sym symbol;
    const char *name, *file;
    Dwarf_Addr bias = 0, start = 0;
    Dwfl_Module *module = dwfl_addrmodule(known.dwfl, within);

    if (module == NULL) {
        fprintf(stream, " > unknown() [0x%lx]\n", (unsigned long)pc);
        return;
    }
    name = dwfl_module_addrinfo(module, within, &offset, &symbol, NULL, NULL, NULL);
    file = dwfl_module_info(module, NULL, &start, NULL, NULL, NULL, NULL, NULL);
    if (dwfl_module_getelf(module, &bias) == NULL)
        bias = start;
    if (name != NULL)
        fprintf(stream, " > %s(%s+0x%lx) [0x%lx]\n", file, name, (unsigned long)(offset + pc - within),
                (unsigned long)(pc - bias));
    else
        fprintf(stream, " > %s() [0x%lx]\n", file, (unsigned long)(pc - bias));
}

static int take_frame(Dwfl_Frame *frame, void *context)
{
    struct frames *frames = context;
    Dwarf_Addr pc;
    bool is_activation;

    if (frames->count++ == FRAMES_MAX || !dwfl_frame_pc(frame, &pc, &is_activation))
        return DWARF_CB_ABORT;
    /* A return address may be the first of the next function. */
    put_frame(frames->stream, is_activation ? pc : pc - 1, pc);
    return DWARF_CB_OK;
}

static bool look_at(int pid)
{
    if (known.pid != pid)
        forget_process();
    if (known.dwfl == NULL) {
        known.dwfl = dwfl_begin(&callbacks);
        if (known.dwfl == NULL || dwfl_linux_proc_report(known.dwfl, pid) != 0 ||
            dwfl_report_end(known.dwfl, NULL, NULL) != 0 || dwfl_linux_proc_attach(known.dwfl, pid, true) != 0)
            return false;
        known.pid = pid;
        return true;
    }
    dwfl_report_begin(known.dwfl);
    return dwfl_linux_proc_report(known.dwfl, pid) == 0 && dwfl_report_end(known.dwfl, NULL, NULL) == 0;
}

void system_call_stack_put(FILE *stream, const struct system_call_event *event)
{
    struct frames frames = {.stream = stream};

    for (size_t i = 0; event->frames != NULL && i < event->frame_count; i++)
        put_kept_frame(stream, &event->frames[i]);
    if (event->frames != NULL)
        return;
    if (look_at(event->pid))
        (void)dwfl_getthread_frames(known.dwfl, event->tid, take_frame, &frames);
    else
        forget_process();
    if (frames.count == 0)
        fputs(" > (not known)\n", stream);
}
