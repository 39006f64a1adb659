#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# valgrind maps the program and its libraries, and runs translations of them: what is hooked there leads it to code that it
# knows nothing of. So nothing of that is hooked, whenever somebody comes.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

command -v valgrind >/dev/null || { echo 'skipped: there is no valgrind'; exit 77; }

mkfifo "$folder/words"
valgrind -q --error-exitcode=9 sort -r <"$folder/words" >"$folder/said" 2>"$folder/errors" &
program=$!
started+=("$program")
exec 9>"$folder/words"
# Its memory tells when libc is there; it then waits for us.
has_libc() { grep -q 'r-xp.*libc\.so' "/proc/$program/maps"; }
until_true 'the program has its libraries' has_libc
sleep 0.5

"$gait" attach -o "$folder/traces" --hook '*' --hook 'libc.so.6!*' "$program" 9>&- >"$folder/out" 2>"$folder/err" &
recorder=$!
started+=("$recorder")
is_begun() { grep -qs "functions of process" "$folder/err"; }
until_true 'it is attached to' is_begun
check 'what valgrind translates is hooked' grep -q 'hooked 0 functions' "$folder/err"
seq 1 3000 >&9
exec 9>&-
wait "$program"
check 'the program ends with another status' test $? = 0
check 'valgrind says something' test ! -s "$folder/errors"
seq 3000 -1 1 | LC_ALL=C sort -r | cmp -s - <(LC_ALL=C sort -r "$folder/said")
check 'the program has another result' test $? = 0
wait "$recorder"
check 'the recorder does not say by its status that nothing was hooked' test $? = 125
finish
