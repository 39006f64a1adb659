#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A question has the same answer whether `gait query` asks a trace or sqlite3 the database that it is exported to: the
# same tables, columns, names and values, of recordings with all kinds of things.
# configurations: debug-gcc
# time limit: 120 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
"$gait" query --schema >/dev/null 2>&1 || { echo "skipped: gait was built without SQLite"; exit 77; }
gcc -O2 -g -pthread -fno-builtin-malloc -fno-optimize-sibling-calls -o "$folder/queried_calls" \
    tests/system/programs/queried_calls.c || exit 1
gcc -O2 -g -Iinclude -pthread -o "$folder/probed" tests/system/programs/probed.c || exit 1
gcc -O2 -g -pthread -o "$folder/phases" tests/system/programs/phases.c || exit 1
traces=()

# record name command arguments...: by gait spawn or probe
record() {
    local name=$1 command=$2
    shift 2
    check "recording $name" "$gait" "$command" --quiet -o "$folder/$name" "$@" >"$folder/said" 2>"$folder/err" </dev/null
    traces+=("$folder/$name"/*)
}

record hooks spawn --hook '*' --hook 'libc*!malloc' --hook 'libc*!free' --arg 'pack:str,uint->str' --stack weigh \
    --syscalls -- "$folder/queried_calls"
record followed spawn --follow call,ret,block,compile -- "$folder/queried_calls"
record calls spawn --follow call,ret --times -- "$folder/queried_calls"
record lost spawn --overflow drop --buffer 64K -- "$folder/queried_calls" 20000
record probes spawn --probe 'usdt::probed:*' -- "$folder/probed" 5
# Several processes, one of which has only system calls.
record processes spawn --syscalls -- sh -c 'cat /etc/hostname; true & wait; /bin/true'
record triggers spawn --flight --trigger every=0.1s --pre-roll-sec 1 --post-roll-sec 1 -- "$folder/phases" 300

without=()
if "$gait" doctor --json | grep -q '"subject": "tracepoint".*"works": "yes"'; then
    gcc -O1 -g -Iinclude -o "$folder/probed_program" tests/system/programs/probed_program.c || exit 1
    record kernel probe --stack tracepoint:syscalls:sys_enter_getppid -- "$folder/probed_program"
else
    without=(--without kernel_events)
fi

check "the database has other answers" python3 tests/system/query_databases.py "$gait" docs/queries.md "$folder" \
    "${without[@]}" "${traces[@]}"

# ---- a part of a trace -----------------------------------------------------------------------------------------------
command -v sqlite3 >/dev/null || { echo "skipped the rest: there is no sqlite3"; exit $((failures > 0)); }
trace=${traces[0]}
# says options sql: what a database made with them says
says() {
    local options=()
    read -r -a options <<<"$1"
    "$gait" export -f sqlite "$trace" "${options[@]}" -o "$folder/part.sqlite" 2>"$folder/err" || fail "export $1"
    sqlite3 "$folder/part.sqlite" "$2"
}
# asked sql
asked() {
    "$gait" query --csv "$trace" "$1" 2>"$folder/err" | tail -n +2
}
for table in calls syscalls events stacks details; do
    all=$(asked "SELECT count(*) FROM $table WHERE thread = 'till'")
    check "$table of a thread" test "$all" -gt 0
    check "$table of a thread" test "$(says '--events --thread till' "SELECT count(*) FROM $table")" == "$all"
done
middle=$(asked "SELECT (min(start_ns) + max(start_ns)) / 2 FROM calls")
for table in syscalls stacks; do
    time=$([[ $table == syscalls ]] && echo start_ns || echo time_ns)
    check "$table of a range of time" test "$(says "--from ${middle}ns" "SELECT count(*) FROM $table")" == \
        "$(asked "SELECT count(*) FROM $table WHERE $time >= $middle")"
done
check "functions are those of the part" test "$(says '--thread till' "SELECT sum(calls), sum(self_ns) > 0 FROM functions")" == \
    "$(asked "SELECT count(*) || '|1' FROM calls WHERE thread = 'till'")"
check "events that nobody asked for" test "$(says '' "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'event%'")" == 0
refuses 2 'chrome has calls only' export -f chrome --events "$trace"

echo "$checks checks, $failures failed"
exit $((failures > 0))
