#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# System calls are shown as they come out of the rings: no folder is needed for them, and none is made.
# configurations: debug-*
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

cp /bin/true "$folder/program" || exit 1

# listing options... : what is listed of a program, with nowhere to write to
listing() {
    checks=$((checks + 1))
    TMPDIR=$folder/nowhere "$gait" syscalls "$@" -- "$folder/program" >"$folder/said" 2>"$folder/err" </dev/null ||
        fail "gait syscalls $*: it fails where there is no folder for temporary files" "$folder/err"
}

listing
grep -q '^execve(.*program"\], .*) = 0$' "$folder/err" || fail "the beginning is not shown" "$folder/err"
grep -q '^exit_group(0) *= ?$' "$folder/err" || fail "the last call is not shown" "$folder/err"
[[ $(tail -n 1 "$folder/err") == "+++ exited with 0 +++" ]] || fail "the end is not shown" "$folder/err"
listing -c
grep -q ' total$' "$folder/err" || fail "no calls are counted" "$folder/err"
listing -f --json
grep -q '"exit_group"' "$folder/err" || fail "there is no object of the last call" "$folder/err"

# Nor is one made where that is possible: nothing has ever come into this one.
mkdir "$folder/temporary"
before=$(stat -c %y "$folder/temporary")
TMPDIR=$folder/temporary "$gait" syscalls -- "$folder/program" >"$folder/said" 2>"$folder/err" </dev/null ||
    fail "it fails" "$folder/err"
check "a temporary folder is made" test "$(stat -c %y "$folder/temporary")" == "$before"
finish
