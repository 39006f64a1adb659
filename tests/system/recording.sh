# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What tests of recordings have in common; they begin with sourcing it. The working folder is the project's. $folder is a
# place for files that goes at the end, and so do processes whose numbers are in the array started.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

[[ $(uname -m) == x86_64 ]] || { echo "skipped: gait knows no other CPU's instructions yet"; exit 77; }
export LC_ALL=C
gait=$PWD/build/gait
folder=$(mktemp -d)
started=()
failures=0 checks=0

clean_up() {
    [[ ${#started[@]} == 0 ]] || kill -KILL "${started[@]}" 2>/dev/null
    rm -rf "$folder"
}
trap clean_up EXIT

# fail "what" [file]: shows the first lines of the file, of $folder/err if none is named
fail() {
    failures=$((failures + 1))
    echo "FAILED: $1"
    [[ ! -s ${2-$folder/err} ]] || head -n 8 "${2-$folder/err}" | sed 's/^/    /'
}

# check "what" command...: it is a failure if the command is one
check() {
    local what=$1
    shift
    checks=$((checks + 1))
    "$@" || fail "$what"
}

# until_true "what" command...: waits for it to succeed; it is a failure if that takes half a minute
until_true() {
    local what=$1 tries
    shift
    for ((tries = 0; tries < 600; tries++)); do
        "$@" && return 0
        sleep 0.05
    done
    fail "never happened: $what"
    return 1
}

# refuses status "text" arguments...: gait ends so, and says that
refuses() {
    local expected=$1 text=$2 status
    shift 2
    checks=$((checks + 1))
    "$gait" "$@" >"$folder/out" 2>"$folder/err"
    status=$?
    if [[ $status != "$expected" ]] || ! grep -q -F -- "$text" "$folder/err"; then
        fail "gait $*: status $status, expected: $text"
    fi
}

# warns TEXT ARGUMENTS...: gait does it, and says something about it
warns() {
    local text=$1
    shift
    refuses 0 "$text" "$@"
    check "no warning of gait $*" grep -q '^gait: warning: ' "$folder/err"
}

# is_built_with NAME: whether gait has libdw or libsqlite3, which may be part of it
is_built_with() {
    local -A functions=([libdw]=dwarf_begin_elf [libsqlite3]=sqlite3_open)
    local shared
    shared=$(ldd "$gait")
    [[ $shared == *"$1"* || $(nm "$gait" 2>/dev/null | grep -c -w "${functions[$1]}") != 0 ]]
}

# Ends the test.
finish() {
    echo "$checks checks, $failures failed"
    [[ $failures == 0 ]]
}
