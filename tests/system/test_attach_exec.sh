#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A process may execute another program while somebody attaches to it: then that one is attached to.
# configurations: debug-gcc
# time limit: 120 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"
gcc -O1 -o "$folder/executes_when_stopped" tests/system/programs/executes_when_stopped.c || exit 1

for option in '--hook=*' --follow=call,ret --follow=none; do
    for round in 1 2 3 4 5; do
        what="$option, round $round"
        rm -rf "$folder/traces"
        "$folder/executes_when_stopped" 3 >"$folder/out" &
        pid=$!
        "$gait" attach -o "$folder/traces" "${option%%=*}" "${option#*=}" "$pid" >"$folder/err" 2>&1
        check "$what: not attached to" test $? = 0
        wait "$pid"
        check "$what: it has ended otherwise" test $? = 0
        check "$what: another output" test "$(<"$folder/out")" = 60
        "$gait" verify "$folder"/traces/* >"$folder/err" 2>&1 || fail "$what: a bad trace"
        [[ $option != --hook* ]] || "$gait" report "$folder"/traces/* >"$folder/report" 2>&1
        [[ $option != --hook* ]] || check "$what: calls are not told" grep -qE ' [0-9]+ .* work ' "$folder/report"
    done
done
finish
