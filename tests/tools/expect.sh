# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# For tests of the scripts in tools/: small trees in a temporary folder, and what a script should say about them.
set -uo pipefail
# shellcheck disable=SC2034 # for the tests
tools=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../tools" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
expect_failures=0

# put path line...: a file in the tree, a line each
put() {
    mkdir -p "$tree/$(dirname "$1")"
    printf '%s\n' "${@:2}" >"$tree/$1"
}

empty_tree() {
    rm -rf "${tree:?}"/*
}

expect_complain() {
    printf '%s\n%s\n' "FAILED: $1" "$2" | sed '2,$s/^/    /'
    expect_failures=$((expect_failures + 1))
}

# passes behaviour command...
passes() {
    local output

    output=$("${@:2}" 2>&1) || expect_complain "$1: should pass" "$output"
}

# fails_saying text behaviour command...
fails_saying() {
    local output

    if output=$("${@:3}" 2>&1); then
        expect_complain "$2: should fail" "$output"
    elif [[ $output != *"$1"* ]]; then
        expect_complain "$2: should say '$1'" "$output"
    fi
}

expect_done() {
    echo "$expect_failures expectations failed"
    exit $((expect_failures > 0))
}
