#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Which packages the archives that the command is linked with belong to:
#   tools/linked_packages.sh sources ARCHIVE...    "elfutils (= 0.188-2.1), zlib (= ...)", for the field Built-Using
#   tools/linked_packages.sh licenses ARCHIVE...   their licenses, in full, as the packages have them
# Where there is no dpkg, or an archive is of no package, the second says that, and where to look.
set -euo pipefail

action=$1
shift

package_of() {
    { dpkg-query --search "$(realpath "$1")" 2>/dev/null || true; } | sed 's/: [^:]*$//; q'
}

sources() {
    local archive package

    for archive; do
        package=$(package_of "$archive")
        [[ -n $package ]] || continue
        # shellcheck disable=SC2016 # dpkg-query puts the values in
        dpkg-query --show --showformat '${source:Package} (= ${source:Version})\n' "$package"
    done | LC_ALL=C sort -u | paste -sd, | sed 's/,/, /g'
}

license() {
    local archive=$1 package=$2 file=/usr/share/doc/${2%%:*}/copyright

    echo "=== ${archive##*/}${package:+, of $package}"
    if [[ -r $file ]]; then
        # shellcheck disable=SC2016
        dpkg-query --show --showformat 'version ${Version}\n\n' "$package"
        cat "$file"
    else
        printf '\nIt is of no package that is known here: its license is with what it was installed from.\n'
    fi
    echo
}

licenses() {
    local archive

    echo "The gait command is linked with these libraries. Texts that are only named are in /usr/share/common-licenses."
    echo
    for archive; do
        license "$archive" "$(package_of "$archive")"
    done
}

case $action in
sources | licenses) "$action" "$@" ;;
*)
    echo "linked_packages.sh: unknown action '$action': use sources or licenses" >&2
    exit 2
    ;;
esac
