#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same questions to a trace and to the database that it is exported to have the same answers.

query_databases.py GAIT QUESTIONS.md FOLDER [--without TABLE] TRACE...: the questions are all of each table, some joins,
and those of the page; each has rows of some trace, but for those of the table that cannot be recorded here. Databases
are made in the folder. Ends with 1 if an answer differs, after showing where.
"""

import json
import re
import sqlite3
import subprocess
import sys

JOINS = [
    "SELECT f.function, f.calls, count(*) FROM calls AS c JOIN functions AS f ON f.function_id = c.function_id"
    " GROUP BY f.function_id ORDER BY 1, 2, 3",
    "SELECT t.tid, t.generation, t.image, count(*), sum(c.self_ns) FROM threads AS t"
    " JOIN calls AS c ON c.thread_id = t.thread_id GROUP BY t.thread_id ORDER BY t.thread_id",
    "SELECT caller, function, count(*), sum(duration_ns) FROM calls GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT m.path, count(*) FROM calls AS c JOIN modules AS m ON m.pid = c.pid AND c.address >= m.start"
    ' AND c.address < m."end" GROUP BY 1 ORDER BY 1',
    "SELECT function, sum(self_ns), min(duration_ns), max(end_ns) FROM calls WHERE depth < 4 GROUP BY 1 ORDER BY 1",
    "SELECT t.thread, s.name, count(*), sum(s.duration_ns), count(s.error) FROM syscalls AS s"
    " JOIN threads AS t USING (thread_id) GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT d.arguments, d.result, s.caller_count FROM details AS d LEFT JOIN stacks AS s USING (function_id, thread_id)"
    " ORDER BY 1, 2, 3 LIMIT 100",
    "SELECT name, json_extract(fields, '$.__syscall_nr') FROM kernel_events ORDER BY time_ns, tid",
]


def ask_trace(gait, trace, question):
    answer = subprocess.run([gait, "query", "--json", trace, question], capture_output=True, check=True)
    rows = json.loads(answer.stdout)
    return rows[0].keys() if rows else None, [tuple(row.values()) for row in rows]


def ask_database(database, question):
    cursor = database.execute(question)
    return [column[0] for column in cursor.description], cursor.fetchall()


def tables_of(gait):
    """Names and columns, as gait query describes them."""
    tables = {}
    for line in subprocess.run([gait, "query", "--schema"], capture_output=True, check=True, text=True).stdout.splitlines():
        if line.startswith("  "):
            tables[name].append(line.split()[0])
        elif line:
            name = line.split(":")[0]
            tables[name] = []
    return tables


def everything(table, columns):
    order = ", ".join(f'"{column}"' for column in columns)
    return f"SELECT * FROM {table} ORDER BY {order}"


def compare(gait, trace, database, question):
    """How many rows both have, or None and what differs is shown."""
    columns, rows = ask_trace(gait, trace, question)
    own_columns, own_rows = ask_database(database, question)
    differences = []
    if columns is not None and list(columns) != list(own_columns):
        differences.append(f"columns {list(columns)}, in the database {list(own_columns)}")
    if len(rows) != len(own_rows):
        differences.append(f"{len(rows)} rows, in the database {len(own_rows)}")
    differences += [f"{a}\n  in the database\n  {b}" for a, b in zip(rows, own_rows) if a != b or
                    [isinstance(value, str) for value in a] != [isinstance(value, str) for value in b]]
    for difference in differences[:3]:
        print(f"{question}\n  {difference}")
    return None if differences else len(rows)


def main(gait, page, folder, *traces):
    without = traces[1] if traces[0] == "--without" else None
    traces = traces[2:] if without else traces
    tables = tables_of(gait)
    questions = JOINS + [everything(table, columns) for table, columns in tables.items()]
    questions += re.findall(r"^```sql[^\n]*\n(.*?)^```", open(page).read(), re.M | re.S)
    asked = {question: 0 for question in questions}
    failures = 0
    for number, trace in enumerate(traces):
        path = f"{folder}/{number}.sqlite"
        subprocess.run([gait, "export", "-f", "sqlite", "--events", trace, "-o", path], check=True)
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        for table, columns in tables.items():
            own = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            if own != columns:
                failures += 1
                print(f"{table} has the columns {columns}, in the database {own}")
        for question in questions:
            try:
                rows = compare(gait, trace, database, question)
            except sqlite3.Error as error:
                print(f"{question}\n  in the database: {error}")
                rows = None
            failures += rows is None
            asked[question] += rows or 0
    for question, rows in asked.items():
        if rows == 0 and (without is None or without not in question):
            failures += 1
            print(f"no trace has rows for: {question}")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
