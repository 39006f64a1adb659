#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No two structs, unions, enums or headers of src/ and include/ share a name, file-local ones included, and the guard of
# a header follows its path: tools/check_names.sh [tree]
# What stands in for each other counts once: the same in the folders of several CPUs; in the variants of a file, such as
# writer_zlib.c and writer_none.c of writer.h; a header in src/arch that includes its namesake of each CPU. And programs
# that run in the kernel declare the kernel's structs as they need them: those with preserve_access_index.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

find src include -name '*.[ch]' | LC_ALL=C sort | awk '
# Among definitions that stand in for each other (of one slot) those of one alternative count.
function place(path,    parts, noun) {
    slot = path
    alternative = ""
    if (path ~ "^src/arch/[^/]+/") {
        split(path, parts, "/")
        slot = "src/arch/*"
        alternative = parts[3]
        return
    }
    noun = path
    while (path ~ /\.c$/ && sub(/_[^_\/]*$/, "", noun))
        if ((noun ".h") in headers && !((noun ".c") in sources)) {
            slot = noun
            alternative = path
            return
        }
}

function add(name, path) {
    place(path)
    here = ++count[name, slot, alternative]
    if (here > most[name, slot]) {
        most[name, slot] = here
        total[name]++
    }
    paths[name] = paths[name] " " path
}

# A header of src/arch that stands for those of the CPUs.
function is_front(path, base,    line, found) {
    if (path !~ "^src/arch/[^/]+$")
        return 0
    while ((getline line < path) > 0)
        if (line ~ "^#include \"arch/[^/]+/.*/" base "\"")
            found = 1
    close(path)
    return found
}

function check_guard(path,    guard, line, found) {
    guard = path
    sub("^src/|^include/gait/", "", guard)
    sub(/\.h$/, "", guard)
    gsub("[^A-Za-z0-9]", "_", guard)
    guard = "GAIT_" toupper(guard) "_H"
    while ((getline line < path) > 0)
        if (line == "#ifndef " guard)
            found = 1
    close(path)
    if (!found) {
        print path ": its guard should be " guard
        failures++
    }
}

function read_definitions(path,    line, indent, name, waiting) {
    while ((getline line < path) > 0) {
        if (waiting != "" && line ~ "^" indent "}") {
            if (line !~ /preserve_access_index/)
                add(waiting, path)
            waiting = ""
        }
        if (line !~ /^ *(typedef +)?(struct|union|enum) +(__attribute__\(\(.*\)\) *)?[A-Za-z_0-9]+ *\{/)
            continue
        name = line
        sub(/ *\{.*/, "", name)
        sub(/.* /, "", name)
        if (waiting != "" || line ~ /\}/) {
            if (line !~ /preserve_access_index/)
                add(name, path)
            continue
        }
        waiting = name
        indent = line
        sub(/[^ ].*/, "", indent)
    }
    close(path)
}

function report(    name) {
    for (name in total)
        if (total[name] > 1) {
            print name " is the name of several:" paths[name] | "LC_ALL=C sort"
            failures++
        }
    close("LC_ALL=C sort")
}

{
    files[NR] = $0
    if ($0 ~ /\.h$/) headers[$0]; else sources[$0]
}
END {
    for (i = 1; i <= NR; i++) {
        read_definitions(files[i])
        if (files[i] !~ /\.h$/)
            continue
        check_guard(files[i])
        base = files[i]
        sub(".*/", "", base)
        if (!is_front(files[i], base))
            add(base, files[i])
    }
    report()
    print NR " files"
    exit failures > 0
}'
