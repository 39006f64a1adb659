#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Adds up the calls in an exported file: for each function how many there were and how many ns they took themselves.

call_totals.py csv|json|sqlite|ctf|pprof|events FILE

Each kind is read by what others wrote for it: Python's own modules, what babeltrace2 prints of a ctf folder, and what
protoc makes of a profile. "events" are those that gait dump events prints; they have no times of functions.
"""
import collections
import csv
import json
import re
import sqlite3
import sys

calls = collections.Counter()
self_ns = collections.Counter()


def take(function, own_ns, count=1):
    calls[function] += count
    self_ns[function] += own_ns


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines, strict=True):
            assert None not in row and None not in row.values(), row
            assert int(row["self_ns"]) <= int(row["duration_ns"]), row
            take(row["function"], int(row["self_ns"]))


def read_json(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            call = json.loads(line)
            if "function" in call:
                take(call["function"], call["self_ns"])


def read_sqlite(path):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert database.execute("PRAGMA foreign_key_check").fetchall() == []
    for function, own_ns, count in database.execute(
        "SELECT function, sum(self_ns), count(*) FROM calls GROUP BY function"
    ):
        take(function, own_ns, count)
    # What is in a call is in its time, too.
    assert database.execute(
        "SELECT count(*) FROM call_rows AS inside JOIN call_rows AS outside ON outside.id = inside.parent_id WHERE"
        " inside.thread_id <> outside.thread_id OR inside.depth <> outside.depth + 1 OR"
        " inside.start_ns < outside.start_ns OR"
        " inside.start_ns + inside.duration_ns > outside.start_ns + outside.duration_ns"
    ).fetchall() == [(0,)]


# [1699.000000100] (+0.000000050) call_end: { pid = 1, tid = 2, thread = "a" }, { function = "f", duration_ns = 7, ...
CTF = re.compile(
    r"\[(\d+)\.(\d{9})\] \(\+[^)]*\) (call_begin|call_end|lost): "
    r"\{ pid = (\d+), tid = (\d+), thread = .*? \}, \{ (.*) \}$"
)


def read_ctf(path):
    """Times are worked out here, from when calls begin and end, and compared with what the events say."""
    threads = collections.defaultdict(list)
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            match = CTF.match(line)
            assert match, line
            time = int(match[1]) * 10**9 + int(match[2])
            stack = threads[match[4], match[5]]
            fields = match[6]
            if match[3] == "lost":
                continue
            function = re.match(r'function = "(.*)", (?:address|duration_ns) = ', fields)[1]
            function = re.sub(r"\\(.)", r"\1", function)
            if match[3] == "call_begin":
                assert int(re.search(r"depth = (\d+)$", fields)[1]) == len(stack), line
                stack.append([function, time, 0])
                continue
            name, begin, inner = stack.pop()
            assert name == function, line
            own_ns = time - begin - inner
            assert int(re.search(r"duration_ns = (\d+)", fields)[1]) == time - begin, line
            assert int(re.search(r"self_ns = (\d+)", fields)[1]) == own_ns, line
            if stack:
                stack[-1][2] += time - begin
            take(name, own_ns)
    assert not any(threads.values()), "calls that never end"


def read_pprof(path):
    """The text that protoc --decode prints."""
    strings, functions, lines, samples = [], {}, {}, []
    message = None
    with open(path, encoding="utf-8") as text:
        for line in text:
            line = line.rstrip("\n")
            assert not re.match(r" *\d+(:| \{)", line), f"an unknown field: {line}"
            top = re.match(r"(\w+) \{$", line)
            if top:
                message = (top[1], collections.defaultdict(list))
            elif line == "}":
                kind, fields = message
                if kind == "function":
                    functions[fields["id"][0]] = fields["name"][0]
                elif kind == "location":
                    lines[fields["id"][0]] = fields["function_id"][0]
                elif kind == "sample":
                    samples.append((fields["location_id"], fields["value"]))
            elif line.startswith("string_table: "):
                octal = line[len('string_table: "') : -1].encode("latin-1").decode("unicode_escape")
                strings.append(octal.encode("latin-1").decode("utf-8"))
            elif line.startswith(" "):
                field = re.match(r" *(\w+): (\d+)$", line)
                if field:
                    message[1][field[1]].append(int(field[2]))
    assert strings[0] == ""
    for locations, (count, own_ns) in samples:
        take(strings[functions[lines[locations[0]]]], own_ns, count)


def read_events(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            # Some have no time.
            kind = 3 if fields[2].isdigit() else 2
            if fields[kind] == "enter":
                take(fields[kind + 2], 0)
            elif fields[kind] == "call":
                take(fields[kind + 3], 0)


globals()["read_" + sys.argv[1]](sys.argv[2])
for function in sorted(calls):
    print(function, calls[function], self_ns[function], sep="\t")
