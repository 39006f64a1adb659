/* SPDX-License-Identifier: MIT */
/*
 * The files that debug information of a program or library is in, found and opened by libdwfl: in the file itself,
 * beside it, by build ID, or from a server. One thread at a time. Part of builds with libdw only.
 */
#ifndef GAIT_SYMBOLIZE_DWARF_DWARF_SESSION_H
#define GAIT_SYMBOLIZE_DWARF_DWARF_SESSION_H

#include "base/attributes.h"
#include "symbolize/dwarf/dwarf_extent.h"
#include "symbolize/dwarf/dwarf_file.h"

#include <elfutils/libdwfl.h>

struct dwarf_session {
    Dwfl_Callbacks callbacks;
    char *folders;
    Dwfl *session;
    Dwarf *dwarf;
    struct dwarf_extent extent;
};

/* As dwarf_code_open; it must stay where it is. */
MUST_USE int dwarf_session_begin(struct dwarf_session *session, const char *path, const char *folders);
/* One that is all zeroes is fine. */
void dwarf_session_end(struct dwarf_session *session);

/*
 * The sections of an open file, as bytes, no longer packed; they stay as long as it is open. False: they are in a form
 * that nobody should read but libdw.
 */
bool dwarf_session_sections(Dwarf *dwarf, struct dwarf_sections *sections_out);

/* A package of split units that is beside a program. */
struct dwarf_package_file {
    Elf *elf; /* NULL: there is none */
    int fd;
    struct dwarf_sections sections;
    struct dwarf_span index;
};

/* -ENOENT: there is none for the program at that path. The caller gives it back. */
MUST_USE int dwarf_package_file_open(struct dwarf_package_file *file, const char *program);
/* One that is all zeroes is fine. */
void dwarf_package_file_close(struct dwarf_package_file *file);

#endif
