#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Where a program does what cannot be followed it goes on natively, at exactly that place, and that is said: when the
# recording ends, in the trace, and by gait report.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"
gcc -O1 -o "$folder/far_branches" tests/system/programs/far_branches.c || exit 1
gcc -O1 -pthread -o "$folder/without_memory" tests/system/programs/without_memory.c || exit 1
gcc -O1 -pthread -o "$folder/without_descriptors" tests/system/programs/without_descriptors.c || exit 1

# left_by events program: records it, and leaves what was said in $folder/said and the report in $folder/report
left_by() {
    local events=$1 program=$2
    rm -rf "$folder/traces"
    "$program" >"$folder/native" 2>&1
    "$gait" spawn -o "$folder/traces" --follow "$events" -- "$program" >"$folder/out" 2>"$folder/said"
    check "${program##*/} with $events: another status" test $? = 0
    check "${program##*/} with $events: another output" cmp -s "$folder/native" "$folder/out"
    "$gait" report "$folder"/traces/* >"$folder/report" 2>&1
    "$gait" verify "$folder"/traces/* >"$folder/err" 2>&1 || fail "${program##*/} with $events: a bad trace"
}

gcc -O1 -o "$folder/unmaps_others" tests/system/programs/unmaps_others.c || exit 1

for events in none call,ret block; do
    left_by $events "$folder/far_branches"
    check "nobody says that it was left" grep -q '^gait: 1 thread was not followed to the end' "$folder/said"
    check "the report does not say where and why" \
        grep -q '^thread [0-9]* at far_return+0x[0-9a-f]*: gait does not know how to follow this instruction: 48 cb ' "$folder/report"
    check "the trace does not say it" grep -q '"why": "instruction"' "$folder"/traces/*/manifest.json
    left_by $events "$folder/without_descriptors"
    # Who may raise any limit has descriptors all the same.
    (ulimit -Hn 5 && ulimit -Hn 6) 2>/dev/null ||
        check "without descriptors: the report does not say why" grep -q 'the code there cannot be read' "$folder/report"
    left_by $events "$folder/without_memory"
    check "without memory: the report does not say it" grep -q 'no memory left to follow the new thread' "$folder/report"
    # Not left, since it does not get what it wants.
    left_by $events "$folder/unmaps_others"
    check "a program that unmaps what it does not know is left" test -z "$(grep 'not followed' "$folder/said")"
done

# The counter of time, which stubs and the agent read.
gcc -O1 -o "$folder/without_counter" tests/system/programs/without_counter.c || exit 1
"$gait" spawn --quiet -o "$folder/hooked" --hook '*' -- "$folder/without_counter" >"$folder/out" 2>&1
check "without the counter, hooked: another status" test $? = 0
check "without the counter, hooked: another output" test "$(tail -n 1 "$folder/out")" = 99
"$gait" report "$folder"/hooked/* >"$folder/report" 2>&1
check "without the counter not all calls are told" grep -qE ' 100 .* work ' "$folder/report"
for option in --follow=none '--hook=*'; do
    # What the one before has said is not to be taken for what this one says.
    rm -f "$folder/out"
    "$folder/without_counter" >"$folder/out" &
    pid=$!
    until [[ -s $folder/out ]]; do sleep 0.05; done
    rm -rf "$folder/attached"
    timeout 60 "$gait" attach -o "$folder/attached" "${option%%=*}" "${option#*=}" "$pid" >"$folder/said" 2>&1
    status=$?
    if [[ $option == --hook* ]]; then
        [[ $status == 0 ]] || fail "attached to without the counter: not hooked" "$folder/said"
        "$gait" report "$folder"/attached/* >"$folder/report" 2>&1
        check "attached to without the counter: calls are not told" grep -qE ' [0-9]+ .* work ' "$folder/report"
    else
        check "attached to without the counter: not refused" test $status = 1
        check "attached to without the counter: nobody says why" grep -q 'counter of time' "$folder/said"
    fi
    wait "$pid"
    check "attached to without the counter with $option: it has ended otherwise" test $? = 0
    check "attached to without the counter with $option: another output" test "$(tail -n 1 "$folder/out")" = 99
done

finish
