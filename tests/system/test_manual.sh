#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each command has a line in the synopsis of gait(1), and a manual page that man finds nothing wrong with.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

sed -n '/^\.SH SYNOPSIS/,/^\.SH DESCRIPTION/p' docs/man/gait.1 >"$folder/synopsis"
mapfile -t names < <("$gait" help | sed -n 's/^  \([a-z][a-z ]*[a-z]\)  .*/\1/p')
((${#names[@]} > 20)) || fail "gait help lists ${#names[@]} commands"
for name in "${names[@]}"; do
    checks=$((checks + 1))
    grep -q "^\.B \(\"\)\?gait $name\(\"\)\?$" "$folder/synopsis" || fail "gait(1) has no synopsis of $name" "$folder/synopsis"
done

if command -v groff >/dev/null; then
    checks=$((checks + 1))
    groff -man -ww -z docs/man/gait.1 2>"$folder/err"
    [[ ! -s $folder/err ]] || fail "gait(1)" "$folder/err"
    for name in "${names[@]}"; do
        checks=$((checks + 1))
        # shellcheck disable=SC2086 # a name may be two words
        "$gait" help --manual $name >"$folder/page"
        groff -man -ww -Tutf8 "$folder/page" >"$folder/shown" 2>"$folder/err"
        [[ ! -s $folder/err ]] || fail "gait-${name// /-}(1)" "$folder/err"
        grep -q "gait $name" "$folder/shown" || fail "gait-${name// /-}(1) does not name its command" "$folder/shown"
    done
else
    echo 'not installed: groff'
fi

finish
