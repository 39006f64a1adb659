#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Where system calls were made: from inside the same frames, with the same names, as a stopped thread has by libdw; also of
# programs that have long ended when they are shown.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

"$gait" syscalls -k -o /dev/null true 2>"$folder/err" || {
    echo "SKIP: $(head -n 1 "$folder/err")"
    exit 77
}
gcc -g -O1 -fno-optimize-sibling-calls -pthread -o "$folder/called_back" tests/system/programs/called_back.c || exit 1

# What differs between two runs is left out: numbers of processes and bytes. The first execve is made by gait, and from
# inside at most 64 frames are told.
frames() {
    awk '/^[^ ]/ { is_first = /^execve/; frames = 0 } /^ >/ && (is_first || ++frames > 64) { next } { print }' "$1" |
        sed -E 's/0x[57][0-9a-f]{11}/ADDRESS/g; s/"(\\x..){8}"/BYTES/; s/ = [0-9]{2,}$/ = N/' |
        grep -v '^+++\|^---\|^rt_sigreturn'
}

# compare name program...
compare() {
    local name=$1
    shift
    for via in ptrace inside; do
        "$gait" syscalls -k --via $via -o "$folder/$via" "$@" >/dev/null 2>"$folder/err" </dev/null || fail "$name: $via fails" "$folder/err"
        frames "$folder/$via" >"$folder/$via.frames"
    done
    checks=$((checks + 1))
    diff "$folder/ptrace.frames" "$folder/inside.frames" >"$folder/difference" ||
        fail "$name: not the same frames" "$folder/difference"
    echo "$name: $(grep -c '^ >' "$folder/inside.frames") frames"
}

compare ls ls /
compare callbacks -e trace=getpgid,write "$folder/called_back"
check 'there are names' grep -q '(compare+0x[0-9a-f]*) \[0x[0-9a-f]*\]$' "$folder/inside"
check 'the frames of a handler go on behind it' bash -c "grep -A 8 'getpgid(3)' '$folder/inside' | grep -q '(main+'"

# Threads as well: each has its own stack.
checks=$((checks + 1))
"$gait" syscalls -f -k -e trace=getpgid -o "$folder/threads" "$folder/called_back" 2>"$folder/err" || fail 'threads: it fails' "$folder/err"
grep -A 3 'getpgid(2)' "$folder/threads" | grep -q '(in_thread+' || fail 'the stack of a thread' "$folder/threads"
[[ $(grep -c '(recurse+' "$folder/threads") -gt 60 ]] || fail 'a deep stack' "$folder/threads"

finish
