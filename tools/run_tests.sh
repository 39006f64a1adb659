#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds and runs the tests: tools/run_tests.sh [--match pattern] configuration...
#
# A configuration is MODE-CC, such as asan-gcc. Tests are the programs in tests/unit, built and run in every
# configuration, and scripts, run in the first one only: tools/check_*.sh and test_*.sh anywhere below tests/.
# A test passes with status 0, is skipped with 77 (its line "skipped: reason" is shown) and fails with any other.
#
# Comments near the top of a test can say
#     configurations: debug-gcc asan-*      where it runs
#     time limit: 120 s                     instead of 60; sanitizers get four times as long
#     needs: followed-programs              of a script: what else make builds before
# With --match only the tests whose name contains the pattern are built and run, wherever they say they want to run.
#
# One line a test, in a fixed order, as many at a time as there are CPUs; the output of a failing test follows its
# line, and that of all is in build/test-logs/. The last line counts.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
# Sub-makes get their own jobs, not the caller's job server or variables.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
# Each test becomes a process group of its own, and does not inherit an ignored SIGINT.
set -m

# Nothing that tests keep is for the user.
export XDG_CACHE_HOME=$PWD/build/test-cache

default_limit_s=60
jobs=$(nproc)
logs=build/test-logs
shown_lines=200

# The tests to run, one element each in all of these arrays.
names=() configurations=() commands=() limits=() needs=()
# What became of them; a test is finished when its status is set.
declare -A status=() started=() elapsed=() group=()
passed=0 failed=0 skipped=0

make_in() {
    local configuration=$1
    shift
    make --no-print-directory MODE="${configuration%%-*}" CC="${configuration#*-}" "$@"
}

marker() {
    head -n 40 "$1" | sed -n "s|^[^A-Za-z]*$2: *||; T; s| *\*/.*||; p; q"
}

wants_configuration() {
    local wanted pattern

    [[ -z $match ]] || return 0
    read -r -a wanted <<<"$(marker "$1" configurations)"
    for pattern in "${wanted[@]-*}"; do
        # shellcheck disable=SC2053 # the right side is a pattern
        [[ $2 != $pattern ]] || return 0
    done
    return 1
}

add_test() {
    local name=$1 configuration=$2 source=$3 command=$4 limit

    [[ $name == *$match* ]] || return 0
    wants_configuration "$source" "$configuration" || return 0
    limit=$(marker "$source" 'time limit')
    limit=${limit%% *}
    limit=${limit:-$default_limit_s}
    case $configuration in asan-* | tsan-*) limit=$((limit * 4)) ;; esac
    names+=("$name") configurations+=("$configuration") commands+=("$command") limits+=("$limit")
    needs+=("$(marker "$source" needs)")
}

add_scripts() {
    local script name

    for script in tools/check_*.sh $(find tests -name 'test_*.sh' | LC_ALL=C sort); do
        [[ -e $script ]] || continue
        name=${script%.sh}
        name=${name#tests/}
        add_test "${name/#tools\/check_/check }" "$1" "$script" "$script"
    done
}

add_unit_tests() {
    local configuration=$1 out source

    out=$(make_in "$configuration" -s print-OUT)
    for source in $(make_in "$configuration" -s print-TEST_C); do
        add_test "${source:6:-2}" "$configuration" "$source" "$out/${source%.c}"
    done
}

# ---- one test --------------------------------------------------------------------------------------------------------
log_of() {
    echo "$logs/${configurations[$1]}/${names[$1]// /_}.log"
}

now_us() {
    echo "${EPOCHREALTIME/[.,]/}"
}

# Sanitizers of this age cannot stand the largest address space randomization that kernels do.
sanitizer_prefix() {
    case $1 in
    asan-* | tsan-*) setarch -R true 2>/dev/null && echo setarch -R ;;
    esac
}

start_test() {
    local index=$1 log command=()

    log=$(log_of "$index")
    mkdir -p "${log%/*}"
    read -r -a command <<<"$(sanitizer_prefix "${configurations[index]}")"
    command+=("${commands[index]}")
    started[$index]=$(now_us)
    # The shell in between turns death by a signal into an exit status, and ends at once when the time is over.
    # shellcheck disable=SC2016 # expanded by that shell
    timeout "${limits[index]}" bash -c '"$@"; exit $?' run "${command[@]}" </dev/null >"$log" 2>&1 &
    group[$index]=$!
}

# Notes the status of a test that ended, and ends whatever it left behind.
finish_test() {
    local index=$1

    wait "${group[$index]}"
    status[$index]=$?
    elapsed[$index]=$(($(now_us) - started[$index]))
    kill -KILL -- "-${group[$index]}" 2>/dev/null
    unset "group[$index]"
}

reason_of() {
    local index=$1 code=${status[$1]}

    if ((code == 77)); then
        sed -n 's/^skipped: //p' "$(log_of "$index")" | tail -n 1
    elif ((code == 124 && elapsed[$index] / 1000000 >= limits[index])); then
        echo "not finished after ${limits[index]} s"
    elif ((code > 128)); then
        echo "ended by SIG$(kill -l $((code - 128)))"
    elif ((code == 126 || code == 127)); then
        echo "could not be run"
    elif ((code != 0)); then
        echo "exit status $code"
    fi
}

show_log() {
    local log=$1 lines

    lines=$(wc -l <"$log")
    ((lines <= shown_lines)) || echo "      | ... the last $shown_lines of $lines lines of $log:"
    tail -n "$shown_lines" "$log" | sed 's/^/      | /'
}

report() {
    local index=$1 verdict=FAIL reason

    case ${status[$index]} in
    0) verdict=PASS passed=$((passed + 1)) ;;
    77) verdict=SKIP skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) ;;
    esac
    reason=$(reason_of "$index")
    printf '%s  %-12s %-44s %4d.%02d s%s\n' $verdict "${configurations[index]}" "${names[index]}" \
        $((elapsed[$index] / 1000000)) $((elapsed[$index] / 10000 % 100)) "${reason:+  ($reason)}"
    [[ $verdict != FAIL ]] || show_log "$(log_of "$index")"
}

# ---- all tests -------------------------------------------------------------------------------------------------------
run_from() {
    local next=$1 shown=$1 count=${#names[@]} index

    while ((shown < count)); do
        while ((next < count && ${#group[@]} < jobs)); do
            start_test "$next"
            next=$((next + 1))
        done
        # What ended between two waits is not waited for again, so look at all.
        wait -n
        for index in "${!group[@]}"; do
            kill -0 "${group[$index]}" 2>/dev/null || finish_test "$index"
        done
        while ((shown < count)) && [[ -n ${status[$shown]-} ]]; do
            report "$shown"
            shown=$((shown + 1))
        done
    done
}

# Building a configuration counts as a test: the one at index, with those that follow it. A program that did not build
# must not be run as it was before.
build_from() {
    local index=$1 configuration=${configurations[$1]} programs=() targets command log

    for command in "${commands[@]:index + 1}"; do
        [[ $command == *.sh ]] || programs+=("$command")
    done
    read -r -a targets <<<"${needs[*]:index + 1}"
    log=$(log_of "$index")
    mkdir -p "${log%/*}"
    started[$index]=$(now_us)
    make_in "$configuration" -k -j"$jobs" all "${programs[@]}" "${targets[@]}" >"$log" 2>&1
    status[$index]=$?
    elapsed[$index]=$(($(now_us) - started[$index]))
    report "$index"
    ((status[$index] != 0)) || return 0
    for command in "${programs[@]}"; do
        make_in "$configuration" -q "$command" 2>/dev/null || rm -f "$command"
    done
}

end_all() {
    local pid

    for pid in "${group[@]}"; do
        kill -KILL -- "-$pid" 2>/dev/null
    done
}

main() {
    local configuration first

    trap end_all EXIT
    trap 'exit 130' INT TERM
    for configuration in "$@"; do
        first=${#names[@]}
        names+=(build) configurations+=("$configuration") commands+=(make) limits+=(0) needs+=('')
        add_unit_tests "$configuration"
        [[ $configuration != "$1" ]] || add_scripts "$configuration"
        build_from "$first"
        run_from $((first + 1))
    done
    ((passed + failed + skipped > $#)) || echo "no test's name contains '$match'"
    echo "$passed passed, $failed failed, $skipped skipped"
    ((failed == 0 && passed + failed + skipped > $#))
}

match=
if [[ ${1-} == --match ]]; then
    match=$2
    shift 2
fi
[[ $# -gt 0 ]] || { echo "usage: tools/run_tests.sh [--match pattern] configuration..." >&2; exit 2; }
main "$@"
