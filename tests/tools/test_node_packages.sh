#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs tools/node_packages.sh in a tree of its own, with an npm that only pretends.
. "$(dirname "$0")/expect.sh"

# shellcheck disable=SC2016 # text of a script
tree_with_npm() {
    empty_tree
    mkdir -p "$tree/tools" "$tree/bin"
    cp "$tools/node_packages.sh" "$tree/tools"
    put tests/package.json '{}'
    put tests/package-lock.json "$1"
    put bin/npm '#!/bin/bash' 'echo "npm $*" >>../../../calls' "exit $2"
    chmod +x "$tree/bin/npm"
}

install() {
    PATH=$tree/bin:$PATH "$tree/tools/node_packages.sh"
}

calls() {
    grep -c . "$tree/calls"
}

tree_with_npm one 0
passes "what is missing is installed" install
passes "without running anything of it" grep -q -e 'npm ci --ignore-scripts' "$tree/calls"
passes "and that is noted" cmp "$tree/tests/package-lock.json" "$tree/build/deps/node/installed"
passes "what is there is left alone" install
passes "so npm was called once" test "$(calls)" = 1
put tests/package-lock.json two
passes "another list is installed" install
passes "so npm was called again" test "$(calls)" = 2

tree_with_npm one 1
passes "what cannot be had is done without" install
passes "and tried again the next time" test ! -e "$tree/build/deps/node/installed"

expect_done
