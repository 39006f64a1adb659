#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what strace and gait have written of the same program, call by call, for each process in its order.

syscalls_compare.py STRACE GAIT DIFFERENCES: both are files of -f -o. What cannot be the same in two runs is replaced:
addresses, process ids, times, ports, random bytes. Each line of DIFFERENCES is a regular expression and, behind " # ", the
reason why what matches it may differ: such lines are left out on both sides. Ends with 1 if anything else differs.
"""
import difflib
import re
import sys

UNFINISHED = " <unfinished ...>"

# Where numbers of processes stand. Anywhere else a number that happens to be one of a process is something else: the
# size of a file or of a mapping, in one run of many.
ABOUT_PROCESSES = re.compile(
    r"(<\.\.\. )?(v?fork|clone3?|wait4|waitid|(get|set)(p?p|t)id|[gs]et(pgid|pgrp|sid)|set_tid_address|t?g?kill)\b"
)
ELSEWHERE = re.compile(
    r"(?<=^prlimit64\()\d+|(?<=^pidfd_open\()\d+|(?<=^process_vm_readv\()\d+|(?<=^sched_getaffinity\()\d+"
    r"|(?<=F_SETOWN, )\d+|(?<=si_pid=)\d+|(?<=l_pid=)\d+|(?<=/proc/)\d+"
)


def load(path):
    """The lines of each process, halves of calls put together, by process in the order of their first lines."""
    processes, begun = {}, {}
    with open(path, errors="surrogateescape") as lines:
        for line in lines:
            pid, text = re.match(r"(\d+) +(.*)$", line.rstrip("\n")).groups()
            own = processes.setdefault(pid, [])
            resumed = re.match(r"<\.\.\. \w+ resumed>(.*)$", text)
            if resumed:
                text = begun.pop(pid, "") + resumed[1]
            if text.endswith(UNFINISHED):
                begun[pid] = text[: -len(UNFINISHED)]
            else:
                own.append(text)
    return processes


def normalize(text, pids):
    text = re.sub(r"\) +(= |<)", r") \1", text)
    text = re.sub(r"0x[0-9a-f]{5,16}", "ADDRESS", text)
    where = re.compile(r"\d+") if ABOUT_PROCESSES.match(text) else ELSEWHERE
    text = where.sub(lambda number: f"PID{pids[number[0]]}" if number[0] in pids else number[0], text)
    text = re.sub(r"tv_sec=\d+, tv_([nu])sec=\d+", r"tv_sec=N, tv_\1sec=N", text)
    text = re.sub(r"si_utime=\d+, si_stime=\d+", "si_utime=N, si_stime=N", text)
    text = re.sub(r"\bu(32|64)=\d+", r"u\1=N", text)
    text = re.sub(r"\[\d+/\w{3}/\d{4}:[^\"]*", "[DATE", text)
    if text.startswith("accept"):
        text = re.sub(r"htons\(\d+\)", "htons(PORT)", text)
    text = re.sub(r'getrandom\("[^"]*"', 'getrandom("..."', text)
    return text


def read_differences(path):
    with open(path) as lines:
        texts = (line.rstrip("\n").split(" # ")[0] for line in lines if line.strip() and not line.startswith("#"))
        return [re.compile(text) for text in texts]


def prepare(processes, differences):
    pids = {pid: index for index, pid in enumerate(processes)}
    result = []
    for lines in processes.values():
        texts = (normalize(text, pids) for text in lines)
        result.append([text for text in texts if not any(expression.search(text) for expression in differences)])
    return result


def main():
    differences = read_differences(sys.argv[3])
    expected, found = (prepare(load(path), differences) for path in sys.argv[1:3])
    bad = 0
    if len(expected) != len(found):
        print(f"{len(expected)} processes by strace, {len(found)} by gait")
        bad += 1
    for left, right in zip(expected, found):
        for line in difflib.unified_diff(left, right, "strace", "gait", lineterm="", n=0):
            if not re.match(r"(--- strace|\+\+\+ gait|@@ )", line):
                print(line)
                bad += 1
    print(f"{sum(map(len, found))} lines of {len(found)} processes compared, {bad} differ")
    sys.exit(bad != 0)


main()
