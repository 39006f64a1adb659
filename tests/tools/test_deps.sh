#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs tools/deps.sh against commands that only pretend, so that nothing is installed.
. "$(dirname "$0")/expect.sh"

export OS_RELEASE=$tree/os-release INSTALLED=$tree/installed CALLS=$tree/calls
PATH=$tree/bin:$PATH

pretend() {
    put "bin/$1" '#!/bin/bash' "${@:2}"
    chmod +x "$tree/bin/$1"
}

# shellcheck disable=SC2016 # text of scripts
debian_with() {
    empty_tree
    put os-release ID=debian VERSION_ID=12
    put installed "$@"
    : >"$CALLS"
    pretend dpkg-query 'for p in "${@:4}"; do grep -qx "$p" "$INSTALLED" && echo "installed $p"; done; exit 1'
    pretend apt-get 'echo "apt-get $*" >>"$CALLS"; [[ ! -e $INSTALLED.broken ]]'
    pretend id 'echo 0'
}

calls() {
    grep -c "$1" "$CALLS"
}

libraries=(libzstd-dev liblzma-dev libbz2-dev libdw-dev libiberty-dev libsqlite3-dev zlib1g-dev libtraceevent-dev libtracefs-dev libbpf-dev)

debian_with gcc libc6-dev binutils make "${libraries[@]}" clang
passes "all is there" "$tools/deps.sh" build
passes "and nothing was called" test "$(calls apt-get)" = 0
passes "and nothing is said" test -z "$("$tools/deps.sh" build 2>&1)"

debian_with gcc make "${libraries[@]}" clang
passes "something is missing" "$tools/deps.sh" build
passes "the lists are fetched once" test "$(calls ' update')" = 1
passes "only what is missing is installed" test "$(calls ' install .* libc6-dev binutils$')" = 1

debian_with gcc make "${libraries[@]}" clang
touch "$INSTALLED.broken"
fails_saying 'is the network reachable' "no network" "$tools/deps.sh" build

debian_with gcc make "${libraries[@]}" clang
put os-release ID=fedora VERSION_ID=40
fails_saying 'libc6-dev binutils' "another distribution is told what is needed" "$tools/deps.sh" build
fails_saying 'make DEPS=no' "another distribution is told how to go on" "$tools/deps.sh" build
passes "and nothing was called there" test "$(calls apt-get)" = 0

debian_with gcc
fails_saying 'unknown purpose' "an unknown purpose" "$tools/deps.sh" holidays

expect_done
