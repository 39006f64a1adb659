#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Where no trace is named, the last one of ./traces is shown, and said; several are shown one after the other.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

cd "$folder" || exit 1
refuses 2 'TRACE is missing, and there is none in ./traces' report
for program in true perl; do
    "$gait" spawn --quiet -- "$program" -e 1 2>"$folder/err"
    sleep 1.1
done
mapfile -t traces < <(ls -d traces/*)

# takes_last WORDS...: gait does it with the last one
takes_last() {
    checks=$((checks + 1))
    "$gait" "$@" >out 2>err || fail "gait $*"
    [[ $(cat err) == "gait: this is traces/perl-"*", the last trace in ./traces" ]] || fail "gait $*: which one is not said"
}
takes_last report
takes_last replay --limit 3
takes_last graph
takes_last graph main
takes_last stacks
takes_last coverage
takes_last verify
takes_last dump events
takes_last dump details
takes_last export -f folded
takes_last pack -o packed
! is_built_with libsqlite3 || takes_last query 'SELECT count(*) FROM calls'

for command in report graph stacks verify; do
    checks=$((checks + 1))
    "$gait" "$command" "${traces[@]}" >out 2>err || fail "gait $command of two"
    [[ $(grep -c '^==> traces/.* <==$' out) == 2 ]] || fail "gait $command of two: heads" out
done
checks=$((checks + 1))
"$gait" report --json "${traces[@]}" | grep -c '"format": "gait report"' | grep -q -x 2 || fail "two objects"
# What cannot be shown keeps no other from being shown.
refuses 1 "cannot open 'traces/gone'" report traces/gone "${traces[0]}"
check 'the other one is shown' grep -q '^command    perl -e 1' "$folder/out"
finish
