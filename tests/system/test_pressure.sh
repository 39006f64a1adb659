#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a recording says of itself: how many events, how large, what was lost, who had to wait and why.
# configurations: debug-gcc
# shellcheck disable=SC2016
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

# begin_busy options...: records a program that makes calls for ever; sets $recorder and $program
begin_busy() {
    "$gait" spawn -o "$folder/traces" --follow call,ret "$@" -- perl -e 'sub f { $n++ } f() while 1' 2>"$folder/said" &
    recorder=$!
    started+=("$recorder")
    until_true "a program is recorded" has_child "$recorder"
    program=$(cat "/proc/$recorder/task/$recorder/children")
    program=${program% }
    started+=("$program")
    until_true "gait stats has an answer" has_events "$program"
}

has_child() { [[ $(cat "/proc/$1/task/$1/children" 2>/dev/null) =~ ^[0-9]+\ $ ]]; }
has_events() { "$gait" stats "$1" 2>/dev/null | grep -q '^events  *[1-9]'; }
sleeps() { grep -q '^State:.S' "/proc/$1/status" 2>/dev/null; }
is_stopped() { grep -q '^State:.T' "/proc/$1/status" 2>/dev/null; }

end_busy() {
    kill -TERM "$program"
    wait "$recorder" 2>/dev/null
    trace=$(sed -n 's/^gait: recorded .* in \(.*\)$/\1/p' "$folder/said")
}

# Threads wait for a recorder that does nothing; all of it is told, while it lasts and afterwards.
begin_busy --verbose --buffer 64K
kill -STOP "$recorder"
until_true "the recorder stands still" is_stopped "$recorder"
until_true "the program waits for it" sleeps "$program"
kill -CONT "$recorder"
has_waited() { "$gait" stats "$program" >"$folder/out" 2>"$folder/err" && ! grep -q 'waited 0 ns' "$folder/out"; }
until_true "gait stats tells that the program has waited" has_waited
check "stats tells no events" grep -q '^events  *[1-9][0-9]*, [1-9][0-9]* a second, now [0-9]* a second$' "$folder/out"
check "stats tells no lanes" grep -q '^lanes      [0-9]* filling, [0-9]* waiting, 0 dropping, [0-9]* free$' "$folder/out"
check "stats does not list the thread" \
    grep -E -q "^ *$program  *$program  perl  *index  *(filling|waiting)  .* [1-9][0-9]*  *[0-9.]* [num]?s  *0$" "$folder/out"
end_busy
check "it is not said how long threads waited" \
    grep -E -q '^gait: threads waited [0-9.]+ [num]?s for the disk, [0-9,]+ times?;' "$folder/said"
check "a recording that waits loses something" grep -q '^gait: recorded [0-9,]* events in [0-9.]* [num]*s, nothing lost: .* [KMG]iB in ' \
    "$folder/said"
"$gait" report "$trace" >"$folder/report" 2>"$folder/err"
check "the report does not tell who waited" \
    grep -E -q "^ *[0-9]+ +$program  perl .* 0 +[0-9.]+ [num]?s$" "$folder/report"
check "the manifest does not tell who waited" grep -E -q '"waits": [1-9][0-9]*, "waited_ns": [1-9]' "$trace/manifest.json"
"$gait" verify "$trace" >"$folder/out" 2>&1 || fail "a bad trace" "$folder/out"

# The number of events is that of the trace.
count=$(sed -n 's/^gait: recorded \([0-9,]*\) events.*/\1/p' "$folder/said" | tr -d ,)
in_trace=$(awk '$2 == '"$program"' && $3 == "perl" { print $4 + $5 }' "$folder/report")
check "$count events are told, $in_trace are in the trace" [ "$count" == "$in_trace" ]
# And so is the size: all files but the manifest.
size=$(find "$trace" -name '*.gait' -printf '%s\n' | awk '{ n += $1 } END { printf "%.1f", n / 1048576 }')
check "$size MiB are not told" grep -q "nothing lost: $size MiB in" "$folder/said"

# What is dropped is told with its reason.
begin_busy --overflow drop --buffer 64K
# The recorder stands still for a while; is something lost then?
has_lost() {
    kill -STOP "$recorder"
    sleep 0.1
    kill -CONT "$recorder"
    "$gait" stats "$program" >"$folder/out" 2>"$folder/err" && ! grep -q '^lost  *0 bytes' "$folder/out"
}
until_true "gait stats tells that something is lost" has_lost
end_busy
check "losses are not told" grep -q 'some lost: ' "$folder/said"
check "nobody says what helps" grep -q 'of event records were lost.*--overflow block' "$folder/said"

finish
