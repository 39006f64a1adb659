/* SPDX-License-Identifier: MIT */
/*
 * libdwfl reads registers and memory of the stopped thread itself. What it knows of a process's files is kept from one
 * call to the next, and looked over each time, since programs load and unload.
 */
#include "source/call_stack.h"

#include "source/system_call_event.h"

#include <elfutils/libdwfl.h>

#define FRAMES_MAX 256

static struct {
    Dwfl *dwfl;
    int pid;
} known;

struct frames {
    FILE *stream;
    unsigned count;
};

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_linux_proc_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
};

bool call_stack_is_there(void)
{
    return true;
}

void call_stack_forget(void)
{
    if (known.dwfl != NULL)
        dwfl_end(known.dwfl);
    known.dwfl = NULL;
    known.pid = 0;
}

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
        call_stack_forget();
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

void call_stack_put(FILE *stream, const struct system_call_event *event)
{
    struct frames frames = {.stream = stream};

    if (look_at(event->pid))
        (void)dwfl_getthread_frames(known.dwfl, event->tid, take_frame, &frames);
    else
        call_stack_forget();
    if (frames.count == 0)
        fputs(" > (not known)\n", stream);
}
