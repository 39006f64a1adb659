#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make deb builds packages without an error that lintian knows. What is in them runs, names no folder of the build, says
# what it is linked with, and is the same to the byte when it is built elsewhere.
# time limit: 900 s
set -euo pipefail
cd "$(dirname "$0")/../.."

for tool in dpkg-buildpackage dh lintian; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
unset MAKEFLAGS MAKELEVEL
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$1"
    exit 1
}

make DEPS=no deb >"$work/log" 2>&1 || { tail -n 40 "$work/log"; fail "make deb failed"; }
lintian --fail-on error build/deb/*.changes 2>&1 || fail "lintian found errors"

version=$(make -s print-VERSION)
architecture=$(dpkg --print-architecture)
for package in gait libgait0 libgait-dev; do
    dpkg-deb --extract "build/deb/${package}_${version}_$architecture.deb" "$work/root"
done
command=$work/root/usr/bin/gait
[[ $("$command" --version) == "gait $version" ]] || fail "the packaged command does not say its version"
"$command" spawn -o "$work/traces" -- /bin/true 2>"$work/said" || fail "it does not record: $(cat "$work/said")"
"$command" verify "$work"/traces/* || fail "what it recorded is not whole"
! readelf --symbols "$command" | grep -qw main || fail "the packaged command is not stripped"

zcat "$work/root/usr/share/doc/gait/LINKED.txt.gz" >"$work/linked"
for library in $(make -s MODE=release print-NEEDED_LIBS) c gcc; do
    grep -q "^=== lib$library.a, of " "$work/linked" || fail "LINKED.txt does not have the license of lib$library"
done
dpkg-deb --field "build/deb/gait_${version}_$architecture.deb" Built-Using | grep -q 'elfutils (= ' ||
    fail "the package does not say what it was built using"

# The packages were built in build/deb/gait-VERSION, and these are built here. Beside this test there may be another one
# that installs a release build.
(
    flock 9
    make DEPS=no MODE=release PREFIX=/usr DESTDIR="$work/installed" install >"$work/log" 2>&1
) 9>build/release.lock || { tail -n 40 "$work/log"; fail "make install failed"; }
# Debian's tools take the compiler's name away, and add that of the file with what they have stripped.
put_plain() {
    objcopy --enable-deterministic-archives --strip-debug --remove-section=.comment --remove-section=.note \
        --remove-section=.gnu_debuglink "$1" "$2"
}
# is_same packaged installed
is_same() {
    put_plain "$1" "$work/plain.packaged"
    put_plain "$2" "$work/plain.installed"
    cmp "$work/plain.packaged" "$work/plain.installed"
}
is_same "$command" "$work/installed/usr/bin/gait" || fail "the command is not the same where it is built elsewhere"
library=libgait.so.$version
is_same "$work/root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)/libgait.a" "$work/installed/usr/lib/libgait.a" ||
    fail "libgait.a is not the same where it is built elsewhere"
for file in bin/gait lib/libgait.a "lib/$library"; do
    if grep -qaF "$PWD" "$work/installed/usr/$file"; then fail "$file names the folder that it was built in"; fi
done
