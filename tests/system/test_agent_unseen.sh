#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The agent is mapped from the file of the command: still it is no module of the program's, none of its functions is
# hooked, and the program has no descriptor more; nor have programs that it executes.
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

modules() {
    "$gait" query --csv "$1" "SELECT DISTINCT module FROM modules" 2>"$folder/err"
}

# descriptors [gait...]: those of a program, and of one that it executes; stdin is closed, too
descriptors() {
    "$@" /bin/sh -c 'cd /proc/self/fd && echo *; exec /bin/sh -c "cd /proc/self/fd && echo *"' 0<&-
}

descriptors >"$folder/natively"
for way in '--follow none' '--follow call' '--hook *!*'; do
    read -ra options <<<"$way"
    rm -rf "$folder/trace"
    descriptors "$gait" spawn --quiet -o "$folder/trace" "${options[@]}" -- >"$folder/observed" 2>"$folder/err" ||
        fail "$way: ended with $?"
    # A shell's own are the same; dash keeps what it has moved away at high numbers.
    check "$way: other descriptors than natively" diff "$folder/natively" "$folder/observed"
    for trace in "$folder"/trace/*; do
        check "$way: the shell is no module" grep -q -E '^(dash|bash|sh)$' <(modules "$trace")
        check "$way: the agent is a module" test "$(modules "$trace" | grep -c gait)" = 0
        check "$way: the trace is bad" "$gait" verify "$trace" >"$folder/out"
    done
done
echo "$checks checks, $failures failed"
[[ $failures == 0 ]]
