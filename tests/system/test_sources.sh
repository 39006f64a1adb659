#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every format that has room for it says in which file and line of the source a function is, as far as that is known:
# the line that grep finds it in. Without debug information nothing is said, and nothing else changes.
# configurations: debug-gcc
# time limit: 120 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

source=$PWD/tests/system/programs/exported_calls.c
export XDG_CACHE_HOME=$folder/cache

# record name flags...: the program, built with these flags; its trace is $folder/name
record() {
    local name=$1
    shift
    gcc -O1 -pthread "$@" -o "$folder/$name.program" "$source" || exit 1
    "$gait" spawn --quiet -o "$folder/$name.traces" --hook spend --hook both --hook down --hook hop \
        -- "$folder/$name.program" >"$folder/out" 2>"$folder/err" || fail "recording $name"
    mv "$folder/$name.traces"/* "$folder/$name"
}

# function file line, one a line, of what was exported
list_csv() { python3 -c '
import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="")): print(row["function"], row["file"] or "-", row["line"] or 0)' "$1"; }
list_json() { python3 -c '
import json, sys
for line in open(sys.argv[1]):
    row = json.loads(line)
    if "function" in row: print(row["function"], row.get("file", "-"), row.get("line", 0))' "$1"; }
list_chrome() { python3 -c '
import json, sys
for event in json.load(open(sys.argv[1]))["traceEvents"]:
    if event["ph"] == "B":
        args = event.get("args", {})
        print(event["name"], args.get("file", "-"), args.get("line", 0))' "$1"; }
# There the file is that of the code where nothing better is known.
list_speedscope() { python3 -c '
import json, sys
for frame in json.load(open(sys.argv[1]))["shared"]["frames"]:
    print(frame["name"], frame["file"] if "line" in frame else "-", frame.get("line", 0))' "$1"; }
list_sqlite() { sqlite3 -separator ' ' "$1" "SELECT function, coalesce(file, '-'), coalesce(line, 0) FROM functions"; }
list_pprof() {
    gzip -dc "$1" | protoc -Itests/export --decode=Profile profile.proto | python3 -c '
import re, sys
text = sys.stdin.read()
texts = [eval(item) for item in re.findall(r"^string_table: (\".*\")$", text, re.M)]
for body in re.findall(r"^function \{\n(.*?)^\}", text, re.M | re.S):
    field = {key: int(value) for key, value in re.findall(r"(\w+): (\d+)", body)}
    print(texts[field["name"]], texts[field.get("filename", 0)] or "-", field.get("start_line", 0))'
}
list_perfetto() {
    protoc -Itests/export --decode=Trace perfetto.proto <"$1" | python3 -c '
import re, sys
text = sys.stdin.read()
# By the events themselves: the name and the source that they refer to.
names, sources = {}, {}
for packet in re.findall(r"^packet \{\n(.*?)^\}", text, re.M | re.S):
    for number, name in re.findall(r"event_names \{\s+iid: (\d+)\s+name: \"(.*)\"", packet): names[number] = name
    for number, file, line in re.findall(r"source_locations \{\s+iid: (\d+)\s+file_name: \"(.*)\"\s+function_name: .*\s+line_number: (\d+)", packet):
        sources[number] = (file, line)
    event = re.search(r"type: TYPE_SLICE_BEGIN\s+name_iid: (\d+)|name_iid: (\d+)", packet)
    if not event: continue
    source = re.search(r"source_location_iid: (\d+)", packet)
    file, line = sources[source.group(1)] if source else ("-", 0)
    print(names[event.group(1) or event.group(2)], file, line)'
}

# said format trace: what the format says of the functions, each once
said() {
    "$gait" export -f "$1" "$2" -o "$folder/exported.$1" 2>"$folder/err" || return 1
    "list_$1" "$folder/exported.$1" 2>"$folder/err" | grep -E '^(spend|both|down|hop) ' | LC_ALL=C sort -u >"$folder/said.$1"
}

same() {
    diff "$1" "$2" >"$folder/err"
}

formats=(csv json chrome speedscope pprof perfetto)
! is_built_with libsqlite3 || ! command -v sqlite3 >/dev/null || formats+=(sqlite)

grep -n -E '^NOINLINE .*(spend|both|down|hop)\(long n\)$' "$source" |
    sed -E "s,^([0-9]+):.* \*?([a-z]+)\(.*,\2 $source \1," | LC_ALL=C sort >"$folder/expected"
check "four functions are expected" test "$(wc -l <"$folder/expected")" = 4
sed -E 's, .*, - 0,' "$folder/expected" >"$folder/nothing"

record described -g
record bare
for format in "${formats[@]}"; do
    check "$format" said "$format" "$folder/described"
    # A build without libdw knows none.
    if is_built_with libdw; then
        check "$format says where functions are" same "$folder/expected" "$folder/said.$format"
    else
        check "$format says nothing" same "$folder/nothing" "$folder/said.$format"
    fi
    check "$format of a program without debug information" said "$format" "$folder/bare"
    check "$format says nothing" same "$folder/nothing" "$folder/said.$format"
done

finish
