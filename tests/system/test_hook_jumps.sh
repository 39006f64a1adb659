#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A signal handler may jump out of the code that tells of a hooked function, at each of its instructions: what comes
# afterwards is told all the same. The program is tests/system/programs/stepped_jumps.c.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

gcc -g -O1 -o "$folder/program" tests/system/programs/stepped_jumps.c || exit 1

# count_calls name calls options...: all calls are in the trace, which is good
count_calls() {
    local name=$1 calls=$2 seen
    shift 2
    checks=$((checks + 1))
    "$gait" spawn --quiet -o "$folder/$name" "$@" -- "$folder/program" "$calls" >"$folder/out" 2>"$folder/err" ||
        fail "$name: the program fails" "$folder/out"
    seen=$("$gait" dump events "$folder/$name"/* 2>"$folder/err" | grep -c '	enter	.*undisturbed')
    [[ $seen == "$calls" ]] || fail "$name: $seen of $calls calls are told"
    check "$name: a bad trace" "$gait" verify "$folder/$name"/* >"$folder/out" 2>"$folder/err"
}

# What is in the last buffer, which is not full; in a full one (not before the stepping is over: where gates go on to the
# next buffer signals are blocked, and steps would be deadly); and where the handler may also jump out of a listener.
count_calls last 3000 --buffer 1M
count_calls full 60000 --buffer 1M
count_calls details 3000 --hook '*' --detail stepped --buffer 1M
finish
