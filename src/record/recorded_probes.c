/* SPDX-License-Identifier: MIT */
/* Records name probes by their places in the list: an entry that does not say the next one ends it. */
#include "record/recorded_probes.h"

#include "hosted/growing_array.h"
#include "ring/probe_log.h"
#include "trace/manifest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void free_texts(struct manifest_probe *probe)
{
    free(probe->provider);
    free(probe->name);
    free(probe->arguments);
    free(probe->path);
}

/* Copies the next text, which stands behind those that were copied before. */
static char *take_text(const char **at, uint32_t bytes)
{
    char *text = strndup(*at, bytes);

    *at += bytes;
    return text;
}

static int add(struct manifest_process *process, const struct probe_log_entry *entry)
{
    const char *at = entry->texts;
    struct manifest_probe *probe;

    if (ARRAY_RESERVE_NEXT(process->probes, process->probe_count) != 0)
        return -ENOMEM;
    probe = &process->probes[process->probe_count];
    probe->address = entry->probe.address;
    probe->provider = take_text(&at, entry->probe.provider_bytes);
    probe->name = take_text(&at, entry->probe.name_bytes);
    probe->arguments = take_text(&at, entry->probe.arguments_bytes);
    probe->path = take_text(&at, entry->probe.path_bytes);
    if (probe->provider == NULL || probe->name == NULL || probe->arguments == NULL || probe->path == NULL) {
        free_texts(probe);
        return -ENOMEM;
    }
    process->probe_count++;
    return 0;
}

int recorded_probes_take(const struct ring_reader *ring, uint64_t *place_inout, struct manifest_process *process,
                         bool *has_new_out)
{
    struct probe_log_entry entry;
    uint64_t place = *place_inout;

    *has_new_out = false;
    while (probe_log_next(ring, &place, &entry)) {
        int result = entry.probe.number == process->probe_count ? add(process, &entry) : 0;

        if (result != 0)
            return result;
        *place_inout = place;
        *has_new_out = true;
    }
    return 0;
}
