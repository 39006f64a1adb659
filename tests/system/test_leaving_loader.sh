#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Who leaves a process while its threads load libraries, and signals come, waits for those that are in code of ours since
# something was loaded. The program is tests/system/programs/loading_loop.c.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

gcc -O1 -g -pthread -o "$folder/program" tests/system/programs/loading_loop.c -ldl || exit 1
echo 'int loaded(int value) { return value + 1; }' >"$folder/library.c"
gcc -O1 -g -shared -fPIC -o "$folder/library.so" "$folder/library.c" || exit 1

mkfifo "$folder/words"
"$folder/program" "$folder/library.so" <"$folder/words" >"$folder/said" &
program=$!
started+=("$program")
exec 9>"$folder/words"
is_ready() { grep -q ready "$folder/said"; }
until_true 'the program loads' is_ready

is_recorded() { [[ -n $(find "$folder/traces" -name '*.index.gait' -size +1k 2>/dev/null) ]]; }

ways=(--hook "*" --follow call)
for ((round = 0; round < 12; round++)); do
    rm -rf "$folder/traces"
    "$gait" attach --quiet -o "$folder/traces" "${ways[@]:round % 2 * 2:2}" "$program" >"$folder/out" 2>"$folder/err" &
    recorder=$!
    started+=("$recorder")
    until_true "round $round: it is recorded" is_recorded
    sleep "0.$((RANDOM % 300 + 100))"
    kill -INT "$recorder"
    wait "$recorder"
    check "round $round: leaving fails" test $? = 0
    kill -0 "$program" 2>/dev/null || { fail "round $round: the program has died"; break; }
done
exec 9>&-
wait "$program"
check "the program ends with another status" test $? = 0
check "the program does not work any more" grep -q well "$folder/said"
finish
