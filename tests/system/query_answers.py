#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""query_answers.py GAIT QUERIES.md TRACE LOST_TRACE DETAILS_TRACE: runs the queries of the page, and computes each
answer once more out of `gait dump events`, `gait dump details` and the manifest, without SQL."""
import json
import re
import subprocess
import sys
from collections import defaultdict

gait, page, *traces = sys.argv[1:]
folders = dict(zip(("", "lost", "details"), traces))


def output(*words):
    return subprocess.run([gait, *words], check=True, capture_output=True, text=True).stdout


def clock_of(manifest):
    """As the trace's counter is turned into nanoseconds: rounded down."""
    first, last = manifest["clocks"][0], manifest["clocks"][-1]
    ticks, ns = last["counter"] - first["counter"], last["monotonic_ns"] - first["monotonic_ns"]
    return lambda counter: max(0, counter - first["counter"]) * ns // ticks


class Trace:
    def __init__(self, folder):
        with open(folder + "/manifest.json", encoding="utf-8") as file:
            self.manifest = json.load(file)
        self.folder = folder
        self.ns = clock_of(self.manifest)
        self.first = self.manifest["clocks"][0]["counter"]
        self.names = {thread["tid"]: thread["name"] for process in self.manifest["processes"]
                      for thread in process["threads"]}

    def span_ns(self, ticks):
        return self.ns(self.first + ticks)

    def lines(self, what):
        return [line.split("\t") for line in output("dump", what, self.folder).splitlines()]

    def calls(self):
        """All calls of hooked functions, by a stack for each thread."""
        stacks, calls = defaultdict(list), []
        for fields in self.lines("events"):
            tid, time, kind, depth, function = int(fields[1]), int(fields[2]), fields[3], int(fields[4]), fields[5]
            stack = stacks[tid]
            if kind == "enter":
                assert len(stack) == depth, fields
                stack.append([function, time, 0])
                continue
            name, begin, inner = stack.pop()
            assert name == function and len(stack) == depth, fields
            if stack:
                stack[-1][2] += self.ns(time) - self.ns(begin)
            calls.append(dict(function=name, tid=tid, thread=self.names[tid], depth=depth, start=self.ns(begin),
                              end=self.ns(time), duration=self.ns(time) - self.ns(begin),
                              self=self.ns(time) - self.ns(begin) - inner, caller=stack[-1][0] if stack else None))
        assert not any(stacks.values())
        return calls


def grouped(rows, key):
    groups = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def slowest(trace):
    calls = sorted(trace.calls(), key=lambda call: (-call["duration"], call["start"]))[:6]
    return [(c["function"], c["thread"], c["start"], c["duration"], c["self"], c["caller"]) for c in calls]


def percentiles(trace):
    answer = []
    for function, calls in sorted(grouped(trace.calls(), lambda call: call["function"]).items()):
        times = sorted(call["duration"] for call in calls)
        if len(times) >= 8:
            at = lambda percent: times[-(-len(times) * percent // 100) - 1]
            answer.append((function, len(times), at(50), at(99), times[-1]))
    return answer


def callers_of_malloc(trace):
    groups = grouped((c for c in trace.calls() if c["function"] == "malloc"), lambda call: call["caller"])
    rows = [(caller, len(calls), sum(c["duration"] for c in calls)) for caller, calls in groups.items()]
    return sorted(rows, key=lambda row: (-row[1], row[0] or ""))


def time_by_thread(trace):
    calls = [call for call in trace.calls() if call["thread"] in ("till", "counter")]
    rows, totals = [], defaultdict(int)
    for (tid, function), group in grouped(calls, lambda call: (call["tid"], call["function"])).items():
        if len(group) >= 4:
            totals[tid] += sum(call["self"] for call in group)
            rows.append((tid, function, len(group), sum(call["self"] for call in group)))
    rows = [(trace.names[tid], function, count, own, round(100 * own / totals[tid], 1))
            for tid, function, count, own in rows]
    return sorted(rows, key=lambda row: (row[0], -row[3], row[1]))


def calls_while_waiting(trace):
    counts, calls = defaultdict(int), trace.calls()
    for waiting in calls:
        for other in calls if waiting["function"] == "wait_for_stock" else ():
            if other["tid"] != waiting["tid"] and waiting["start"] <= other["start"] <= waiting["end"]:
                counts[waiting["thread"], other["thread"], other["function"]] += 1
    return sorted((*key, count) for key, count in counts.items())


def longest_gaps(trace):
    gaps = []
    for calls in grouped((c for c in trace.calls() if c["function"] == "take_order"), lambda c: c["tid"]).values():
        calls.sort(key=lambda call: call["start"])
        gaps += [(c["thread"], c["start"], c["start"] - b["end"]) for b, c in zip(calls, calls[1:])]
    return sorted(gaps, key=lambda gap: (-gap[2], gap[1]))[:3]


def recursion(trace):
    level, deepest = defaultdict(int), defaultdict(int)
    for _, tid, _, kind, _, function in trace.lines("events"):
        level[tid, function] += 1 if kind == "enter" else -1
        deepest[function] = max(deepest[function], level[tid, function])
    return sorted(item for item in deepest.items() if item[1] > 1)


def losses(trace):
    places = defaultdict(list)
    for fields in trace.lines("events"):
        if fields[2] == "lost":
            places["lost", trace.names[int(fields[1])]].append(int(fields[3]))
    for process in trace.manifest["processes"]:
        assert not any(process["lost"][kind] for kind in ("no_lane_bytes", "no_room", "no_memory", "not_hooked"))
        for thread in process["threads"]:
            assert sum(places.get(("lost", thread["name"]), ())) == thread["lost_bytes"]
        without_place = process["lost"]["late_bytes"] - sum(map(sum, places.values()))
        if without_place > 0:
            places["lost", None].append(without_place)
    return sorted(((*key, len(sizes), sum(sizes)) for key, sizes in places.items()), key=lambda row: row[1] or "")


def arguments(trace):
    counts, asked = defaultdict(int), {}
    for fields in trace.lines("details"):
        tid, kind, function = fields[1], fields[3], fields[5]
        if function == "pack" and kind == "enter":
            asked[tid] = fields[13]
        elif function == "pack" and "plums" in asked[tid]:
            counts[asked[tid], fields[8]] += 1
    by_number = sorted(counts.items(), key=lambda item: int(re.search(r"(\d+) x", item[0][1])[1]))
    return [(*key, count) for key, count in by_number][:5]


def halves(trace):
    calls = trace.calls()
    starts = [call["start"] for call in calls if call["function"] == "take_order"]
    at, answer = (min(starts) + max(starts)) // 2, []
    for function, group in sorted(grouped(calls, lambda call: call["function"]).items()):
        if function in ("take_order", "pack", "weigh", "wait_for_stock", "malloc", "free"):
            before = [call["self"] for call in group if call["start"] < at]
            after = [call["self"] for call in group if call["start"] >= at]
            answer.append((function, len(before), len(after), sum(before), sum(after)))
    return answer


answers = [slowest, percentiles, callers_of_malloc, time_by_thread, calls_while_waiting, longest_gaps, recursion, losses,
           arguments, halves]
with open(page, encoding="utf-8") as file:
    queries = re.findall(r"```sql ?(\w*)\n(.*?)```", file.read(), re.S)
assert len(queries) == len(answers), f"{len(queries)} queries"
failures = 0
for number, ((which, sql), answer) in enumerate(zip(queries, answers), 1):
    told = [tuple(row.values()) for row in json.loads(output("query", folders[which], "--json", sql))]
    expected = answer(Trace(folders[which]))
    if told != expected or not told:
        failures += 1
        print(f"query {number}, {answer.__name__}:\n  told     {told[:8]}\n  expected {expected[:8]}")
sys.exit(failures > 0)
