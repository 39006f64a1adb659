#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Somebody attaches and leaves, again and again, while threads wait in system calls for signals that come at any moment: a
# call that a handler ends is not begun again instead, for which the thread would wait for good.
# configurations: debug-gcc
# time limit: 180 s
# needs: followed-programs
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

program=$PWD/build/tests/programs/signal_suspend
visits_wanted=60

# visit options...: until it has been attached to as often
visit() {
    local visits=0 pid
    "$program" 1000000 >"$folder/out" 2>"$folder/err" &
    pid=$!
    started+=("$pid")
    sleep 0.1
    while ((visits < visits_wanted)) && kill -0 "$pid" 2>/dev/null; do
        timeout --preserve-status -s INT -k 60 0.05 "$gait" attach --quiet -o "$folder/traces" --overflow drop "$@" "$pid" \
            >"$folder/attached" 2>&1 && visits=$((visits + 1))
        rm -rf "$folder/traces"
    done
    check "it is there after $visits visits with $*" test $visits == $visits_wanted
    check "its threads still go on after visits with $*" goes_on "$pid"
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
}

# Whether its first thread, which waits for all others each time, does something.
goes_on() {
    local before now tries
    before=$(switches "$1")
    for ((tries = 0; tries < 100; tries++)); do
        sleep 0.05
        now=$(switches "$1")
        ((now > before + 20)) && return 0
    done
    return 1
}

switches() {
    awk '/^voluntary_ctxt_switches/ { print $2 }' "/proc/$1/task/$1/status"
}

visit --follow none
visit --follow call,ret
visit --hook '*'
finish
