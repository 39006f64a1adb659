#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Breakpoints that the kernel has put into code for somebody who watches a place of it (uprobes) do no harm to a program
# that is followed, and what followed threads miss of them is counted; those that a program puts into its own code stay.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"
gcc -O1 -o "$folder/own_breakpoint" tests/system/programs/own_breakpoint.c || exit 1
"$folder/own_breakpoint" >"$folder/native"

for events in none call,ret block exec; do
    "$gait" spawn --quiet -o "$folder/own" --follow "$events" -- "$folder/own_breakpoint" >"$folder/out" 2>"$folder/err"
    check "own breakpoints with $events: another status" test $? = 0
    check "own breakpoints with $events: another output" cmp -s "$folder/native" "$folder/out"
done

"$gait" doctor --json | grep -q '"subject": "uprobe".*"works": "yes"' || finish
gcc -O1 -g -Iinclude -o "$folder/probed" tests/system/programs/probed_program.c || exit 1
"$folder/probed" >"$folder/native" 2>&1
native=$?
"$gait" probe "uprobe:$folder/probed:add_up" >"$folder/seen" 2>/dev/null &
started+=($!)
# It is there when it is seen.
until_true "nothing is watched" sh -c "'$folder/probed' >/dev/null 2>&1; grep -q add_up '$folder/seen'"
for events in none call,ret block exec; do
    "$gait" spawn --quiet -o "$folder/watched" --follow "$events" -- "$folder/probed" >"$folder/out" 2>&1
    check "watched, with $events: another status" test $? = "$native"
    check "watched, with $events: another output" cmp -s "$folder/native" "$folder/out"
done
for trace in "$folder"/watched/*; do
    check "a bad trace" "$gait" verify "$trace" >"$folder/out" 2>"$folder/err"
    "$gait" report "$trace" >"$folder/report" 2>&1
    check "nobody says that the probe missed something" grep -q 'uprobes' "$folder/report"
done
kill -INT "${started[0]}"
wait "${started[0]}"
started=()
finish
