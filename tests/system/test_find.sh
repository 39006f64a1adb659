#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Functions of programs and libraries that nobody here wrote: that all are found, and how they would be hooked.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

# hookable file: at least 99.5 % of its functions can be hooked, fewer than 0.5 % by a trap only
hookable() {
    local functions trap impossible
    if [[ ! -e $1 ]]; then
        echo "not installed: $1"
        return
    fi
    checks=$((checks + 1))
    if ! "$gait" find --hookable --summary --json "$1" >"$folder/summary" 2>"$folder/err"; then
        fail "gait find --hookable $1"
        return
    fi
    read -r functions trap impossible < <(python3 -c '
import json, sys
summary = json.load(open(sys.argv[1]))["summary"]
print(summary["functions"], summary["trap"], summary["impossible"])' "$folder/summary")
    echo "$1: $functions functions, $trap by a trap, $impossible not at all"
    ((functions >= $2)) || fail "$1: only $functions functions" "$folder/summary"
    ((1000 * impossible <= 5 * functions)) || fail "$1: $impossible of $functions cannot be hooked" "$folder/summary"
    ((1000 * trap < 5 * functions)) || fail "$1: $trap of $functions need a trap" "$folder/summary"
}

libraries=/usr/lib/$(uname -m)-linux-gnu
hookable "$libraries/libc.so.6" 3000
hookable "$libraries/libstdc++.so.6" 4000
hookable "$libraries/libcrypto.so.3" 5000
hookable /usr/bin/python3 5000
hookable /usr/bin/redis-server 3000
hookable /usr/bin/sqlite3 300
hookable "$libraries/libsqlite3.so.0" 1500
hookable "$(gcc -print-prog-name=cc1)" 20000

# All functions that the symbol tables have are listed.
for file in "$libraries/libc.so.6" "$libraries/libstdc++.so.6" build/gait; do
    checks=$((checks + 1))
    readelf --wide --syms "$file" | awk '($4 == "FUNC" || $4 == "IFUNC") && $7 != "UND" && $8 !~ /[.]cold/ {
        sub(/^0+/, "", $2); print $2 }' | sort -u >"$folder/names"
    "$gait" find "$file" 2>"$folder/err" | awk '{ print $1 }' | sort -u >"$folder/found"
    comm -23 "$folder/names" "$folder/found" >"$folder/missing"
    [[ -s $folder/names && ! -s $folder/missing ]] || fail "$file: functions are missing" "$folder/missing"
done

# Names by patterns, whichever of its names a function goes by.
for name in memcpy malloc vfork __libc_malloc; do
    checks=$((checks + 1))
    "$gait" find "$name" "$libraries/libc.so.6" >"$folder/out" 2>"$folder/err"
    grep -q "  $name  libc.so.6$" "$folder/out" || fail "$name is not found" "$folder/out"
done
checks=$((checks + 1))
"$gait" find --hookable vfork libc.so.6 >"$folder/out" 2>"$folder/err"
grep -q 'entry only  *vfork' "$folder/out" || fail 'vfork returns twice' "$folder/out"

# A process: the addresses are those of its memory.
sleep 60 &
started+=($!)
disown
checks=$((checks + 1))
while [[ $(readlink "/proc/${started[0]}/exe") != *sleep ]]; do :; done
"$gait" find nanosleep "${started[0]}" >"$folder/out" 2>"$folder/err"
address=$(awk '$3 == "nanosleep" { print $1 }' "$folder/out")
awk -v address="$address" '
    function number(text,  i, value) {
        value = 0
        for (i = 1; i <= length(text); i++) value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
        return value
    }
    $2 ~ /x/ && /libc/ { split($1, range, "-"); if (number(address) >= number(range[1]) && number(address) < number(range[2])) found = 1 }
    END { exit !found }' "/proc/${started[0]}/maps" || fail "nanosleep is at $address" "$folder/out"

# What cannot be.
refuses 2 'is missing' find --hookable
refuses 2 "try '--hookable'" find --hookabel libc.so.6
refuses 1 'no such library' find libnothing.so.1
refuses 1 'not a 64-bit ELF' find README.md
refuses 1 'none with that number' find 4194305
refuses 1 'try memcpy' find memcpyy libc.so.6
head -c 3000 "$libraries/libc.so.6" >"$folder/cut"
refuses 1 'cannot' find "$folder/cut"

finish
