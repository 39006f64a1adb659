#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Functions as people name them: what they mean, and what is said where that cannot be recorded.
# configurations: debug-gcc
# shellcheck disable=SC2016
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

gcc -O1 -o "$folder/short_functions" tests/system/programs/short_functions.c || exit 1

# records status options... -- program...: gait ends with that status; $trace is what it wrote, $folder/err what it said
records() {
    local expected=$1 status
    shift
    checks=$((checks + 1))
    rm -rf "$folder/traces"
    "$gait" spawn -o "$folder/traces" "$@" >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    [[ $status == "$expected" ]] || fail "$*: status $status"
    trace=$(echo "$folder"/traces/*)
}

# said "text": gait said so
said() { check "never said: $1" grep -q -F -- "$1" "$folder/err"; }

# reported "text": the report has a line with it
reported() {
    "$gait" report "$trace" >"$folder/report" 2>&1
    check "not reported: $1" grep -q -F -- "$1" "$folder/report"
}

# has_calls name number: so many calls of a function whose name ends so are in the trace
has_calls() {
    local calls
    calls=$("$gait" dump events "$trace" 2>/dev/null | awk -F '\t' -v name="$1" \
        '$4 == "enter" && substr($6, length($6) - length(name) + 1) == name' | wc -l)
    check "$1: $calls calls, not $2" test "$calls" = "$2"
}

# has_functions number: of so many functions there are calls
has_functions() {
    local count
    count=$("$gait" dump events "$trace" 2>/dev/null | awk -F '\t' '$4 == "enter" { print $6 }' | sort -u | wc -l)
    check "$count functions, not $1" test "$count" = "$1"
}

# ---- what cannot be hooked is said, and nothing else is

records 125 --hook tight -- "$folder/short_functions"
said 'but not all that was asked for'
said 'short_functions!tight was not hooked: it is too short'
reported 'not hooked short_functions!tight: it is too short'
reported 'lost       nothing of what was hooked'
records 3 --hook tight --hook twice -- "$folder/short_functions"
said 'short_functions!tight was not hooked: it is too short'
has_functions 1
records 125 --arg 'tight:int' -- "$folder/short_functions"
records 3 --hook twice -- "$folder/short_functions"
said 'nothing lost'

# ---- what is looked at closely is all that is hooked

records 3 --arg 'twice:int->int' -- "$folder/short_functions"
has_functions 1
reported 'twice(21) = 42'
records 3 --stack thrice -- "$folder/short_functions"
has_functions 1
records 3 --detail twice --hook thrice -- "$folder/short_functions"
has_functions 1
has_calls thrice 1

echo "$checks checks, $failures failures"
[[ $failures == 0 ]]
