#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A forked child goes on within the calls that its parent forked in: its tree begins with them. They are calls of the
# parent, and no more calls because of the child, whose share of their time begins where it does.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

cat >"$folder/expected" <<'TREE'
main() {
  serve() {
    loop() {
      job();
      job();
    } /* loop */
    job();
  } /* serve */
} /* main */
main() { /* resumed */
  serve() { /* resumed */
    loop() { /* resumed */
      job();
    } /* loop */
  } /* serve */
} /* main */
main() { /* resumed */
  serve() { /* resumed */
    loop() { /* resumed */
      job();
    } /* loop */
    job();
  } /* serve */
} /* main */
TREE
for options in "-O0" "-O2" "-O2 -static"; do
    # shellcheck disable=SC2086
    gcc $options -g -o "$folder/forking" tests/system/programs/forking_calls.c || exit 1
    checks=$((checks + 1))
    rm -rf "$folder/traces"
    "$gait" spawn --quiet -o "$folder/traces" --hook main --hook serve --hook loop --hook job -- "$folder/forking" \
        >"$folder/said" 2>"$folder/err" || fail "$options: status $?"
    "$gait" verify "$folder"/traces/* >"$folder/verify" 2>&1 || fail "$options: a bad trace" "$folder/verify"
    # A process after the other, in the order in which they began.
    "$gait" replay "$folder"/traces/* 2>"$folder/err" |
        sed -n 's/^.\{13\} *[a-z]* \([0-9][0-9]*\)  \( *[a-z}].*\)/\1\t\2/p' | sort -s -n -k 1,1 | cut -f 2 >"$folder/tree"
    diff "$folder/expected" "$folder/tree" >"$folder/diff" || fail "the trees, with $options" "$folder/diff"
    "$gait" report "$folder"/traces/* 2>"$folder/err" | awk '/ by total time/ { on = 1 } on && /^$/ { exit }
        on && /%  +[0-9]/ { print $(NF - 1), $7 }' | sort >"$folder/calls"
    diff - "$folder/calls" >"$folder/diff" <<<$'job 6\nloop 1\nmain 1\nserve 1' || fail "calls, with $options" "$folder/diff"
done
finish
