#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs that nobody here wrote, in every way that gait has to look at them: their output and status are what they are
# without it.
#
#   tests/torture/torture.sh [-w WAYS] [-m MODES] [PROGRAM...]
#
# WAYS: spawn (from the first instruction), attach (in the middle, until the end), visits (attach and leave, again and
# again). MODES: none, call,ret, block: as in --follow; hook: all functions of the program. Both: a list with spaces.
set -u
here=$(cd "$(dirname "$0")" && pwd)
gait=${GAIT:-$here/../../build/gait}
# shellcheck source=programs.sh
source "$here/programs.sh"

ways="spawn attach visits"
modes="none call,ret block"
while getopts w:m: option; do
    case $option in
    w) ways=$OPTARG ;;
    m) modes=$OPTARG ;;
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
checks=0
failures=0

say_failure() {
    failures=$((failures + 1))
    echo "FAILED: $*"
}

options_of() {
    if [[ $1 == hook ]]; then echo --hook '*'; else echo --follow "$1"; fi
}

# native_run name: what it does by itself
native_run() {
    bash -c "exec ${commands[$1]}" >"$folder/native.out" 2>"$folder/native.err" </dev/null
    native_status=$?
}

compare() {
    local status=$1
    shift
    checks=$((checks + 1))
    [[ $status == "$native_status" ]] || say_failure "$*: status $status, natively $native_status: $(tail -n 2 "$folder/err" | tr '\n' ' ')"
    cmp -s "$folder/native.out" "$folder/out" || say_failure "$*: another output"
}

spawn_way() {
    local options
    read -ra options <<<"$(options_of "$2")"
    # shellcheck disable=SC2086
    timeout 300 "$gait" spawn --quiet -o "$folder/traces" --overflow drop "${options[@]//\'/}" -- \
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

# Attaches once, or again and again for a moment each time, until the program ends.
attach_way() {
    local name=$1 mode=$2 seconds=$3 pid visits=0 options
    read -ra options <<<"$(options_of "$mode")"
    bash -c "exec ${commands[$name]}" >"$folder/out" 2>"$folder/err" </dev/null &
    pid=$!
    sleep 0.1
    while kill -0 "$pid" 2>/dev/null && [[ $(ps -o stat= -p "$pid") != Z* ]] && ((visits < 50)); do
        timeout -s INT -k 60 "$seconds" "$gait" attach --quiet -o "$folder/traces" "${options[@]}" "$pid" \
            >"$folder/attached" 2>&1
        visits=$((visits + 1))
        rm -rf "$folder/traces"
    done
    wait "$pid"
    compare $? "$name by $visits visits with $mode"
}

for name in "${names[@]}"; do
    command -v "$name" >/dev/null || [[ -x $name ]] || [[ ${commands[$name]-} == "./"* ]] || { echo "not installed: $name"; continue; }
    [[ -n ${commands[$name]-} ]] || { echo "no such program: $name"; exit 2; }
    native_run "$name"
    for way in $ways; do
        for mode in $modes; do
            case $way in
            spawn) spawn_way "$name" "$mode" ;;
            attach) attach_way "$name" "$mode" 300 ;;
            visits) attach_way "$name" "$mode" 0.3 ;;
            *) echo "no such way: $way"; exit 2 ;;
            esac
        done
    done
    echo "$name: $checks checks, $failures failed"
done
[[ $failures -eq 0 ]]
