#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What gait counts inside of processes is shown while they are recorded, kept in the trace, also of a process that was
# killed, and said in the report where it means something.
# configurations: debug-gcc
# shellcheck disable=SC2016
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"
gcc -O1 -pthread -o "$folder/unmaps_others" tests/system/programs/unmaps_others.c || exit 1

has_child() { [[ $(cat "/proc/$1/task/$1/children" 2>/dev/null) =~ ^[0-9]+\ $ ]]; }
shows() { "$gait" stats "$1" >"$folder/out" 2>"$folder/err" && grep -q -E "^ +[1-9][0-9]* [a-z]+ +$2  +[a-z]" "$folder/out"; }

# ended_by_kill counter options...: what a program counts is shown, and in the trace when it was killed
ended_by_kill() {
    local counter=$1
    shift
    rm -rf "$folder/traces"
    "$gait" spawn --quiet -o "$folder/traces" "$@" -- perl -e 'sub f { $n++ } f() while 1' 2>"$folder/said" &
    recorder=$!
    started+=("$recorder")
    until_true "a program is recorded" has_child "$recorder"
    program=$(cat "/proc/$recorder/task/$recorder/children")
    program=${program% }
    started+=("$program")
    until_true "gait stats shows $counter" shows "$program" "$counter"
    check "gait stats shows counters that are zero" test -z "$(grep -E '^ +0 [a-z]+ ' "$folder/out")"
    kill -KILL "$program"
    wait "$recorder" 2>/dev/null
    check "$counter of a killed process is not in the trace" \
        grep -q -E "^ *\"counters\": \{.*\"$counter\": [1-9]" "$folder"/traces/*/manifest.json
    "$gait" report "$folder"/traces/* >"$folder/report" 2>&1
    check "the report has $counter, which means nothing for it" test -z "$(grep "$counter" "$folder/report")"
}

ended_by_kill blocks_translated --follow call,ret
ended_by_kill hook_gates_slow --hook 'Perl_pp_*'

# Every process counts for itself.
rm -rf "$folder/traces"
"$gait" spawn --quiet -o "$folder/traces" --follow call,ret -- sh -c '(:); (:); /bin/true' 2>"$folder/err" || fail "a shell that forks"
processes=$(grep -c '"parent_pid"' "$folder"/traces/*/manifest.json)
check "not every one of $processes processes has counters" \
    test "$processes" -ge 3 -a "$(grep -c '"counters": {.*"blocks_translated": [1-9]' "$folder"/traces/*/manifest.json)" = "$processes"

# What the program was made to do otherwise is said.
rm -rf "$folder/traces"
"$gait" spawn --quiet -o "$folder/traces" --follow call,ret -- "$folder/unmaps_others" >"$folder/out" 2>"$folder/err" ||
    fail "a program that unmaps what it does not know"
trace=$(echo "$folder"/traces/*)
"$gait" report "$trace" >"$folder/report" 2>"$folder/err" || fail "the report"
check "the report does not say what was refused" \
    grep -q -E "^process [0-9]+: calls that would have changed memory of gait's were refused, .* \(mappings_refused: [1-9][0-9]* calls\)$" \
    "$folder/report"
"$gait" report --json "$trace" >"$folder/report" 2>"$folder/err" || fail "the report as JSON"
check "the report as JSON does not say what was refused" grep -q '^ *"name": "mappings_refused",$' "$folder/report"

# Traces of a gait that counts something else, or nothing.
sed -i 's/"mappings_refused": /"counted_by_another_gait": /' "$trace/manifest.json"
"$gait" report "$trace" >"$folder/report" 2>"$folder/err" || fail "the report of a trace with a counter that is not known"
check "a counter that is not known is shown" test -z "$(grep counted_by "$folder/report")"
sed -i '/^ *"counters": {/d' "$trace/manifest.json"
check "counters are still there" test -z "$(grep counters "$trace/manifest.json")"
"$gait" report "$trace" >"$folder/report" 2>"$folder/err" || fail "the report of a trace without counters"
check "a trace without counters has no calls" grep -q '^calls ' "$folder/report"
"$gait" verify "$trace" >"$folder/out" 2>"$folder/err" || fail "a trace without counters is bad"

finish
