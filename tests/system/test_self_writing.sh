#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program that has its own memory open before somebody attaches runs the code that it wrote there last.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

gcc -O1 -o "$folder/writes_itself" tests/system/programs/writes_itself.c || exit 1
for events in none block; do
    rm -f "$folder/said"
    "$folder/writes_itself" >"$folder/said" &
    pid=$!
    started+=("$pid")
    until_true "it is ready" grep -q -s ready "$folder/said" || continue
    "$gait" attach --quiet --follow $events --duration 1 -o "$folder/traces" "$pid" >"$folder/out" 2>"$folder/err"
    check "attaching with $events" test $? == 0
    wait "$pid"
    check "with $events it runs what it wrote" grep -q "wrong 0 times" "$folder/said"
done
finish
