/* SPDX-License-Identifier: MIT */
/* The table of peer_figures.def, searched by name. Stateless. */
#include "support/peer_figures.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *workload;
    double ratios[PEER_WAYS]; /* in the order of enum peer_way */
} figures[] = {
#define PEER_FIGURES(workload, ...) {#workload, {__VA_ARGS__}},
#include "support/peer_figures.def"
#undef PEER_FIGURES
};

double peer_figure(const char *workload, enum peer_way way)
{
    for (size_t i = 0; way != PEER_NONE && i < sizeof(figures) / sizeof(figures[0]); i++)
        if (strcmp(figures[i].workload, workload) == 0)
            return figures[i].ratios[way];
    return 0;
}
