#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Coroutines in recordings by hooks: their calls are suspended and resumed, not unwound or without an end, wherever their
# stacks are and however they are switched to. Each is one call, with the time that it was on its stack.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

cat >"$folder/expected" <<'TREE'
run() {
  resume() {
    body() {
      counts() {
        helper();
        yield(); /* suspended */
      } /* counts: suspended */
    } /* body: suspended */
  } /* resume */
  between() {
    helper();
  } /* between */
  resume() {
    body() {
      counts() {
        helper();
        yield(); /* suspended */
      } /* counts: suspended */
    } /* body: suspended */
  } /* resume */
  resume() {
    body() { /* resumed */
      counts() { /* resumed */
        yield(); /* resumed */
        helper();
        yield(); /* suspended */
      } /* counts: suspended */
    } /* body: suspended */
  } /* resume */
  resume() {
    body() { /* resumed */
      counts() { /* resumed */
        yield(); /* resumed */
        helper();
        yield(); /* suspended */
      } /* counts: suspended */
    } /* body: suspended */
  } /* resume */
  between() {
    helper();
  } /* between */
  resume() {
    body() { /* resumed */
      counts() { /* resumed */
        yield(); /* resumed */
      } /* counts */
    } /* body */
  } /* resume */
  resume() {
    body() { /* resumed */
      counts() { /* resumed */
        yield(); /* resumed */
      } /* counts */
    } /* body */
  } /* resume */
} /* run */
TREE
# One that is switched to by hand is never returned from.
awk '/resume\(\)/ { resumes++ }
    { if (resumes > 4 && $0 == "    } /* body */") $0 = "    } /* body: suspended */"; print }' \
    "$folder/expected" >"$folder/expected_own"

hooks=()
for function in run resume between body counts helper yield; do
    hooks+=(--hook "$function")
done

calls=$'between 2\nbody 2\ncounts 2\nhelper 6\nresume 6\nrun 1\nyield 4'

for level in -O0 -O1 -O2; do
    gcc "$level" -g -o "$folder/coroutines" tests/system/programs/coroutines.c || exit 1
    for place in frame heap; do
        for way in context own; do
            checks=$((checks + 1))
            what="coroutines $place $way with $level"
            expected=$folder/expected
            [[ $way == context ]] || expected=$folder/expected_own
            rm -rf "$folder/traces"
            "$gait" spawn --quiet -o "$folder/traces" "${hooks[@]}" -- "$folder/coroutines" "$place" "$way" \
                >"$folder/said" 2>"$folder/err" || fail "$what: status $?"
            "$gait" verify "$folder"/traces/* >"$folder/verify" 2>&1 || fail "$what: a bad trace" "$folder/verify"
            "$gait" replay "$folder"/traces/* 2>"$folder/err" | sed -n 's/^.\{13\}\( *[a-z}].*\)/\1/p' >"$folder/lines"
            # The outermost function's indentation is nobody's.
            awk '/run\(\)/ { indentation = match($0, /[a-z]/) } indentation { print substr($0, indentation) }
                /\* run \*/ { exit }' "$folder/lines" >"$folder/tree"
            diff "$expected" "$folder/tree" >"$folder/diff" || fail "$what" "$folder/diff"
            "$gait" report "$folder"/traces/* 2>"$folder/err" | awk '/ by total time/ { on = 1 } on && /^$/ { exit }
                on && /%  +[0-9]/ { print $(NF - 1), $7 }' | sort >"$folder/calls"
            diff - "$folder/calls" >"$folder/diff" <<<"$calls" || fail "$what: numbers of calls" "$folder/diff"
        done
    done
done
finish
