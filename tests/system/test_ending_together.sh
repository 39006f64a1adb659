#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A process that ends while we are stopping its threads to leave it: nobody waits for the other for good, and its end is told
# to whoever started it.
# configurations: debug-gcc
# time limit: 180 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

rounds=12
gcc -O1 -pthread -o "$folder/ends" tests/system/programs/ends_with_threads.c || exit 1

# ends_in_time process: within half a minute
ends_in_time() {
    local tries
    for ((tries = 0; tries < 300; tries++)); do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.1
    done
    return 1
}

# end_both recorder program milliseconds: the second one is asked a little later
end_both() {
    kill -TERM "$1"
    sleep "0.00$3"
    kill -TERM "$2"
}

for options in '--follow none' '--hook *'; do
    read -ra words <<<"$options"
    for ((round = 0; round < rounds; round++)); do
        rm -f "$folder/said"
        "$gait" spawn --quiet -o "$folder/traces" "${words[@]}" -- "$folder/ends" >"$folder/said" 2>"$folder/err" &
        recorder=$!
        started+=("$recorder")
        until_true "it is ready" grep -q -s ready "$folder/said" || break
        program=$(pgrep -x -P "$recorder" ends)
        started+=("$program")
        end_both "$recorder" "$program" $((round % 9))
        ends_in_time "$recorder" || { fail "both end in round $round with $options"; break; }
        wait "$recorder"
        status=$?
        check "the status is the program's in round $round with $options, not $status" test $status == 3
        rm -rf "$folder/traces"
    done
done

for ((round = 0; round < rounds; round++)); do
    rm -f "$folder/said"
    "$folder/ends" >"$folder/said" &
    program=$!
    until_true "it is ready" grep -q -s ready "$folder/said" || break
    "$gait" attach --quiet -o "$folder/traces" --follow none "$program" >"$folder/out" 2>"$folder/err" &
    recorder=$!
    started+=("$recorder" "$program")
    sleep 0.3
    end_both "$recorder" "$program" $((round % 9))
    ends_in_time "$program" || { fail "the program's end is told in round $round"; break; }
    wait "$program"
    status=$?
    check "its status is its own in round $round, not $status" test $status == 3
    ends_in_time "$recorder" || { fail "who had attached ends in round $round"; break; }
    rm -rf "$folder/traces"
done
finish
