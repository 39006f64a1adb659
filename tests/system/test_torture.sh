#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A part of what make torture does, which takes much longer: programs in every way that gait has to look at them, each way
# and mode with some. Programs that are not installed are passed over, which is said.
# configurations: debug-gcc
# needs: followed-programs
# time limit: 600 s
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

[[ $(uname -m) == x86_64 ]] || { echo "skipped: gait knows no other CPU's instructions yet"; exit 77; }
failed=0

torture() {
    tests/torture/torture.sh "$@" || failed=1
}

torture -w spawn -m "none hook" dash perl sqlite3 lua5.4 ssh-keygen
torture -w spawn -m "call,ret block" tclsh vim gzip
torture -w attach -m "none call,ret block hook" lua5.4
torture -w attach -m "none hook" redis
torture -w visits -n 4 -m "none call,ret block hook" luajit
torture -w attach -m "none hook" checker-single_step checker-single_step
torture -w spawn -m "none hook" checker-seccomp_filters checker-threads_end checker-exec_chain checker-daemon \
    checker-clone_flags checker-unmapped_code checker-own_tracing
torture -w spawn -m hook checker-bad_pointers checker-children_segment checker-signal_exception checker-signal_storm
torture -w visits -n 4 -m hook checker-signal_storm checker-user_paging
exit $failed
