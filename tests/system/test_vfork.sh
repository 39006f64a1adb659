#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A child that vfork made lives in its parent's memory until it executes a program: whoever attaches to one of the two,
# or leaves, meanwhile, harms neither.
# time limit: 120 s
source "$(dirname "$0")/recording.sh"

gcc -O1 -o "$folder/slow_vfork" tests/system/programs/slow_vfork.c || exit 1

# begin COUNT MILLISECONDS: starts it, and waits for its first child
begin() {
    "$folder/slow_vfork" "$@" >"$folder/said" 2>&1 &
    parent=$!
    started=("$parent")
    until_true "there is a child" pgrep -P "$parent" >"$folder/children"
    child=$(head -n 1 "$folder/children")
}

# ends_well "what": the program noticed nothing
ends_well() {
    wait "$parent"
    check "$1: status $?" test $? == 0
    check "$1: it says $(cat "$folder/said")" grep -q "all ended well" "$folder/said"
    started=()
}

for how in "attach --hook=* --quiet -o $folder/traces" "attach --follow=call,ret --quiet -o $folder/traces" \
    "syscalls -o $folder/calls -p"; do
    read -r -a words <<<"$how"

    # The child soon executes its program, and is attached to then, or has ended.
    begin 3 300
    "$gait" "${words[@]}" "$child" >"$folder/out" 2>"$folder/err"
    ends_well "gait ${words[*]:0:2}, the child"

    # One that stays where it is is refused.
    begin 1 3000
    refuses 1 "was made by vfork" "${words[@]}" "$child"
    ends_well "gait ${words[*]:0:2}, a child that stays"

    # The parent is attached to between two children, and left while there is one.
    begin 8 150
    "$gait" "${words[@]}" "$parent" >"$folder/out" 2>"$folder/err" &
    watcher=$!
    sleep 0.5
    kill -INT "$watcher"
    wait "$watcher"
    ends_well "gait ${words[*]:0:2}, the parent"
done
finish
