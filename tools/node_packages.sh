#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the packages of tests/package-lock.json, by which tests read what gait exports, into build/deps/node. The
# file "installed" there says that it was done. They are used where they can be had: the tests that need them skip themselves
# without.
set -euo pipefail
cd "$(dirname "$0")/.."
place=build/deps/node

cmp -s tests/package-lock.json "$place/installed" && exit 0
if ! command -v npm >/dev/null; then
    echo "gait: npm is not installed; the tests that need its packages will be skipped"
    exit 0
fi
echo "gait: installing the packages of tests/package.json"
mkdir -p "$place"
rm -f "$place/installed"
cp tests/package.json tests/package-lock.json "$place"
# Nothing of them is run here.
if (cd "$place" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error); then
    cp tests/package-lock.json "$place/installed"
else
    echo "gait: they cannot be installed here; the tests that use them will be skipped"
fi
