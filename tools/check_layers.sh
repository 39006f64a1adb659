#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every #include in src/ and include/ obeys src/LAYERS: tools/check_layers.sh [tree]
# The core takes from the system only the freestanding headers, the compiler's own and the kernel's.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

find src include -name '*.[chS]' -o -name '*.def' -o -name '*.inc' | LC_ALL=C sort | awk '
# "arch/x86_64/isa" -> "arch/<cpu>/isa", and the CPU in cpu
function pattern_of(folder,    parts, count) {
    count = split(folder, parts, "/")
    cpu = ""
    if (parts[1] != "arch" || count < 2)
        return folder
    cpu = parts[2]
    sub("^arch/[^/]*", "arch/<cpu>", folder)
    return folder
}

function folder_of(path) {
    return path ~ "/" ? substr(path, 1, match(path, "/[^/]*$") - 1) : ""
}

function complain(text) {
    print file ":" line ": " text
    failures++
}

function read_layers(    text, tokens, count, i, folder) {
    while ((getline text < "src/LAYERS") > 0) {
        if (text ~ /^#/ || text ~ /^[ \t]*$/)
            continue
        if (text ~ /^core = /) {
            count = split(substr(text, 8), tokens, " ")
            for (i = 1; i <= count; i++)
                core[tokens[i]] = 1
            continue
        }
        if (text !~ /^[^ :]+:/) {
            print "src/LAYERS: cannot read \"" text "\""
            failures++
            continue
        }
        folder = text
        sub(":.*", "", folder)
        sub("^[^:]*:", "", text)
        known[folder] = 1
        count = split(text, tokens, " ")
        for (i = 1; i <= count; i++)
            allowed[folder, tokens[i]] = 1
    }
    for (i in allowed) {
        split(i, tokens, SUBSEP)
        if (!(tokens[2] in known)) {
            print "src/LAYERS: " tokens[1] " may include " tokens[2] ", which has no line"
            failures++
        }
    }
}

function check_own(path,    target, pattern, target_cpu) {
    target = folder_of(path)
    if (target == "") {
        complain("\"" path "\" must be written from src/, with its folder")
        return
    }
    if (target == folder)
        return
    pattern = pattern_of(target)
    target_cpu = cpu
    if (!((layer, pattern) in allowed) || (own_cpu != "" && target_cpu != "" && own_cpu != target_cpu))
        complain(folder " may not include \"" path "\" (src/LAYERS)")
}

function check_system(path) {
    if (!is_core || path ~ /^(linux|asm|asm-generic)\//)
        return
    if (path !~ /^(float|iso646|limits|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdnoreturn)\.h$/ &&
        path !~ /^(cpuid|[a-z]*intrin|arm_acle)\.h$/)
        complain(folder " is core and may not include <" path ">: there is no libc inside the target")
}

function check_file(    text, path) {
    folder = folder_of(file)
    sub(folder ~ "^include" ? "^include/?" : "^src/?", "", folder)
    layer = pattern_of(folder)
    own_cpu = cpu
    line = 0
    if (!(layer in known)) {
        complain("the folder " folder " is not in src/LAYERS")
        return
    }
    path = layer
    sub("/.*", "", path)
    is_core = path in core || path == "gait"
    while ((getline text < file) > 0) {
        line++
        if (text !~ /^[ \t]*#[ \t]*include/)
            continue
        path = text
        sub(/^[ \t]*#[ \t]*include[ \t]*/, "", path)
        if (path ~ /^"/)
            check_own(substr(path, 2, index(substr(path, 2), "\"") - 1))
        else if (path ~ /^</)
            check_system(substr(path, 2, index(path, ">") - 2))
        else
            complain("this #include cannot be checked; name the file")
    }
    close(file)
}

BEGIN { read_layers() }
{ file = $0; check_file(); files++ }
END {
    printf "%d files, %d violations\n", files, failures
    exit failures > 0
}'
