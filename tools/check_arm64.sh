#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Everything builds for arm64, with the flags that it is built with there. On an arm64 machine this is the usual build.
# time limit: 600 s
set -euo pipefail
cd "$(dirname "$0")/.."

unset MAKEFLAGS MAKELEVEL
if [[ $(uname -m) == aarch64 ]]; then
    exec make DEPS=no all
fi
command -v aarch64-linux-gnu-gcc >/dev/null || { echo "skipped: there is no aarch64-linux-gnu-gcc"; exit 77; }
make DEPS=no CROSS_COMPILE=aarch64-linux-gnu- all
# readelf reads its whole input; grep -q would end it early
readelf -h build/debug-aarch64-linux-gnu-gcc/libgait.so | grep 'Machine: *AArch64'
