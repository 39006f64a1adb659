#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gait, the program that it watches, or a child of that is killed at a random moment, again and again. What is left goes on
# as if nothing had been, nothing stays in the kernel or in the program's code, and what was recorded can be read.
# SEED=number repeats a run, SECONDS_MAX=number makes it longer.
# configurations: debug-gcc
# time limit: 90 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

allowed=$("$gait" doctor --json)
for subject in tracepoint uprobe; do
    grep -q "\"subject\": \"$subject\".*\"works\": \"yes\"" <<<"$allowed" || { echo "skipped: no $subject here"; exit 77; }
done
gcc -O1 -g -pthread -o "$folder/steps" tests/system/programs/checked_steps.c || exit 1
program=$folder/steps
RANDOM=${SEED:=$((RANDOM))}
echo "SEED=$SEED"

# How many programs are in the kernel; nothing where nobody can tell.
count_programs() {
    command -v bpftool >/dev/null && bpftool prog list 2>/dev/null | grep -c '^[0-9]'
}

# What has a name in the kernel and is about the program: a number of lines.
count_names() {
    mkdir -p "$folder/tracing"
    # shellcheck disable=SC2016 # what the shell in it expands
    unshare -m sh -c 'mount -t tracefs tracefs "$1" && cat "$1/uprobe_events" "$1/dynamic_events"' - "$folder/tracing" \
        >"$folder/left" 2>"$folder/err" && grep -c -F "$program" "$folder/left"
}

programs_before=$(count_programs)
places=("uprobe:$program:take_step" "uretprobe:$program:take_step" tracepoint:syscalls:sys_enter_write profile:hz:999)

# sleep_a_little: up to a third of a second
sleep_a_little() {
    sleep "0.$(printf '%03d' $((RANDOM % 330)))"
}

# child_of pid: a process that it made, if there is one
child_of() {
    local children
    children=$(cat "/proc/$1"/task/*/children 2>/dev/null)
    # shellcheck disable=SC2086
    set -- $children
    echo "${1-}"
}

# is_gone pid: no such process, or only its remains
is_gone() {
    [[ ! -e /proc/$1 || $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -c 1) == [ZX] ]]
}

# find_target gait: the program that it has started, once it is executed
find_target() {
    local child
    child=$(child_of "$1")
    [[ -n $child && $(readlink "/proc/$child/exe") == "$program" ]] && echo "$child"
}

has_target() {
    target=$(find_target "$1") || is_gone "$1"
}

# look_at_trace round: whatever was killed, what is there can be read
look_at_trace() {
    local trace
    trace=$(echo "$folder/traces.$1"/*)
    [[ -e $trace/manifest.json ]] || return 0
    check "round $1: no report" "$gait" report "$trace" >"$folder/out" 2>"$folder/err"
    # What is cut off is exported up to there.
    check "round $1: no export" "$gait" export -f json "$trace" -o "$folder/exported" 2>"$folder/err"
}

# round number how who
round() {
    local number=$1 how=$2 who=$3 watcher target='' victim good=$folder/good.$1
    rm -f "$good"
    case $how in
    process)
        # Nothing is to be in its code when nobody watches any more.
        if [[ $who == watcher ]]; then set -- clean; else set --; fi
        "$program" 600 "$good" "$@" &
        target=$!
        started+=("$target")
        "$gait" probe --quiet -o "$folder/traces.$number" --stack -p "$target" "${places[@]}" 2>"$folder/err" &
        watcher=$!
        ;;
    program)
        "$gait" probe --quiet -o "$folder/traces.$number" --stack "${places[@]}" -- "$program" 600 "$good" 2>"$folder/err" &
        watcher=$!
        ;;
    recording)
        "$gait" spawn --quiet -o "$folder/traces.$number" --hook take_step --sched --probe "${places[2]}" --probe "${places[3]}" -- \
            "$program" 600 "$good" 2>"$folder/err" &
        watcher=$!
        ;;
    esac
    started+=("$watcher")
    [[ $how == process ]] || until_true "round $number: the program runs" has_target "$watcher"
    sleep_a_little
    case $who in
    watcher) victim=$watcher ;;
    target) victim=$target ;;
    child) victim=$(child_of "${target:-0}") ;;
    esac
    [[ -z $victim ]] || kill -KILL "$victim" 2>/dev/null
    wait "$watcher" 2>/dev/null
    [[ -z $target ]] || until_true "round $number: $how, $who killed: the program ends" is_gone "$target"
    [[ $how != process ]] || wait "$target" 2>/dev/null
    if [[ $who != target && -n $target ]]; then
        check "round $number: $how, $who killed: something went wrong in the program: $(cat "$good" 2>/dev/null)" \
            grep -q '^good$' "$good"
    fi
    look_at_trace "$number"
    rm -rf "$folder/traces.$number"
    started=()
}

hows=(process program recording) whos=(watcher target child)
until_second=$((SECONDS + ${SECONDS_MAX:-14}))
for ((number = 0; SECONDS < until_second; number++)); do
    # All of them in turn, at moments that differ.
    round "$number" "${hows[number % 3]}" "${whos[number / 3 % 3]}"
done
check "some rounds were made" test "$number" -gt 3
check "names are left in the kernel" test "$(count_names)" == 0
# The kernel takes programs apart some time after they are let go.
no_more_programs() {
    [[ $(count_programs) -le ${programs_before:-0} ]]
}
[[ -z $programs_before ]] || until_true "programs in the kernel are gone" no_more_programs
check "there is nothing to clean" "$gait" doctor --clean >"$folder/out" 2>"$folder/err"
echo "$number rounds"
finish
