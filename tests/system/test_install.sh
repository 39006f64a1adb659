#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What make install leaves can be used through pkg-config alone, and make uninstall takes it away again.
# time limit: 300 s
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v pkg-config >/dev/null || { echo "skipped: pkg-config is not installed"; exit 77; }
unset MAKEFLAGS MAKELEVEL
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
arguments=(DEPS=no MODE=release PREFIX=/opt/gait DESTDIR="$root")

# Beside this test there may be another one that builds the same.
(
    flock 9
    make "${arguments[@]}" install
) 9>build/release.lock
export PKG_CONFIG_PATH=$root/opt/gait/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
expected=$(make -s print-VERSION)

cat >"$root/program.c" <<'PROGRAM'
#include <gait/version.h>
#include <stdio.h>

int main(void)
{
    puts(gait_version());
    return 0;
}
PROGRAM

# expect what actual expected
expect() {
    echo "$1: $2"
    [[ $2 == "$3" ]] || { echo "expected $3"; exit 1; }
}

expect "version in libgait.pc" "$(pkg-config --modversion libgait)" "$expected"

read -r -a flags <<<"$(pkg-config --cflags --libs libgait)"
gcc -Werror -o "$root/shared" "$root/program.c" "${flags[@]}"
expect "the shared program needs" "$(readelf -d "$root/shared" | sed -n 's/.*NEEDED.*\[\(libgait.*\)\]/\1/p')" libgait.so.0
expect "the shared program prints" "$(LD_LIBRARY_PATH=$root/opt/gait/lib "$root/shared")" "$expected"

read -r -a flags <<<"$(pkg-config --static --cflags --libs libgait)"
gcc -Werror -static -o "$root/static" "$root/program.c" "${flags[@]}"
expect "the static program prints" "$("$root/static")" "$expected"

expect "the command prints" "$("$root/opt/gait/bin/gait" --version)" "gait $expected"
! readelf --symbols "$root/opt/gait/bin/gait" | grep -qw main || { echo "the command is not stripped"; exit 1; }
[[ -s $root/opt/gait/share/man/man1/gait.1 ]] || { echo "the manual page is missing"; exit 1; }

for file in LICENSE LINKED.txt CHANGELOG.md; do
    [[ -s $root/opt/gait/share/doc/gait/$file ]] || { echo "$file is missing"; exit 1; }
done

make "${arguments[@]}" uninstall
expect "files left by make uninstall" "$(find "$root/opt" ! -type d)" ""
