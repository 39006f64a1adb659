#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What functions add up to, read out of an exported file: totals.py FORMAT FILE [MANIFEST]

A line for each function: its name, calls, total time and own time, in nanoseconds, with tabs between them. All formats
must agree. "dump" is what `gait dump events` says of hooked functions, and needs the manifest for its clock. "folded"
has own times only. "stacks" is a flame graph's frames, those that are drawn, as folded lines with their totals.
"""
import collections
import json
import sys
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"


class Totals:
    """Calls that begin and end, of several threads."""

    def __init__(self):
        self.functions = collections.defaultdict(lambda: [0, 0, 0])
        self.open = collections.defaultdict(list)

    def begin(self, thread, name, time, depth=None):
        self.open[thread].append([name, time, 0, depth])

    def end(self, thread, time):
        name, began, inner, _ = self.open[thread].pop()
        assert time >= began, f"{name} ends before it begins"
        if self.open[thread]:
            self.open[thread][-1][2] += time - began
        function = self.functions[name]
        function[0] += 1
        function[1] += time - began
        function[2] += time - began - inner

    def show(self):
        assert not any(self.open.values()), "calls have not ended"
        for name, (calls, total, own) in sorted(self.functions.items()):
            print(f"{name}\t{calls}\t{total}\t{own}")


def nanoseconds(text):
    """Microseconds with three digits behind the point; floating point would round."""
    whole, part = text.split(".")
    assert len(part) == 3
    return int(whole) * 1000 + int(part)


def read_chrome(path):
    totals = Totals()
    last = {}
    for event in json.load(open(path), parse_float=nanoseconds)["traceEvents"]:
        thread = event["pid"], event["tid"]
        if event["ph"] in "BEi":
            assert event["ts"] >= last.get(thread, 0), "time goes backwards"
            last[thread] = event["ts"]
        if event["ph"] == "B":
            totals.begin(thread, event["name"], event["ts"])
        elif event["ph"] == "E":
            totals.end(thread, event["ts"])
        else:
            assert event["ph"] in "Mi", event
    totals.show()


def read_speedscope(path):
    totals = Totals()
    file = json.load(open(path))
    frames = [frame["name"] for frame in file["shared"]["frames"]]
    for number, profile in enumerate(file["profiles"]):
        assert profile["startValue"] == profile["events"][0]["at"]
        assert profile["endValue"] == profile["events"][-1]["at"]
        for event in profile["events"]:
            if event["type"] == "O":
                totals.begin(number, frames[event["frame"]], event["at"])
            else:
                assert totals.open[number][-1][0] == frames[event["frame"]], "another one ends"
                totals.end(number, event["at"])
    totals.show()


def text_messages(lines):
    """Messages in protobuf's text format, as lists of (field, value); bytes of strings are what is written."""
    stack = [[]]
    for line in lines:
        line = line.strip()
        if line.endswith("{"):
            stack.append([])
            stack[-2].append((line[:-1].strip(), stack[-1]))
        elif line == "}":
            stack.pop()
        else:
            field, value = line.split(": ", 1)
            if value.startswith('"'):
                value = value[1:-1].encode().decode("unicode_escape").encode("latin-1").decode()
            stack[-1].append((field, value))
        if len(stack) == 1 and stack[0]:
            yield stack[0].pop()


class Perfetto:
    """Packets of track events, with a state for each sequence, as Perfetto reads them."""

    def __init__(self):
        self.totals = Totals()
        self.names = {}
        self.track = {}
        self.threads = {}

    def take(self, packet):
        fields = dict(packet)
        sequence = fields.get("trusted_packet_sequence_id")
        if "SEQ_INCREMENTAL_STATE_CLEARED" in str(fields.get("sequence_flags")) or fields.get("sequence_flags") == "1":
            self.names[sequence] = {}
            self.track[sequence] = dict(dict(fields["trace_packet_defaults"])["track_event_defaults"])["track_uuid"]
        for field, entry in fields.get("interned_data", []):
            if field == "event_names":
                self.names[sequence][dict(entry)["iid"]] = dict(entry)["name"]
        if "track_descriptor" in fields:
            self.describe(dict(fields["track_descriptor"]))
        if "track_event" in fields:
            self.take_event(dict(fields["track_event"]), sequence, int(fields["timestamp"]))

    def describe(self, track):
        if "thread" in track:
            self.threads[track["uuid"]] = dict(track["thread"])

    def take_event(self, event, sequence, time):
        track = self.track[sequence]
        assert track in self.threads, "a track that was not described"
        if event["type"] == "TYPE_SLICE_BEGIN":
            self.totals.begin(track, self.names[sequence][event["name_iid"]], time)
        elif event["type"] == "TYPE_SLICE_END":
            self.totals.end(track, time)
        else:
            assert event["type"] == "TYPE_INSTANT", event


def read_perfetto(path):
    """Of what `protoc --decode` wrote."""
    perfetto = Perfetto()
    for field, packet in text_messages(open(path)):
        assert field == "packet", f"an unknown field: {field}"
        perfetto.take(packet)
    perfetto.totals.show()


def read_dump(path, manifest):
    """As the viewer does it: what is as deep, or deeper, has ended when something begins."""
    clocks = json.load(open(manifest))["clocks"]
    first, last = clocks[0], clocks[-1]
    totals = Totals()
    times = {}

    def to_ns(counter):
        pace = last["monotonic_ns"] - first["monotonic_ns"], last["counter"] - first["counter"]
        return max(0, counter - first["counter"]) * pace[0] // pace[1]

    def end_from(thread, depth, time):
        while totals.open[thread] and totals.open[thread][-1][3] >= depth:
            totals.end(thread, time)

    for line in open(path):
        fields = line.rstrip("\n").split("\t")
        thread = fields[0], fields[1]
        if fields[2] in ("lost", "gap"):
            end_from(thread, 0, times.get(thread, 0))
            continue
        time, kind, depth, name = to_ns(int(fields[2])), fields[3], int(fields[4]), fields[5]
        times[thread] = time
        if kind == "enter":
            end_from(thread, depth, time)
            totals.begin(thread, name, time, depth)
        elif kind in ("leave", "unwound"):
            end_from(thread, depth + 1, time)
            if totals.open[thread] and totals.open[thread][-1][3] == depth:
                totals.end(thread, time)
    for thread, time in times.items():
        end_from(thread, 0, time)
    totals.show()


def read_folded(path):
    functions = collections.Counter()
    for line in open(path):
        stack, own = line.rstrip("\n").rsplit(" ", 1)
        functions[stack.split(";")[-1].replace("\uff1b", ";")] += int(own)
    for name, own in sorted(functions.items()):
        print(f"{name}\t{own}")


def read_perf(path):
    """Own times: periods, by the innermost frame. The time up to the next sample of the thread must be the same."""
    functions, last, period, thread = collections.Counter(), {}, 0, ""
    for line in open(path):
        if line.startswith("\t"):
            name = line.strip().split(" ", 1)[1].rsplit(" (", 1)[0]
            if period is not None:
                functions[name[:-4] if name.endswith("+0x0") else name] += period
            period = None
        elif line != "\n":
            before, period, _ = line.rsplit(" ", 2)
            thread, time = before.rstrip(":").rsplit(" ", 1)
            time, period = int(time.replace(".", "")), int(period)
            if thread in last and last[thread] != time:
                sys.exit(f"a sample of {thread} is at {time}, and the one before ends at {last[thread]}")
            last[thread] = time + period
    del functions["[outside]"]
    for name, own in sorted(functions.items()):
        if own != 0:
            print(f"{name}\t{own}")


def frames_of(path):
    """Depth, name, and numbers of each frame of a flame graph."""
    for group in xml.etree.ElementTree.parse(path).iter(SVG + "g"):
        if group.get("class") == "f":
            yield int(group.get("data-d")), group.find(SVG + "title").text.split("\n")[0], group


def read_stacks(path):
    stack = []
    for depth, name, group in frames_of(path):
        stack[depth:] = [name.replace(";", "\uff1b")]
        if depth > 0:
            print(";".join(stack[1:]), group.get("data-t"))


def main():
    readers = {"chrome": read_chrome, "speedscope": read_speedscope, "perfetto": read_perfetto, "dump": read_dump,
               "folded": read_folded, "perf": read_perf, "stacks": read_stacks}
    if len(sys.argv) < 3 or sys.argv[1] not in readers:
        sys.exit(f"usage: totals.py {'|'.join(readers)} FILE [MANIFEST]")
    readers[sys.argv[1]](*sys.argv[2:])


main()
