#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the texts of strace and gait, line by line, of a program that makes the same calls each time.

syscalls_texts.py STRACE GAIT NAME DIFFERENCES...: files of -o, whose lines are in the same order. Each line of DIFFERENCES
is a regular expression, for what strace writes, and behind " # " the reason why gait writes something else. Ends with 1 if
another line differs. What an expression is no longer needed for is written into NAME.used, to be looked at in the end.
"""
import re
import sys

# What a program does before it is itself, and where memory is.
BEFORE = re.compile(r"(execve|brk|mmap|munmap|mprotect|arch_prctl|access|openat|newfstatat|close|pread64|read|set_tid_address"
                    r"|set_robust_list|rseq|prlimit64|getrandom|exit_group)\(|\+\+\+ ")
PLACE = re.compile(r"0x[57][0-9a-f]{8,11}\b")


def load(path):
    with open(path, errors="surrogateescape") as lines:
        texts = (line.rstrip("\n") for line in lines)
        return [PLACE.sub("PLACE", re.sub(r"\) += ", ") = ", text)) for text in texts if not BEFORE.match(text)]


def read_differences(paths):
    for path in paths:
        with open(path) as lines:
            for line in lines:
                if line.strip() and not line.startswith("#"):
                    text = line.rstrip("\n").split(" # ")[0]
                    yield text, re.compile(text)


def main():
    expected, found = load(sys.argv[1]), load(sys.argv[2])
    differences = list(read_differences(sys.argv[4:]))
    bad, known = abs(len(expected) - len(found)), 0
    with open(sys.argv[3] + ".used", "a") as used:
        for left, right in zip(expected, found):
            if left == right:
                continue
            reasons = [text for text, expression in differences if expression.search(left)]
            used.writelines(reason + "\n" for reason in reasons)
            known += bool(reasons)
            bad += not reasons
            if not reasons:
                print(f"-{left}\n+{right}")
    same = len(expected) - bad - known
    print(f"{same} of {len(expected)} lines are the same, {known} differ as is known, {bad} otherwise")
    sys.exit(bad != 0 or len(expected) < 50)


main()
