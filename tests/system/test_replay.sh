#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a person sees of the calls of a program: gait replay and gait graph, on screens with # for each time, share and
# thread number. The program is tests/system/programs/replayed_calls.c.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

gcc -g -O1 -pthread -o "$folder/program" tests/system/programs/replayed_calls.c || exit 1

# record name options...: $folder/name is the trace
record() {
    local name=$1
    shift
    checks=$((checks + 1))
    "$gait" spawn --quiet -o "$folder/traces" "$@" -- "$folder/program" >"$folder/out" 2>"$folder/err" || fail "record $name"
    mv "$folder"/traces/* "$folder/$name"
}

# The program's path, times and numbers of threads become the same everywhere; the columns stay where they are.
without_times() {
    sed -E -e "s|$folder/||g" -e ':time; s/^(.*[ ~<>])[0-9.]+ (ns|us|ms|s)( |$)/\1#\3/; t time' \
        -e 's/^ +([~<>]?)#/    \1#/' -e 's/^ {11}  /        /' -e 's/(program|thread) [0-9]+/\1 #/g' -e 's/process [0-9]+/process #/' \
        -e 's/ +[0-9.]+%/ #%/' -e 's/ +$//'
}

# shows arguments... <<screen: gait prints that
shows() {
    checks=$((checks + 1))
    "$gait" "$@" >"$folder/out" 2>"$folder/err" || fail "gait $*"
    without_times <"$folder/out" >"$folder/seen"
    diff - "$folder/seen" >"$folder/diff" || fail "gait $*" "$folder/diff"
}

# ---- hooked functions ----------------------------------------------------------------------------------------------
record hooked --hook 'main' --hook 'parse_*' --hook count_words --hook climb --hook work --hook give_up

