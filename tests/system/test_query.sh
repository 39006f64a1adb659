#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The questions of docs/queries.md, asked of traces of a program, have the answers that follow from its events without
# SQL; and the command behaves as its manual says.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
"$gait" query --schema >/dev/null 2>&1 || { echo "skipped: gait was built without SQLite"; exit 77; }
shop=$folder/queried_calls
gcc -O2 -g -pthread -fno-builtin-malloc -fno-optimize-sibling-calls -o "$shop" \
    tests/system/programs/queried_calls.c || exit 1

# record name options...: the trace is $folder/traces/name
record() {
    local name=$1
    shift
    check "recording $name" "$gait" spawn --quiet -o "$folder/$name" "$@" >"$folder/said" 2>"$folder/err" </dev/null
    mkdir -p "$folder/traces" && mv "$folder/$name"/* "$folder/traces/$name"
}

record hooks --hook '*' --hook 'libc*!malloc' --hook 'libc*!free' -- "$shop"
record details --arg 'pack:str,uint->str' --stack weigh -- "$shop"

# What does not fit into the buffers while the recorder stands still is lost.
mkfifo "$folder/go"
"$gait" spawn --quiet --overflow drop --buffer 64K -o "$folder/lost" -- "$shop" 20000 <"$folder/go" >"$folder/said" \
    2>"$folder/err" &
recorder=$!
started+=("$recorder")
exec 3>"$folder/go"
has_begun() { [[ -n $(find "$folder/lost" -name '*.index.gait' 2>/dev/null) ]]; }
is_stopped() { grep -q '^State:.T' "/proc/$recorder/status" 2>/dev/null; }
until_true "the shop is recorded" has_begun
kill -STOP "$recorder"
until_true "the recorder stands still" is_stopped
echo open >&3
until_true "the shop closes" test -s "$folder/said"
kill -CONT "$recorder"
wait "$recorder"
exec 3>&-
mv "$folder"/lost/* "$folder/traces/lost"

check "an answer is another one than events give" python3 tests/system/query_answers.py "$gait" docs/queries.md \
    "$folder/traces/hooks" "$folder/traces/lost" "$folder/traces/details"

# ---- the command -----------------------------------------------------------------------------------------------------
trace=$folder/traces/hooks
ask() {
    "$gait" query "$trace" "$@" >"$folder/out" 2>"$folder/err"
}
# says text sql...: exactly that
says() {
    local expected=$1
    shift
    checks=$((checks + 1))
    ask "$@" || fail "gait query $*"
    [[ $(cat "$folder/out") == "$expected" ]] || fail "gait query $*: expected $expected" "$folder/out"
}
says $'n\n1\n\nm\n2' 'SELECT 1 AS n; SELECT 2 AS m'
says $'n\n40\n40' --csv "SELECT count(*) AS n FROM calls WHERE function = 'take_order' GROUP BY tid"
says '[]' --json 'SELECT * FROM triggers'
says $'a     b\n1  NULL' "SELECT 1 AS a, NULL AS b"
checks=$((checks + 1))
echo "SELECT sum(calls) AS n FROM functions" | "$gait" query "$trace" - --csv >"$folder/out" 2>"$folder/err"
"$gait" query "$trace" --csv 'SELECT count(duration_ns) AS n FROM calls' >"$folder/other" 2>"$folder/err"
cmp -s "$folder/out" "$folder/other" || fail "sums of functions are not those of calls" "$folder/out"

# A terminal gets lines around cells, that fit into it.
if command -v script >/dev/null; then
    checks=$((checks + 1))
    COLUMNS=60 script -qec "$gait query $trace 'SELECT * FROM modules'" /dev/null >"$folder/out" 2>"$folder/err" </dev/null
    if ! grep -q '┬' "$folder/out" || ! grep -q '…' "$folder/out"; then
        fail "no box on a terminal" "$folder/out"
    fi
fi

refuses 2 'SQL is missing' query "$trace"
refuses 2 "try '--csv'" query "$trace" --cvs 'SELECT 1'
refuses 1 'no such table: cals; did you mean calls' query "$trace" 'SELECT * FROM cals'
refuses 1 'no such column: functon; did you mean function' query "$trace" 'SELECT functon FROM calls'
refuses 1 'can be read, not changed' query "$trace" "ATTACH '$folder/new' AS new"
refuses 1 'can be read, not changed' query "$trace" "VACUUM INTO '$folder/new'"
check "a query has made a file" test ! -e "$folder/new"
refuses 1 'there is no such folder' query "$folder/nothing" 'SELECT 1'
mkdir "$folder/empty"
refuses 1 'there is no trace in it' query "$folder/empty" 'SELECT 1'
refuses 1 "$shop" query "$shop" 'SELECT 1'

# ---- counting --------------------------------------------------------------------------------------------------------
# What the recorder has counted is what events, calls, the report and an export say.
gcc -O2 -pthread -o "$folder/many_calls" bench/programs/many_calls.c || exit 1
record many --overflow block -- "$folder/many_calls" 60000 2
many=$folder/traces/many
"$gait" dump events "$many" | awk -F '\t' '{ count[$4]++ } END { for (kind in count) print kind "," count[kind] }' |
    LC_ALL=C sort >"$folder/dumped"
"$gait" query --csv "$many" 'SELECT kind, count(*) FROM events GROUP BY 1 ORDER BY 1' | tail -n +2 >"$folder/counted"
check "kinds are counted" diff "$folder/dumped" "$folder/counted" >"$folder/err"
# counts sql: the functions and their counts, as SQL says
counts() {
    "$gait" query --csv "$many" "$1" | tail -n +2 | LC_ALL=C sort
}
counts 'SELECT function, count(*) FROM calls GROUP BY 1' >"$folder/counted"
check "many functions are counted" test "$(wc -l <"$folder/counted")" -ge 29
counts 'SELECT function, count(start_ns) FROM calls GROUP BY 1' >"$folder/rows"
check "rows of calls are as many" diff "$folder/counted" "$folder/rows" >"$folder/err"
counts "SELECT function, count(time_ns) FROM events WHERE kind = 'enter' GROUP BY 1" >"$folder/rows"
check "so are those of events" diff "$folder/counted" "$folder/rows" >"$folder/err"
counts "SELECT function, count(*) FROM events WHERE kind = 'enter' GROUP BY 1" >"$folder/rows"
check "counted ones, too" diff "$folder/counted" "$folder/rows" >"$folder/err"
counts 'SELECT function, calls FROM functions' >"$folder/rows"
check "functions have the same" diff "$folder/counted" "$folder/rows" >"$folder/err"
"$gait" report --json "$many" | python3 -c 'import json, sys
for row in json.load(sys.stdin)["rows"]:
    print(row["name"], row["calls"], sep=",")' | LC_ALL=C sort >"$folder/rows"
check "the report has the same" diff "$folder/counted" "$folder/rows" >"$folder/err"
"$gait" export -f csv "$many" | tail -n +2 | tr -d "\r\"" | cut -d , -f 4 | LC_ALL=C sort | uniq -c |
    awk '{ print $2 "," $1 }' | LC_ALL=C sort >"$folder/rows"
check "an export has the same" diff "$folder/counted" "$folder/rows" >"$folder/err"
check "verify finds counts right" "$gait" verify "$many" >"$folder/out"

# A stream that ends early is shown as far as it goes, and it is said.
cp -r "$trace" "$folder/cut"
stream=$(find "$folder/cut" -name '*.index.gait' -size +1k | sort | head -n 1)
truncate -s -100 "$stream"
warns 'is cut off' query "$folder/cut" 'SELECT count(*) FROM events'
check "nothing of a stream that is cut off is shown" grep -q '[1-9]' "$folder/out"
warns 'is cut off' query "$folder/cut" 'SELECT sum(calls) FROM functions'
: >"$stream"
warns 'within its header' query "$folder/cut" 'SELECT count(*) FROM calls'
check "other threads are not shown" grep -q '[1-9]' "$folder/out"

finish
