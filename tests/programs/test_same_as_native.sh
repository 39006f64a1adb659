#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs cannot tell that they are followed: tests/programs/test_same_as_native.sh [--mode pattern] [program...]
#
# Each program in tests/programs runs natively and then in every mode of tests/programs/MODES; output, errors and status
# must not differ. A program ends with 0, unless a comment near its top says "exit status: N". What is listed in
# tests/programs/EXPECTED_FAILURES must differ; if the reason there begins with "sometimes", it may.
# configurations: debug-gcc
# time limit: 1200 s
# needs: followed-programs
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

[[ $(uname -m) == x86_64 ]] || { echo "skipped: gait follows threads on x86_64 only, so far"; exit 77; }
folder=tests/programs
built=build/$folder
limit_s=60
expected_failure_limit_s=3
ulimit -c 0
export LC_ALL=C

# run program mode limit_s: leaves what it did in $results/program.mode; status 124 or 137 if it did not end in time
run() {
    local program=$1 mode=$2 out=$results/$1.${2%% *}

    # The shell's words on a death by signal go nowhere.
    {
        GAIT_TEST_MODE=$mode timeout -k 1 "$3" "$built/$program" </dev/null >"$out.stdout" 2>"$out.stderr"
        echo $? >"$out.status"
    } 2>/dev/null
}

# The first lines that are in one file only, on one line: "<" of the native run, ">" of the other.
what_differs() {
    diff "$1" "$2" | grep -a '^[<>]' | head -n 4 | cut -c 1-100 | tr '\n' ' '
}

# differences program mode limit_s: prints in what the mode's run differs from the native one
differences() {
    local native=$results/$1.native followed=$results/$1.$2 status part

    status=$(<"$followed.status")
    if [[ $status == 124 || $status == 137 ]]; then
        echo "not finished after $3 s"
        return
    fi
    [[ $status == "$(<"$native.status")" ]] || printf 'status %s, natively %s, ' "$status" "$(<"$native.status")"
    for part in stdout stderr; do
        cmp -s "$native.$part" "$followed.$part" ||
            printf '%s: %s' $part "$(what_differs "$native.$part" "$followed.$part")"
    done
}

# expected_failure program mode: prints the reason if it is listed
expected_failure() {
    local program pattern reason

    while read -r program pattern reason; do
        # shellcheck disable=SC2053 # the right side is a pattern
        [[ $program == "$1" && $2 == $pattern ]] && { echo "$reason"; return; }
    done <$folder/EXPECTED_FAILURES
}

check_native() {
    local program=$1 source expected

    source=$(find $folder -name "$program.c" -o -name "$program.cc" | head -n 1)
    expected=$(head -n 10 "$source" | sed -n 's/.*exit status: \([0-9]*\).*/\1/p')
    run "$program" native $limit_s
    [[ $(<"$results/$program.native.status") == "${expected:-0}" ]] && return
    echo "FAILED $program natively: status $(<"$results/$program.native.status"), should be ${expected:-0};" \
        "reproduce with: $built/$program"
    return 1
}

check_mode() {
    local program=$1 line=$2 name=${2%% *} limit=$limit_s difference reason

    reason=$(expected_failure "$program" "$name")
    [[ -z $reason ]] || limit=$expected_failure_limit_s
    run "$program" "$line" "$limit"
    difference=$(differences "$program" "$name" "$limit")
    if [[ -z $difference && -n $reason && $reason != sometimes* ]]; then
        echo "FAILED $program $name: it works; remove the line from $folder/EXPECTED_FAILURES"
    elif [[ -z $difference ]]; then
        echo "same $program $name"
    elif [[ -n $reason ]]; then
        echo "skipped $program $name: $reason"
    else
        echo "FAILED $program $name: $difference; reproduce with: GAIT_TEST_MODE='$line' $built/$program"
    fi
}

modes() {
    local name rest

    while read -r name rest; do
        # shellcheck disable=SC2053 # the right side is a pattern
        [[ -z $name || $name == \#* || $name != $mode_pattern ]] || echo "$name${rest:+ $rest}"
    done <$folder/MODES
}

# All modes of one program, in a process of its own.
check_program() {
    local program=$1 line

    check_native "$program" || return
    while read -r line; do
        check_mode "$program" "$line"
    done < <(modes)
}

check_lists() {
    local program pattern reason name

    while read -r program pattern reason; do
        [[ -n $program && $program != \#* ]] || continue
        [[ -n $reason ]] || echo "FAILED: EXPECTED_FAILURES gives no reason for $program $pattern"
        for name in $programs; do
            [[ $name != "$program" ]] || continue 2
        done
        echo "FAILED: EXPECTED_FAILURES lists $program, which does not exist"
    done <$folder/EXPECTED_FAILURES
}

mode_pattern=${GAIT_TEST_MODE_PATTERN:-*}
if [[ ${1-} == --mode ]]; then
    mode_pattern=$2
    shift 2
fi
if [[ ${1-} == --check ]]; then
    check_program "$2"
    exit
fi
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
export results GAIT_TEST_MODE_PATTERN=$mode_pattern
programs=$(make -s DEPS=no print-FOLLOWED)
programs=${programs//$built\//}
[[ $# -gt 0 ]] || check_lists >"$results/lists"
# shellcheck disable=SC2086 # a word each
printf '%s\n' "${@:-$programs}" | tr ' ' '\n' | xargs -P 2 -n 1 "$0" --check >"$results/verdicts"
cat "$results"/lists "$results/verdicts" 2>/dev/null | grep -E '^(FAILED|skipped)' | LC_ALL=C sort
failures=$(cat "$results"/lists "$results/verdicts" 2>/dev/null | grep -c '^FAILED')
echo "$(grep -c '^same' "$results/verdicts") the same, $failures failed," \
    "$(grep -c '^skipped' "$results/verdicts") known not to work"
((failures == 0)) && grep -q '^same' "$results/verdicts"
