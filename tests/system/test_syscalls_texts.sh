#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Calls with structs, options and operations of all kinds, good, bad and cut where memory ends, have the same text as
# strace's, seen by ptrace and from inside; and what is known to differ still differs.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

command -v strace >/dev/null || { echo 'skipped: not installed: strace'; exit 77; }
command -v gcc >/dev/null || { echo 'skipped: not installed: gcc'; exit 77; }
strace -V | head -n 1 | grep -q 'version 6\.1$' || { echo 'skipped: another strace than 6.1 writes other texts'; exit 77; }

texts=tests/data/syscalls_differences_texts
touch "$folder/ptrace.used" "$folder/inside.used"

# compare way options...: what strace and gait have written of $program
compare() {
    local way=$1
    shift
    checks=$((checks + 1))
    tests/system/syscalls_texts.py "$folder/strace" "$folder/gait" "$folder/$way" "$@" >"$folder/compared" ||
        fail "$program $flag, $way: strace writes something else" "$folder/compared"
    echo "$program $flag, $way: $(tail -n 1 "$folder/compared")"
}

for program in sockets devices kernel; do
    gcc -w -O1 -o "$folder/$program" "tests/system/programs/calls_$program.c" || fail "$program: cannot be built"
    for flag in '' -v -s8; do
        timeout 60 setarch -R strace ${flag:+"$flag"} -o "$folder/strace" "$folder/$program" 2>/dev/null
        timeout 60 setarch -R "$gait" syscalls ${flag:+"$flag"} --via ptrace -o "$folder/gait" "$folder/$program"
        compare ptrace "$texts"
        timeout 60 setarch -R "$gait" syscalls ${flag:+"$flag"} -o "$folder/gait" "$folder/$program"
        compare inside "$texts" "${texts}_inside"
    done
done

# The lists may only shrink: each line is needed.
cat "$folder/ptrace.used" "$folder/inside.used" | sort -u >"$folder/used"
for list in "$texts" "${texts}_inside"; do
    while IFS= read -r line; do
        [[ -z $line || $line == '#'* ]] && continue
        checks=$((checks + 1))
        grep -qxF -- "${line%% # *}" "$folder/used" || fail "$list: nothing differs any more: ${line%% # *}"
    done <"$list"
done

finish
