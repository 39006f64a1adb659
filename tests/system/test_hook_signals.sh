#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Signal handlers of programs whose functions are hooked: what they see, and that who attaches and leaves while one runs
# changes nothing, though what it has interrupted is in code of ours. The program is tests/system/programs/handled_faults.c.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

gcc -O1 -g -o "$folder/program" tests/system/programs/handled_faults.c || exit 1

# ---- from the first instruction ------------------------------------------------------------------------------------
checks=$((checks + 1))
printf 'ask\nfault\ngo\nask\nfault\ngo\n' | "$folder/program" >"$folder/native"
printf 'ask\nfault\ngo\nask\nfault\ngo\n' |
    "$gait" spawn --quiet -o "$folder/traces" --hook '*' -- "$folder/program" >"$folder/out" 2>"$folder/err" || fail "spawn"
diff "$folder/native" "$folder/out" >"$folder/diff" || fail "another output" "$folder/diff"
"$gait" verify "$folder"/traces/* >"$folder/verify" 2>&1 || fail "a bad trace" "$folder/verify"
rm -rf "$folder/traces"

# ---- a handler that lets the thread go on elsewhere, and come back --------------------------------------------------
# Go interrupts its own functions by signals: where they are hooked it must see that it cannot.
if command -v go >/dev/null; then
    GOCACHE="$folder/gocache" GO111MODULE=off GOFLAGS='' go build -o "$folder/called_by_c" tests/system/programs/called_by_c.go || exit 1
    check "by itself" test "$("$folder/called_by_c")" == 28800
    checks=$((checks + 1))
    for hooked in '_cgoexp*' '*'; do
        "$gait" spawn --quiet -o "$folder/traces" --overflow drop --hook "$hooked" -- "$folder/called_by_c" >"$folder/out" 2>"$folder/err" ||
            fail "called by C, $hooked hooked" "$folder/err"
        [[ $(<"$folder/out") == 28800 ]] || fail "another output of what is called by C" "$folder/out"
        "$gait" verify "$folder"/traces/* >"$folder/verify" 2>&1 || fail "a bad trace" "$folder/verify"
        rm -rf "$folder/traces"
    done
else
    echo "skipped what is called by C: there is no Go"
fi

# ---- a handler that never comes back --------------------------------------------------------------------------------
gcc -O1 -o "$folder/jumping" tests/system/programs/jumping_handler.c || exit 1
checks=$((checks + 1))
"$gait" spawn --quiet -o "$folder/traces" --overflow drop --hook interrupted -- "$folder/jumping" >"$folder/out" 2>"$folder/err" ||
    fail "jumping" "$folder/err"
[[ $(<"$folder/out") == jumped ]] || fail "another output of what jumps" "$folder/out"
"$gait" verify "$folder"/traces/* >"$folder/verify" 2>&1 || fail "a bad trace of what jumps" "$folder/verify"
rm -rf "$folder/traces"

# ---- somebody comes and goes ---------------------------------------------------------------------------------------
mkfifo "$folder/input"
"$folder/program" <"$folder/input" >"$folder/said" 2>&1 &
process=$!
started+=("$process")
exec 3>"$folder/input"

says() {
    [[ $(grep -c "^$1" "$folder/said") == "$2" ]]
}

attach() {
    # What the last visitor said is not this one's word.
    rm -f "$folder/err"
    "$gait" attach -o "$folder/traces" --hook '*' "$process" >"$folder/err" 2>&1 &
    visitor=$!
    until_true "attached" grep -s -q 'hooked [1-9]' "$folder/err"
}

leave() {
    kill -INT "$visitor"
    wait "$visitor" || fail "attach gives $?"
    "$gait" verify "$folder"/traces/* >"$folder/verify" 2>&1 || fail "a bad trace" "$folder/verify"
    rm -rf "$folder/traces"
}

faults=0
tell() {
    echo "$1" >&3
    case $1 in
    fault)
        faults=$((faults + 1))
        until_true "a fault" says 'in load, at the page' "$faults"
        ;;
    go) until_true "a value" says 'value 42' "$faults" ;;
    esac
}

until_true "ready" says ready 1
for ((round = 0; round < 3; round++)); do
    # It leaves while the handler runs.
    attach
    tell fault
    leave
    tell go
    # It comes while the handler runs.
    tell fault
    attach
    tell go
    leave
    # All of it meanwhile.
    attach
    tell ask
    tell fault
    tell go
    leave
    tell ask
done
until_true "asked" says 'own, own' 6
exec 3>&-
wait "$process"
check "the program ends well" test $? == 0
check "nothing was seen" test "$(grep -c -E 'another|elsewhere' "$folder/said")" == 0
finish
