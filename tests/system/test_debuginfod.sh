#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program whose debug information is nowhere but on a server: with DEBUGINFOD_URLS its functions have files and lines,
# and inlined ones are seen; without, nobody is asked.
# configurations: debug-gcc
# time limit: 120 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

command -v debuginfod >/dev/null || { echo "skipped: there is no debuginfod"; exit 77; }
is_built_with libdw || { echo "skipped: this gait does not read debug information"; exit 77; }

source=$PWD/tests/system/programs/exported_calls.c
port=$((20000 + $$ % 10000))
mkdir "$folder/served" "$folder/home"
gcc -g -O1 -pthread -Wl,--build-id=sha1 -o "$folder/whole" "$source" || exit 1
objcopy --only-keep-debug "$folder/whole" "$folder/served/calls.debug" && strip -o "$folder/calls" "$folder/whole" || exit 1
id=$(readelf -n "$folder/whole" | awk '/Build ID/ { print $3 }')
rm "$folder/whole"

HOME=$folder/home debuginfod -d "$folder/index" -p "$port" -F "$folder/served" >"$folder/server" 2>&1 &
started+=($!)
export HOME=$folder/home
is_served() {
    curl -s -f -o /dev/null "http://127.0.0.1:$port/buildid/$id/debuginfo"
}
until_true "the server has it" is_served || { fail "the server" "$folder/server"; finish; }

# Names of functions come with the symbols, which are on the server, too: by their places, then.
"$gait" spawn --quiet -o "$folder/traces" --times --follow call,ret --exclude 'libc.so*' --exclude 'ld-linux*' \
    -- "$folder/calls" >"$folder/out" 2>"$folder/err" || fail "recording"
trace=$(echo "$folder"/traces/*)

# list environment...: "file line" of all functions that have one
list() {
    env XDG_CACHE_HOME="$folder/cache-$1" DEBUGINFOD_CACHE_PATH="$folder/debuginfod-$1" "${@:2}" \
        "$gait" export -f csv "$trace" 2>"$folder/err" | python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    if row["file"].endswith("/exported_calls.c"): print(row["line"])' | sort -un >"$folder/list-$1"
}

list without DEBUGINFOD_URLS=
check "without a server there are no lines" test ! -s "$folder/list-without"
list with DEBUGINFOD_URLS="http://127.0.0.1:$port/"
for function in spend both down; do
    line=$(grep -n -E "^NOINLINE .*$function\(long n\)$" "$source" | cut -d: -f1)
    check "the line of $function" grep -q -x "$line" "$folder/list-with"
done

finish
