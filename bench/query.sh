#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How long does a query take that counts the calls of a trace by function, beside DuckDB over the same rows?
#
#   bench/query.sh [EVENTS]     10 million if not given; 100 million take a few GB in TMPDIR, and minutes
#
# GAIT_BENCH_COMMAND is the gait to measure, build/release-gcc/gait if not given. GAIT_BENCH_DUCKDB is a folder in which
# `npm install @duckdb/node-api` was run; without it, DuckDB's figures are missing. Its table is made of the rows that
# gait query tells, and asked in its own file and in Parquet, with two threads. Times are of the clock and of the CPU, the
# best of three.
set -euo pipefail
cd "$(dirname "$0")/.."

events=${1-10000000}
gait=${GAIT_BENCH_COMMAND-build/release-gcc/gait}
[[ -x $gait ]] || { echo "there is no $gait: run make MODE=release first" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

gcc -O2 -pthread -o "$folder/many_calls" bench/programs/many_calls.c
"$gait" spawn --quiet --overflow block -o "$folder/traces" -- "$folder/many_calls" $((events / 2)) 2
trace=$(echo "$folder"/traces/*)
echo "trace: $events events, $(du -sm "$trace" | cut -f 1) MiB"

# measure sql: the best of three, of the clock and of the CPU
measure() {
    local best="" TIMEFORMAT='%R %U %S' times
    for _ in 1 2 3; do
        times=$( { time "$gait" query "$trace" "$1" >"$folder/out" 2>"$folder/err"; } 2>&1)
        best=$(printf '%s\n%s\n' "$best" "$times" | awk 'NF == 3 && (best == "" || $1 < least) { best = $0; least = $1 } END { print best }')
    done
    awk -v sql="$1" '{ printf "gait    %8.3f s  %8.3f s CPU  %s\n", $1, $2 + $3, sql }' <<<"$best"
}
measure 'SELECT function, count(*) FROM events GROUP BY function'
measure 'SELECT function, calls FROM functions'
measure 'SELECT function, calls, total_ns, self_ns, min_ns, max_ns FROM functions'
measure 'SELECT function, count(*) FROM calls GROUP BY function'
measure 'SELECT count(*), sum(duration_ns) FROM calls'
measure "SELECT count(duration_ns) FROM calls WHERE function = 'step' AND duration_ns > 1000000"
measure 'SELECT kind, count(time_ns) FROM events WHERE time_ns BETWEEN 500000000 AND 510000000 GROUP BY kind'

[[ -n ${GAIT_BENCH_DUCKDB-} ]] || { echo "DuckDB: not measured, GAIT_BENCH_DUCKDB is not set"; exit 0; }
"$gait" query "$trace" --csv 'SELECT function, tid, start_ns, duration_ns, self_ns FROM calls' >"$folder/calls.csv"
cat >"$GAIT_BENCH_DUCKDB/gait_bench.mjs" <<'SCRIPT'
import { DuckDBInstance } from '@duckdb/node-api';
const [folder] = process.argv.slice(2);
const database = await DuckDBInstance.create(`${folder}/calls.duckdb`);
const connection = await database.connect();
const run = (sql) => connection.runAndReadAll(sql);
await run('SET threads = 2');
await run(`CREATE TABLE calls AS FROM '${folder}/calls.csv'`);
await run(`COPY calls TO '${folder}/calls.parquet'`);
await run('CHECKPOINT');
for (const table of ['calls', `'${folder}/calls.parquet'`]) {
    for (const columns of ['count(*)', 'count(*), sum(duration_ns), sum(self_ns), min(duration_ns), max(duration_ns)']) {
        const sql = `SELECT function, ${columns} FROM ${table} GROUP BY function`;
        let best = [Infinity, 0];
        for (let i = 0; i < 3; i++) {
            const cpu = process.cpuUsage(), begin = process.hrtime.bigint();
            await run(sql);
            const used = process.cpuUsage(cpu), seconds = Number(process.hrtime.bigint() - begin) / 1e9;
            if (seconds < best[0]) best = [seconds, (used.user + used.system) / 1e6];
        }
        console.log(`DuckDB  ${best[0].toFixed(3).padStart(8)} s  ${best[1].toFixed(3).padStart(8)} s CPU  ` +
                    sql.replace(folder + '/', ''));
    }
}
SCRIPT
node "$GAIT_BENCH_DUCKDB/gait_bench.mjs" "$folder"
rm -f "$GAIT_BENCH_DUCKDB/gait_bench.mjs"
