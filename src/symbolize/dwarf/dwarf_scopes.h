/* SPDX-License-Identifier: MIT */
/* The functions of a unit, and what was put into them: a walk over its tree of entries. */
#ifndef GAIT_SYMBOLIZE_DWARF_DWARF_SCOPES_H
#define GAIT_SYMBOLIZE_DWARF_DWARF_SCOPES_H

struct dwarf_reader;

/* Adds those of the unit that the reader is at to its table. What goes wrong is the reader's result. */
void dwarf_scopes_take(struct dwarf_reader *reader);

#endif
