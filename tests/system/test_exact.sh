#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a trace says is what the program says of itself: every call and return, in order, nested as they were; every
# instruction and block of a loop.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

gcc -O1 -g -finstrument-functions -pthread -o "$folder/program" tests/system/programs/says_what_it_does.c || exit 1

# Of lines of gait dump events: those that are about the program's functions, as the program writes them. Calls that
# a long jump has left are those that are as deep as the one that comes, or deeper.
read -r -d '' as_program_says <<'AWK'
{
    kind = NF == 7 ? $4 : $3; depth = NF == 7 ? $5 : $4; from = NF == 7 ? $6 : $5; to = NF == 7 ? $7 : $6
    if (NF == 7) { if ($3 + 0 < last[$2]) { print "time goes back in " $0; exit }; last[$2] = $3 + 0 }
    sub(/\+0x.*/, "", from)
    if (kind == "call" && to ~ /^f_/) {
        while (count[$2] > 0 && depths[$2, count[$2]] >= depth) count[$2]--
        depths[$2, ++count[$2]] = depth; names[$2, count[$2]] = to
        if (to != "f_loop") print $2, "call", to, count[$2]
    }
    if (kind == "ret" && from ~ /^f_/) {
        while (count[$2] > 0 && depths[$2, count[$2]] >= depth) count[$2]--
        if (names[$2, count[$2]] != from || depths[$2, count[$2]] != depth - 1) print "a return of " from " that no call fits"
        if (from != "f_loop") print $2, "ret", from, count[$2]
        count[$2]--
    }
}
AWK

record() {
    rm -rf "$folder/traces"
    "$gait" spawn --quiet -o "$folder/traces" "$@" -- "$folder/program" >"$folder/said" 2>"$folder/err" || fail "spawn $*" "$folder/err"
    "$gait" dump events "$folder"/traces/* >"$folder/events" 2>"$folder/err" || fail "dump of $*" "$folder/err"
}

exact() {
    checks=$((checks + 1))
    record "$@"
    awk -F '\t' -v OFS='\t' "$as_program_says" "$folder/events" | sort -s -n -k 1,1 >"$folder/seen"
    sort -s -n -k 1,1 "$folder/said" >"$folder/expected"
    [[ $(wc -l <"$folder/expected") -gt 3000 ]] || fail "the program says too little"
    diff "$folder/expected" "$folder/seen" >"$folder/diff" || fail "calls with $*" "$folder/diff"
}

exact --follow call,ret
exact --follow call,ret --times
exact --follow call,ret --compress
exact --follow call,ret --buffer 4K --overflow block
exact --follow call,ret,block

checks=$((checks + 1))
record --follow exec
[[ $(grep -c -P '\texec\tf_loop(\+|$)' "$folder/events") == 2002 ]] || fail "instructions of the loop"
checks=$((checks + 1))
record --follow block
[[ $(grep -c -P '\tblock\tf_loop(\+|\t)' "$folder/events") == 1001 ]] || fail "blocks of the loop"

finish
