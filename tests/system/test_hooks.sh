#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Recordings by hooks: every call of the hooked functions, in order, nested as they were, of programs that say so
# themselves; with exceptions, long jumps, threads, libraries that come and go, forks and executed programs. And
# programs that nobody here wrote, with all of their functions hooked: the same output, status and files.
# VISITS says how often a process is attached to and left.
# configurations: debug-gcc
# time limit: 300 s
# shellcheck disable=SC2016
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

g++ -O1 -g -pthread -o "$folder/calls" tests/system/programs/hooked_calls.cc || exit 1

# record program options...: what gait dump events says is in $folder/events, the program's output in $folder/said
record() {
    local program=$1
    shift
    rm -rf "$folder/traces"
    "$gait" spawn --quiet -o "$folder/traces" "$@" -- "$program" >"$folder/said" 2>"$folder/err" || fail "spawn $* $program"
    "$gait" verify "$folder"/traces/* >"$folder/verify" 2>&1 || fail "$program with $*: a bad trace" "$folder/verify"
    "$gait" dump events "$folder"/traces/* >"$folder/events" 2>"$folder/err" || fail "dump of $program with $*"
}

# Lines of gait dump events as the programs write them. What a long jump left is not noted by the programs.
read -r -d '' as_program_says <<'AWK'
{
    if ($3 + 0 < last[$2]) { print "time goes back in " $0; exit }
    last[$2] = $3 + 0
    if ($4 == "unwound") unwound++
    if ($4 == "unwound" && $6 == "f_jump") jumped++
    else print $2, $4 == "enter" ? "call" : "ret", $6, $5 + 1
}
END { print unwound + 0, jumped + 0 >"/dev/stderr" }
AWK

# exact program unwound jumped options...
exact() {
    local program=$1 unwound="$2"$'\t'"$3"
    shift 3
    checks=$((checks + 1))
    record "$program" "$@"
    awk -F '\t' -v OFS='\t' "$as_program_says" "$folder/events" 2>"$folder/counts" | sort -s -n -k 1,1 >"$folder/seen"
    # Behind the outermost function of a thread that ends in it comes nobody who would notice.
    grep -v -P '\tret\tf_(exit|cancelled)\t1$' "$folder/said" | sort -s -n -k 1,1 >"$folder/expected"
    [[ $(wc -l <"$folder/expected") -gt 3000 ]] || fail "$program says too little" "$folder/said"
    diff "$folder/expected" "$folder/seen" >"$folder/diff" || fail "calls of $program with $*" "$folder/diff"
    [[ $(cat "$folder/counts") == "$unwound" ]] ||
        fail "$program with $*: unwound, and by long jumps: $(cat "$folder/counts"), expected $unwound"
}

for options in '' '--compress' '--buffer 4K --overflow block'; do
    # shellcheck disable=SC2086
    exact "$folder/calls" 3150 840 --hook 'f_*' $options
done

finish
