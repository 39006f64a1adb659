#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What torture.sh -l has written, as a table: a row for each program, a column for each way and mode. Of lines that say the
# same program, way and mode the last one counts. Those of stress-ng and our own are a row each, with how many passed, and how
# many of them there are.
#
#   tests/torture/table.sh LOG...
set -euo pipefail

awk -F '\t' '
    function row_of(name) {
        if (name ~ /^checker-/) return "our own"
        if (name ~ /^stress-/) return "stress-ng"
        return name
    }
    function text_of(row, way, mode,    all, passed, missed, failed, text) {
        passed = sum[row, way, mode, "passed"] + 0
        missed = sum[row, way, mode, "missed"] + 0
        failed = sum[row, way, mode, "failed"] + 0
        all = passed + missed + failed
        if (all == 0) return ""
        if (members[row] == 1) {
            if (failed) return "**failed**"
            return missed ? "ended" : way == "visits" ? visits[row, way, mode] : "+"
        }
        text = passed " of " all
        if (missed) text = text ", " missed " ended"
        if (failed) text = text ", **" failed " failed**"
        return text
    }
    BEGIN {
        count = split("spawn attach visits", ways, " ")
        modes_count = split("none call,ret block hook", modes, " ")
    }
    !($1 in seen) {
        seen[$1] = 1
        if (members[row_of($1)]++ == 0) order[++rows] = row_of($1)
    }
    { outcome[$1, $2, $3] = $4; told[$1, $2, $3] = $6 }
    END {
        for (key in outcome) {
            split(key, part, SUBSEP)
            sum[row_of(part[1]), part[2], part[3], outcome[key]]++
            visits[row_of(part[1]), part[2], part[3]] += told[key]
        }
        printf "| program |"
        for (w = 1; w <= count; w++) for (m = 1; m <= modes_count; m++) printf " %s %s |", ways[w], modes[m]
        printf "\n|---|"
        for (w = 1; w <= count * modes_count; w++) printf "---|"
        print ""
        for (p = 1; p <= rows; p++) {
            printf "| %s |", order[p]
            for (w = 1; w <= count; w++) for (m = 1; m <= modes_count; m++)
                printf " %s |", text_of(order[p], ways[w], modes[m])
            print ""
        }
    }' "$@"
