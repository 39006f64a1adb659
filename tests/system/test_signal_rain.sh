#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program that gets ten thousand signals a second is attached to and left all the same.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"
gcc -O1 -o "$folder/signal_rain" tests/system/programs/signal_rain.c || exit 1

for option in --follow=none --follow=call,ret '--hook=*'; do
    "$folder/signal_rain" >"$folder/out" &
    pid=$!
    until [[ -s $folder/out ]]; do sleep 0.05; done
    rm -rf "$folder/traces"
    timeout -k 5 60 "$gait" attach -o "$folder/traces" --duration 1 "${option%%=*}" "${option#*=}" "$pid" >"$folder/said" 2>&1
    check "with $option: not attached to, or not left" test $? = 0
    check "with $option: it was not left while it ran" kill -0 "$pid"
    wait "$pid"
    check "with $option: another status" test $? = 0
    check "with $option: another output" test "$(tail -n 1 "$folder/out")" = 1
done

finish
