#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Recordings in pieces, of which the oldest are deleted: what is left is one trace, with a gap in front.
# configurations: debug-gcc
# shellcheck disable=SC2016
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

# record options... -- program...: sets $trace, and $said is what gait says
record() {
    rm -rf "$folder/traces"
    "$gait" spawn -o "$folder/traces" "$@" >"$folder/out" 2>"$folder/said" </dev/null
    trace=$(echo "$folder"/traces/*)
}

is_good() {
    checks=$((checks + 1))
    "$gait" verify "$trace" >"$folder/out" 2>&1 || fail "$1: a bad trace" "$folder/out"
    "$gait" report "$trace" >"$folder/report" 2>"$folder/err" || fail "$1: no report"
}

pieces_of() { find "$trace" -name "*.index*.gait" | sed 's/.*\.index\.\([0-9]*\)\.\{0,1\}gait$/\1/; s/.*gait$/1/' | sort -nu; }

# All pieces together have all events.
record --rotate 64K --follow call,ret -- perl -e 'sub f { $n++ } f() for 1 .. 200000'
is_good "all pieces"
check "there is only one piece" [ "$(pieces_of | wc -l)" -ge 2 ]
check "the report does not count pieces" grep -E -q '^pieces     [0-9]+$' "$folder/report"
told=$(sed -n 's/^gait: recorded \([0-9,]*\) events.*/\1/p' "$folder/said" | tr -d ,)
read_back=$(awk '$3 == "perl" && $4 ~ /^[0-9]+$/ { print $4 + $5 }' "$folder/report")
check "$told events are told, $read_back are in the pieces" [ "$told" == "$read_back" ]
"$gait" dump events "$trace" >"$folder/events" 2>"$folder/err"
check "not all events can be dumped" [ "$(wc -l <"$folder/events")" == "$told" ]
check "there is a gap where nothing is missing" [ "$(grep -c 'gap$' "$folder/events")" == 0 ]
# What was called in one piece returns in another: nothing returns more often than it was called.
check "calls are not carried from piece to piece" [ "$(awk '$4 < 0' "$folder/events" | wc -l)" == 0 ]

# The oldest go.
record --rotate 64K --keep 2 --compress --follow call,ret -- perl -e 'sub f { $n++ } f() for 1 .. 400000'
is_good "the last pieces"
check "not two pieces are kept, but $(pieces_of | xargs)" [ "$(pieces_of | wc -l)" -le 2 ]
check "the first piece is kept" [ "$(pieces_of | head -n 1)" -gt 1 ]
check "the report does not tell what is deleted" \
    grep -E -q '^pieces     the last 2 of [0-9]+; what came before [0-9.]+ s is deleted$' "$folder/report"
check "nobody says that something was deleted" grep -E -q '^gait: the oldest [0-9]+ pieces? w(as|ere) deleted' "$folder/said"
"$gait" dump events "$trace" 2>"$folder/err" | head -n 1 >"$folder/events"
check "there is no gap where pieces are missing" grep -q $'\tgap$' "$folder/events"
size=$(find "$trace" -name '*.gait' -printf '%s\n' | awk '{ n += $1 } END { printf "%.1f", n / 1024 }')
check "$size KiB are left, something else is told" grep -q -F "$size KiB in " "$folder/said"

# Somebody else deletes one, behind the first; in which piece that is depends on how often somebody looked.
record --rotate 64K --follow call,ret -- perl -e 'sub f { $n++ } f() for 1 .. 200000'
check "there is no second piece" rm "$(find "$trace" -name '*.index.[0-9]*.gait' | sort -V | head -n 1)"
checks=$((checks + 1))
"$gait" verify "$trace" >"$folder/out" 2>&1 && fail "a piece that is missing is not missed"
check "nobody says that a piece is missing" grep -q 'a piece is missing' "$folder/out"

# With children, threads and windows; and what is old is not kept either.
record --rotate 64K --keep 3 --follow call,ret -- bash -c 'for i in 1 2 3 4 5 6; do perl -e "\$n++ for 1 .. 20000"; done'
is_good "children"
record --rotate 64K --keep 3 --flight --trigger every=100ms --follow call,ret -- perl -e 'sub f { $n++ } f() for 1 .. 400000'
is_good "a flight"

# By age: a program that runs until there are three.
"$gait" spawn -o "$folder/aged" --rotate 1s --keep 2 --sync 1 --follow call,ret -- \
    perl -e 'sub f { $n++ } while (1) { f() for 1 .. 100; select undef, undef, undef, 0.01 }' 2>"$folder/said" &
recorder=$!
started+=("$recorder")
has_third() { compgen -G "$folder/aged/*/*/*.index.3.gait" >"$folder/seen"; }
until_true "a third piece begins" has_third
is_first_gone() { ! compgen -G "$folder/aged/*/*/*.index.gait" >"$folder/seen"; }
until_true "the first piece is deleted" is_first_gone
kill -TERM "$(cat "/proc/$recorder/task/$recorder/children")"
wait "$recorder"
trace=$(echo "$folder"/aged/*)
is_good "pieces by age"

# A recorder that is killed leaves pieces that can be repaired.
for i in 1 2 3 4 5; do
    rm -rf "$folder/traces"
    "$gait" spawn --quiet -o "$folder/traces" --rotate 64K --keep 3 --follow call,ret -- \
        perl -e 'sub f { $n++ } f() while 1' 2>"$folder/err" &
    recorder=$!
    started+=("$recorder")
    # Pieces come and go faster than we look.
    is_far_enough() {
        trace=$(echo "$folder"/traces/*)
        [[ $(pieces_of 2>"$folder/seen" | tail -n 1) -ge $((i * 3)) ]]
    }
    until_true "piece $((i * 3)) begins" is_far_enough
    program=$(cat "/proc/$recorder/task/$recorder/children")
    kill -KILL "$recorder"
    wait "$recorder" 2>"$folder/err"
    kill -KILL "${program% }"
    "$gait" verify --repair "$trace" >"$folder/out" 2>&1
    is_good "a killed recorder"
done

checks=$((checks + 1))
"$gait" spawn --quiet -o "$folder/synced" --sync end -- true 2>"$folder/err" || fail "--sync end does not end"
refuses 2 "--keep is for pieces" spawn --keep 3 true
refuses 2 "--rotate is 10; it should be a size" spawn --rotate 10 true

finish
