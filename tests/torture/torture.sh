#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs that nobody here wrote, in every way that gait has to look at them: their output and status are what they are
# without it.
#
#   tests/torture/torture.sh [-w WAYS] [-m MODES] [-n VISITS] [-t SECONDS] [-l LOG] [PROGRAM...]
#
# WAYS: spawn (from the first instruction), attach (in the middle, until the end), visits (attach and leave, again and
# again, as often as -n says, or 50 times). MODES: none, call,ret, block: as in --follow; hook: all functions of the
# program. Both: a list with spaces. A program that takes longer than -t says, or 900 seconds, has failed. A line for each
# way and mode is added to LOG, of which tests/torture/table.sh makes a table. Who has always ended before somebody could
# attach was missed, which is told there.
set -u
here=$(cd "$(dirname "$0")" && pwd)
gait=${GAIT:-$here/../../build/gait}
# shellcheck source=tests/torture/programs.sh
source "$here/programs.sh"

ways="spawn attach visits"
modes="none call,ret block hook"
visit_count=50
limit=900
log=/dev/null
while getopts w:m:n:t:l: option; do
    case $option in
    w) ways=$OPTARG ;;
    m) modes=$OPTARG ;;
    n) visit_count=$OPTARG ;;
    t) limit=$OPTARG ;;
    l) log=$(realpath "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[[ $# -gt 0 ]] && names=("$@")

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/place"
cd "$folder/place" || exit 1
make_place
failures=0
total=0

say_failure() {
    failures=$((failures + 1))
    echo "FAILED: $*"
}

options_of() {
    if [[ $1 == hook ]]; then echo --hook '*'; else echo --follow "$1"; fi
}

# native_run name: what it does by itself
native_run() {
    local began=${EPOCHREALTIME/./} took
    bash -c "exec ${commands[$1]}" >"$folder/native.out" 2>"$folder/native.err" </dev/null
    native_status=$?
    # When to attach to it: sooner, if it does not take long.
    took=$((${EPOCHREALTIME/./} - began))
    delay=0.3 short_delay=0.05
    ((took > 500000)) || delay=$(printf '0.%06d' $((took / 4)))
    ((took > 200000)) || short_delay=$delay
}

compare() {
    local status=$1
    shift
    checks=$((checks + 1))
    [[ $status == "$native_status" ]] || say_failure "$*: status $status, natively $native_status: $(tail -n 2 "$folder/err" | tr '\n' ' ')"
    cmp -s "$folder/native.out" "$folder/out" ||
        say_failure "$*: another output: $(diff -a "$folder/native.out" "$folder/out" | grep -a '^[<>]' | head -n 4 | cut -c 1-100 | tr '\n' ' ')"
}

spawn_way() {
    local options
    read -ra options <<<"$(options_of "$2")"
    timeout -k 30 "$limit" "$gait" spawn --quiet -o "$folder/traces" --overflow drop "${options[@]}" -- \
        bash -c "exec ${commands[$1]}" >"$folder/out" 2>"$folder/err" </dev/null
    compare $? "$1 by spawn with $2"
    verify "$1 by spawn with $2"
}

verify() {
    local trace
    for trace in "$folder"/traces/*/; do
        [[ -d $trace ]] || continue
        "$gait" verify "$trace" >"$folder/verify" 2>&1 || say_failure "$*: a bad trace: $(tail -n 1 "$folder/verify")"
    done
    rm -rf "$folder/traces"
}

# The processes that a process has, and theirs.
descendants() {
    local child
    # shellcheck disable=SC2013 # a word each
    for child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do
        echo "$child"
        descendants "$child"
    done
}

# Which of the program's processes has worked most: whoever attaches wants to see that one.
busiest() {
    local pid best=$1 most=-1 stat fields
    for pid in "$1" $(descendants "$1"); do
        stat=$(cat "/proc/$pid/stat" 2>/dev/null) || continue
        read -ra fields <<<"${stat##*) }"
        if [[ ${fields[0]} != Z ]] && ((fields[11] + fields[12] > most)); then
            most=$((fields[11] + fields[12])) best=$pid
        fi
    done
    echo "$best"
}

is_there() {
    kill -0 "$1" 2>/dev/null && [[ $(ps -o stat= -p "$1") != Z* ]]
}

# Whether a process that could not be attached to, or gave its own status, is about to end.
goes_away() {
    local tries
    for ((tries = 0; tries < 20; tries++)); do
        is_there "$1" || return 0
        sleep 0.1
    done
    return 1
}

# visit process seconds mode name: attaches, and goes by itself unless the process ends first
visit() {
    local pid=$1 options status
    read -ra options <<<"$(options_of "$3")"
    timeout --preserve-status -s INT -k 60 "$2" "$gait" attach --quiet -o "$folder/traces" --overflow drop \
        "${options[@]}" "$pid" >"$folder/attached" 2>&1
    status=$?
    # Ended before it began, which is no visit.
    if [[ $status == 130 ]]; then
        rm -rf "$folder/traces"
        return 1
    fi
    # What is refused is refused clearly.
    [[ $status == 0 ]] || goes_away "$pid" || grep -q 'executes another program by now' "$folder/attached" ||
        grep -q 'forbids itself to read the counter of time' "$folder/attached" ||
        say_failure "$4: attach gives $status: $(tail -n 1 "$folder/attached")"
    verify "$4"
    [[ $status == 0 ]]
}

# In the middle, until the end; unless it has ended by then.
attach_way() {
    local pid
    bash -c "exec ${commands[$1]}" >"$folder/out" 2>"$folder/err" </dev/null &
    pid=$!
    sleep "$delay"
    visited=0
    is_there "$pid" && visit "$(busiest "$pid")" "$limit" "$2" "$1 by attach with $2" && visited=-
    wait "$pid"
    compare $? "$1 by attach with $2"
}

# For a moment, again and again; the program is run as often as that takes, or for a minute.
visits_way() {
    local pid visits=0 runs=0 end=$((SECONDS + 60))
    while ((visits < visit_count && SECONDS < end && (visits > 0 || runs++ < 3))); do
        bash -c "exec ${commands[$1]}" >"$folder/out" 2>"$folder/err" </dev/null &
        pid=$!
        sleep "$short_delay"
        while is_there "$pid" && ((visits < visit_count)); do
            visit "$(busiest "$pid")" 0.1 "$2" "$1 by visit $visits with $2" && visits=$((visits + 1))
        done
        wait "$pid"
        compare $? "$1 by $visits visits with $2"
    done
    visited=$visits
}

is_installed() {
    local need
    for need in ${needs[$1]}; do
        command -v "$need" >/dev/null || [[ -e $need ]] && continue
        [[ -n ${makers[$need]-} ]] && (eval "${makers[$need]}") >/dev/null 2>&1 && [[ -e $need ]] || return 1
    done
}

# try name way mode
try() {
    local before=$failures started=$SECONDS outcome=passed

    visited=-
    "$2_way" "$1" "$3"
    [[ $visited == 0 ]] && outcome=missed
    ((failures > before)) && outcome=failed
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$outcome" "$((SECONDS - started))" "$visited" >>"$log"
}

for name in "${names[@]}"; do
    [[ -n ${commands[$name]-} ]] || { echo "no such program: $name"; exit 2; }
    is_installed "$name" || { echo "skipped $name: not installed: ${needs[$name]}"; continue; }
    native_run "$name"
    # On a busy machine they fail by themselves, and nothing can be told then.
    [[ $native_status == 0 || $name != python-* ]] || { echo "skipped $name: it fails natively"; continue; }
    # Who does no work cannot show anything. Our own end as they are to.
    [[ $native_status == 0 || $name == checker-* ]] || say_failure "$name: natively its status is $native_status: $(tail -n 1 "$folder/native.err")"
    checks=0 before=$failures
    for way in $ways; do
        for mode in $modes; do
            case $way in
            spawn | attach | visits) try "$name" "$way" "$mode" ;;
            *) echo "no such way: $way"; exit 2 ;;
            esac
        done
    done
    total=$((total + checks))
    echo "$name: $checks checks, $((failures - before)) failed"
done
echo "all: $total checks, $failures failed"
[[ $failures -eq 0 ]]
