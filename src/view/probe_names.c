/* SPDX-License-Identifier: MIT */
#include "view/record_words.h"

#include "view/view_trace.h"

#include <inttypes.h>
#include <stdio.h>

const struct manifest_probe *probe_names_find(const struct view_trace *trace, size_t process, uint64_t number)
{
    const struct view_process *shown = &trace->processes[process];

    for (size_t i = 0; i < trace->manifest.process_count; i++) {
        const struct manifest_process *listed = &trace->manifest.processes[i];

        if (listed->pid == shown->pid && listed->image == shown->image)
            return number < listed->probe_count ? &listed->probes[number] : NULL;
    }
    return NULL;
}

void probe_names_put(const struct view_trace *trace, size_t process, uint64_t number, char *text, size_t text_bytes)
{
    const struct manifest_probe *probe = probe_names_find(trace, process, number);

    if (probe == NULL)
        snprintf(text, text_bytes, "probe %" PRIu64, number);
    else
        snprintf(text, text_bytes, "%s:%s", probe->provider, probe->name);
}
