#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every command that reads traces says the same of one that is not whole: what a recording leaves that goes on or was
# killed is shown, with a warning; what is damaged is a failure, and all else is shown.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

cat >"$folder/program.c" <<'EOF'
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) int leaf(int i) { __asm__(""); return i * 3; }
int main(int count, char **words)
{
    volatile int sum = 0;

    for (int i = 0; i < 100000 || count > 1; i++) {
        sum += leaf(i);
        if (count > 1 && i % 1000 == 0)
            usleep(1000);
    }
    return words == NULL;
}
EOF
gcc -g -O1 -o "$folder/program" "$folder/program.c" || exit 1
formats=$(sed -n 's/^EXPORT_FORMAT(\([a-z0-9]*\),.*/\1/p' src/export/export_formats.def)
check "there are formats" test "$(wc -w <<<"$formats")" -ge 13
is_built_with libsqlite3 || formats=${formats/sqlite/}
is_built_with libdw || formats=${formats/lcov/}

# each_reader how trace...: `how` is called with the arguments of each command that reads all of a trace
each_reader() {
    local how=$1 trace=$2 format
    "$how" report "$trace"
    "$how" report --json "$trace"
    "$how" report "$trace" --diff "$folder/good"
    "$how" report "$folder/good" --diff "$trace"
    "$how" replay "$trace"
    "$how" replay --by-thread "$trace"
    "$how" graph "$trace"
    "$how" graph --json "$trace"
    "$how" coverage "$trace"
    "$how" dump events "$trace"
    ! is_built_with libsqlite3 || "$how" query "$trace" 'SELECT sum(duration_ns) FROM calls'
    for format in $formats; do
        rm -rf "$folder/exported"
        "$how" export -f "$format" "$trace" -o "$folder/exported"
        check "nothing is exported to $format" test -s "$folder/exported"
    done
}

is_silent() {
    check "of a good trace, gait $*" "$gait" "$@" >"$folder/out" 2>"$folder/err"
    check "of a good trace, gait $* complains" test ! -s "$folder/err"
}

warns_of_end() {
    warns 'is cut off' "$@"
}

fails_by_damage() {
    refuses 1 'is damaged' "$@"
}

# ---- a whole one, a shorter one, one with a wrong byte ---------------------------------------------------------------
"$gait" spawn --quiet -o "$folder/traces" -- "$folder/program" >"$folder/out" 2>"$folder/err" || fail "not recorded"
mv "$folder"/traces/* "$folder/good"
index=$(find "$folder/good" -name '*.index.gait' -printf '%s %P\n' | sort -n | tail -n 1 | cut -d ' ' -f 2)
size=$(stat -c %s "$folder/good/$index")
each_reader is_silent "$folder/good"

cp -r "$folder/good" "$folder/cut"
truncate -s $((size - 100)) "$folder/cut/$index"
each_reader warns_of_end "$folder/cut"
refuses 1 'cannot vouch for' verify "$folder/cut"

cp -r "$folder/good" "$folder/damaged"
printf '\377\376\375\374' | dd of="$folder/damaged/$index" bs=1 seek=$((size - 3000)) conv=notrunc 2>/dev/null
each_reader fails_by_damage "$folder/damaged"
refuses 1 'cannot vouch for' verify "$folder/damaged"

# ---- details ---------------------------------------------------------------------------------------------------------
"$gait" spawn --quiet -o "$folder/traces" --detail leaf --stack leaf -- "$folder/program" >"$folder/out" 2>"$folder/err" ||
    fail "no details recorded"
mv "$folder"/traces/* "$folder/details"
lane=$(find "$folder/details" -name '*.detail.gait' -printf '%s %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2)
size=$(stat -c %s "$lane")
truncate -s $((size - 100)) "$lane"
for command in 'dump details' stacks report; do
    # shellcheck disable=SC2086 # a command may be two words
    warns_of_end $command "$folder/details"
done

# ---- killed ----------------------------------------------------------------------------------------------------------
"$gait" spawn --quiet -o "$folder/killed" -- "$folder/program" for ever >"$folder/out" 2>"$folder/err" &
recorder=$!
started+=("$recorder")
has_events() {
    [[ -n $(find "$folder/killed" -name '*.index.gait' -size +64k 2>/dev/null) ]]
}
until_true "something is recorded" has_events
trace=$(echo "$folder"/killed/*)
warns_of_end report "$trace"
target=$(pgrep -P "$recorder")
started+=("$target")
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
kill -KILL "$target"
for command in report graph coverage 'export -f folded' 'dump events'; do
    # shellcheck disable=SC2086 # a command may be two words
    warns_of_end $command "$trace"
done
finish
