/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "programs/runner/exclusions.h"

#include "gait/stalker.h"
#include "programs/runner/failure.h"

#include <link.h>
#include <string.h>

struct search {
    struct gait_stalker *stalker;
    const char *text;
    unsigned count;
};

static int exclude_object(struct dl_phdr_info *object, size_t size, void *context)
{
    struct search *search = context;
    struct gait_error err;

    (void)size;
    if (strstr(object->dlpi_name, search->text) == NULL)
        return 0;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        if (gait_stalker_exclude(search->stalker, object->dlpi_addr + segment->p_vaddr, segment->p_memsz, &err) != 0)
            runner_fail("not excluded:", err.text);
        search->count++;
    }
    return 0;
}

void exclude_objects(struct gait_stalker *stalker, const char *text)
{
    struct search search = {stalker, text, 0};

    dl_iterate_phdr(exclude_object, &search);
    if (search.count == 0)
        runner_fail("no loaded object is called", text);
}
