/* SPDX-License-Identifier: MIT */
#include "report/report_words.h"

#include "arch/arch.h"
#include "symbolize/function_names.h"
#include "view/trace_report.h"

#include <inttypes.h>
#include <stdio.h>

const char *report_place_write(const struct report_place *place, uint64_t address, uint64_t first, uint64_t last,
                               char *text, size_t text_bytes)
{
    const struct modules *modules = &place->report->trace->processes[place->process].modules;
    const struct recorded_module *module = modules_find(modules, address, first, last);

    snprintf(text, text_bytes, "0x%" PRIx64, address);
    if (module != NULL)
        (void)function_names_find(place->names, module, address, text, text_bytes);
    return text;
}

const char *report_register_name(const struct crash_signal *signal, uint32_t number)
{
    const struct arch *arch = arch_by_elf_machine(signal->machine);

    if (number + 2 == signal->register_count)
        return "pc";
    if (number + 1 == signal->register_count)
        return "flags";
    return arch == NULL || number >= arch->register_count ? "?" : arch->register_name(number);
}
