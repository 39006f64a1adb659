#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the Debian packages that are missing for the given purposes: build, test, bench, torture, format, deb.
# Does nothing, and says nothing, when all are there. A package marked with "?" is used where it can be had: the tests
# that need it skip themselves without it.
set -euo pipefail
os_release=${OS_RELEASE-/etc/os-release}

# Libraries that the support code of tests and benchmarks calls: a peer, and those whose work is followed.
linked='libzydis-dev libunwind-dev zlib1g-dev libbz2-dev liblzma-dev libzstd-dev libsqlite3-dev liblua5.4-dev'

packages_for() {
    case $1 in
    build)
        echo gcc libc6-dev binutils make libzstd-dev liblzma-dev libbz2-dev libdw-dev libiberty-dev libsqlite3-dev zlib1g-dev
        # what looks into the kernel, and makes programs for it
        echo libtraceevent-dev libtracefs-dev libbpf-dev clang
        ;;
    test)
        # compilers, sanitizer runtimes, what the checks use
        echo g++ clang libclang-rt-14-dev pkgconf shellcheck
        echo "$linked"
        # what the decoder and the encoder are compared with, besides
        echo '?llvm-22'
        # what reads traces that were exported; npm may be there without the package of that name
        echo protobuf-compiler babeltrace2 lcov '?chromium' '?golang-go'
        command -v npm >/dev/null || echo '?npm'
        # large and unlike programs and libraries, whose instructions are read
        echo libjavascriptcoregtk-4.1-0 libssl3 libstdc++6 cpp-12 python3.11-minimal perl-base zlib1g
        # programs that are recorded, natively and followed
        echo coreutils bash gzip xz-utils zstd bzip2 tar python3 perl sqlite3 git lua5.4 bc redis-server nginx-light wrk curl
        # what looks after them, and what is tried where it can be had
        echo procps '?strace' '?musl-tools' '?xxd' '?valgrind' '?gdb' '?bpftrace' '?linux-perf'
        # what names and lines are compared with, and forms of debug information
        echo '?llvm' '?dwz' '?rustc' '?golang-go' '?elfutils' '?debuginfod'
        # another kernel, which is tried in a machine of its own
        echo '?qemu-system-x86' '?linux-image-amd64' '?busybox-static' '?cpio'
        # the package, and what looks for faults in it
        echo '?debhelper' '?lintian'
        # the other architecture
        [[ $(uname -m) == aarch64 ]] || echo binutils-aarch64-linux-gnu gcc-aarch64-linux-gnu libc6-dev-arm64-cross
        ;;
    bench)
        echo "$linked"
        # programs that are recorded, and other tracers
        echo gzip bzip2 xz-utils zstd sqlite3 lua5.4 python3 perl openssl redis-server
        # a large program to find lines of, and what else finds them
        echo g++ '?llvm'
        echo '?uftrace' '?lttng-tools' '?liblttng-ust1' '?liblttng-ust-dev' '?strace' '?linux-perf' '?bpftrace'
        ;;
    torture)
        # the programs that it looks at; each is passed over where it is not there
        echo '?bash' '?dash' '?coreutils' '?findutils' '?grep' '?sed' '?gawk' '?perl' '?python3' '?libpython3.11-testsuite'
        echo '?ruby' '?lua5.4' '?luajit' '?nodejs' '?default-jdk-headless' '?php-cli' '?guile-3.0' '?sbcl' '?ocaml' '?tcl'
        echo '?gcc' '?g++' '?clang' '?rustc' '?golang-go' '?git' '?make' '?tar' '?gzip' '?bzip2' '?xz-utils' '?zstd' '?pigz'
        echo '?openssl' '?sqlite3' '?postgresql' '?redis-server' '?nginx-light' '?memcached' '?curl' '?sox' '?imagemagick'
        echo '?vim' '?tmux' '?openssh-client' '?musl-tools' '?chromium' '?stress-ng' '?valgrind' '?gdb' '?strace' '?procps'
        echo '?qemu-user' '?gcc-aarch64-linux-gnu' '?libc6-dev-arm64-cross'
        echo '?mariadb-server' '?apache2' '?haproxy' '?erlang-base' '?mono-runtime' '?mono-mcs' '?ghc' '?racket' '?r-base-core'
        echo '?octave' '?swi-prolog-nox' '?emacs-nox' '?ffmpeg' '?pypy3' '?gforth' '?polyml' '?clisp' '?chezscheme' '?povray'
        echo '?tarantool' '?lldb' '?libreoffice-writer-nogui' '?firefox-esr' '?wine' '?wine64'
        ;;
    format) echo clang-format ;;
    deb) echo debhelper ;;
    *)
        echo "tools/deps.sh: unknown purpose '$1': use build, test, bench, torture, format or deb" >&2
        exit 2
        ;;
    esac
}

fail() {
    printf 'gait: %s\n' "$@" >&2
    printf 'gait: with everything in place by other means, make DEPS=no goes on without this check\n' >&2
    exit 1
}

is_debian_12() {
    [[ -r $os_release ]] || return 1
    # shellcheck source=/dev/null
    (. "$os_release" && [[ ${ID-} == debian && ${VERSION_ID-} == 12 ]])
}

# Leaves the packages that are not installed in the array "missing", with their mark.
find_missing() {
    local -A installed=()
    local state name package

    missing=()
    if command -v dpkg-query >/dev/null; then
        while read -r state name; do
            [[ $state == installed ]] && installed[${name%%:*}]=1
        done < <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]#\?}" 2>/dev/null)
    fi
    for package in "${wanted[@]}"; do
        [[ -n ${installed[${package#\?}]-} ]] || missing+=("$package")
    done
}

as_root() {
    if [[ $(id -u) == 0 ]]; then
        "$@"
    else
        sudo "$@"
    fi
}

apt_get() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@"
}

install_missing() {
    local required=() package

    echo "gait: installing ${missing[*]#\?}"
    apt_get update || fail "the package lists could not be fetched; is the network reachable?"
    for package in "${missing[@]}"; do
        [[ $package == \?* ]] || required+=("$package")
    done
    [[ ${#required[@]} == 0 ]] || apt_get install --no-install-recommends "${required[@]}" ||
        fail "installing ${required[*]} failed; the lines above say why"
    for package in "${missing[@]}"; do
        [[ $package != \?* ]] || apt_get install --no-install-recommends "${package#\?}" ||
            echo "gait: ${package#\?} cannot be installed here; the tests that use it will be skipped"
    done
}

main() {
    local purpose

    for purpose in "$@"; do
        mapfile -t -O "${#wanted[@]}" wanted < <(packages_for "$purpose" | tr -s ' ' '\n')
    done
    [[ ${#wanted[@]} -gt 0 ]] || fail "name at least one purpose: build, test, bench, torture, format or deb"
    find_missing
    [[ ${#missing[@]} -gt 0 ]] || exit 0
    is_debian_12 ||
        fail "this is not Debian 12, whose package names are known here; please install the equivalents of:" \
            "  ${missing[*]#\?}"
    [[ $(id -u) == 0 ]] || command -v sudo >/dev/null ||
        fail "these packages are missing and there are no rights to install them: ${missing[*]#\?}"
    install_missing
}

wanted=()
missing=()
main "$@"
