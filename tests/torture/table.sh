#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What torture.sh -l has written, as a table: a row for each program, a column for each way and mode. Of lines that say the
# same program, way and mode the last one counts.
#
#   tests/torture/table.sh LOG...
set -euo pipefail

awk -F '\t' '
    BEGIN {
        count = split("spawn attach visits", ways, " ")
        modes_count = split("none call,ret block hook", modes, " ")
        sign["passed"] = "+"; sign["failed"] = "**failed**"; sign["missed"] = "ended"
    }
    !($1 in seen) { order[++programs] = $1; seen[$1] = 1 }
    { result[$1, $2, $3] = sign[$4] ($6 == "-" || $6 == 0 || $6 == 50 ? "" : " (" $6 ")") }
    END {
        printf "| program |"
        for (w = 1; w <= count; w++) for (m = 1; m <= modes_count; m++) printf " %s %s |", ways[w], modes[m]
        printf "\n|---|"
        for (w = 1; w <= count * modes_count; w++) printf "---|"
        print ""
        for (p = 1; p <= programs; p++) {
            printf "| %s |", order[p]
            for (w = 1; w <= count; w++) for (m = 1; m <= modes_count; m++)
                printf " %s |", result[order[p], ways[w], modes[m]]
            print ""
        }
    }' "$@"
