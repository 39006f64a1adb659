/* SPDX-License-Identifier: MIT */
/*
 * What does it cost to record real programs, from their start to their end? CPU time of program and recorder together,
 * divided by that of the program alone, best of several rounds in turn: with all code translated and nothing recorded;
 * with all calls and returns; with a time stamp on each. build/bench/record_programs NAME... measures some only.
 *
 * The peer is DynamoRIO (a release build of August 2026), whose figures are from reference: measured once, on the same
 * kind of machine, with programs like these. Its call trace only fills a buffer.
 */
#include "support/followed_run.h"
#include "support/mixed_data.h"
#include "support/recorded_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS     2
#define DATA_BYTES (32u << 20)
#define DATA_SEED  77

static const char sql[] =
    "CREATE TABLE parts (id INTEGER PRIMARY KEY, kind INTEGER, name TEXT, price REAL);"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250000)"
    " INSERT INTO parts SELECT i, i * 7919 % 613, 'part ' || (i * 104729 % 99991), i % 977 * 1.25 FROM n;"
    "CREATE INDEX by_name ON parts (name);"
    "SELECT kind, count(*), sum(price), max(name) FROM parts GROUP BY kind ORDER BY 3 DESC;"
    "SELECT count(*) FROM parts a JOIN parts b ON a.name = b.name WHERE a.id < b.id;"
    "UPDATE parts SET name = name || kind WHERE kind % 3 = 0;"
    "SELECT sum(length(name)) FROM parts WHERE name LIKE '%77%';";

static const char python[] = "import collections, re\n"
                             "words = ['w%d' % (i * 7919 % 1009) for i in range(60000)]\n"
                             "def score(word, depth):\n"
                             "    return len(word) if depth == 0 else score(word, depth - 1) + depth\n"
                             "total = sum(score(w, 6) for w in words)\n"
                             "count = collections.Counter(words)\n"
                             "text = ' '.join(words)\n"
                             "found = len(re.findall(r'w(\\d)\\d*\\1', text))\n"
                             "grid = [[(x * y) % 17 for x in range(150)] for y in range(150)]\n"
                             "flips = sorted((sum(r), i) for i, r in enumerate(zip(*grid)))\n"
                             "print(total, count.most_common(3), found, flips[0])\n";

static const char lua[] = "local t, s = {}, 0\n"
                          "for i = 1, 300000 do t[i] = (i * 7919) % 100003 end\n"
                          "table.sort(t)\n"
                          "local function walk(n) if n < 2 then return n end return walk(n - 1) + walk(n - 2) end\n"
                          "for i = 1, 3 do s = s + walk(26) end\n"
                          "for i = 1, 60000 do s = s + #string.format('%d:%s', i, string.rep('x', i % 20)) end\n"
                          "print(t[1], t[#t], s)\n";

static const char perl[] = "my (%n, $s); for my $i (1 .. 300000) { my $w = 'k' . ($i * 7919 % 5003); $n{$w} += $i; "
                           "$s .= substr($w, 1, 2) if $i % 3 == 0; } my $c = () = $s =~ /(\\d)\\1/g; "
                           "print join(',', $c, (sort { $n{$a} <=> $n{$b} || $a cmp $b } keys %n)[0 .. 3]), \"\\n\";";

/* A program, and DynamoRIO's times divided by the native ones: alone, with a call trace. */
struct subject {
    const char *name;
    const char *command[8]; /* "{data}" and "{sql}" are files */
    const char *input;
    double peer_alone;
    double peer_calls;
};

static const struct subject subjects[] = {
    {"gzip", {"gzip", "-6", "-c", "{data}"}, NULL, 1.17, 1.34},
    {"bzip2", {"bzip2", "-c", "{data}"}, NULL, 0.95, 1.00},
    {"xz", {"xz", "-1", "-T1", "-c", "{data}"}, NULL, 1.42, 1.75},
    {"zstd", {"zstd", "-q", "-9", "--single-thread", "-c", "{data}"}, NULL, 1.18, 1.39},
    {"sqlite3", {"sqlite3", ":memory:"}, "{sql}", 3.24, 4.29},
    {"lua5.4", {"lua5.4", "-e", lua}, NULL, 2.55, 3.14},
    {"python3", {"/usr/bin/python3", "-c", python}, NULL, 2.47, 3.81},
    {"perl", {"perl", "-e", perl}, NULL, 2.30, 3.05},
    {"openssl", {"openssl", "dgst", "-sha256", "{data}", "{data}", "{data}", "{data}"}, NULL, 1.17, 1.25},
};

#define SUBJECTS (sizeof(subjects) / sizeof(subjects[0]))

enum way {
    NATIVE,
    NOTHING,
    CALLS,
    TIMES,
    WAYS,
};

static const char *const options[WAYS][8] = {
    [NOTHING] = {"--follow", "none"},
    [CALLS] = {"--follow", "call,ret"},
    [TIMES] = {"--follow", "call,ret", "--times"},
};

static char data_path[] = "/tmp/gait-bench-data-XXXXXX", sql_path[] = "/tmp/gait-bench-sql-XXXXXX";

static const char *filled_in(const char *text)
{
    if (text == NULL || text[0] != '{')
        return text;
    return strcmp(text, "{data}") == 0 ? data_path : sql_path;
}

static int run_once(const struct subject *subject, enum way way, bool is_first, struct recorded_result *result)
{
    struct recorded_plan plan =
        way == NATIVE ? (struct recorded_plan){.has_trace = false} : recorded_plan_spawn(options[way]);

    for (size_t i = 0; subject->command[i] != NULL; i++)
        plan.command[i] = filled_in(subject->command[i]);
    plan.input = filled_in(subject->input);
    plan.skip_events = !is_first || way == NOTHING;
    return recorded_run(&plan, result);
}

/* The best time of each way, and the counts of the first round. */
static int measure(const struct subject *subject, struct recorded_result results[WAYS])
{
    for (int round = 0; round < ROUNDS; round++)
        for (enum way way = NATIVE; way < WAYS; way++) {
            struct recorded_result result;

            if (run_once(subject, way, round == 0, &result) != 0)
                return 1;
            if (round == 0)
                results[way] = result;
            else if (result.cpu_s < results[way].cpu_s)
                results[way].cpu_s = result.cpu_s;
        }
    return 0;
}

static void print_row(const struct subject *subject, const struct recorded_result results[WAYS])
{
    double native = results[NATIVE].cpu_s, events = (double)results[CALLS].events;

    printf("| %s | %.2f | %.1f | %.2f | %.2f | %.2f | %.2f | %.3f | %.2f | %.1f | %.2f |\n", subject->name, native,
           events * 1e-6, results[NOTHING].cpu_s / native, subject->peer_alone, results[CALLS].cpu_s / native,
           subject->peer_calls, (double)results[CALLS].trace_bytes / events, results[TIMES].cpu_s / native,
           (results[TIMES].cpu_s - native) / (double)results[TIMES].events * 1e9,
           (double)results[TIMES].trace_bytes / (double)results[TIMES].events);
}

static bool is_chosen(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc == 1;
}

static int make_file(char *path, const void *bytes, size_t size_bytes)
{
    int fd = mkstemp(path);

    if (fd < 0 || write(fd, bytes, size_bytes) != (ssize_t)size_bytes)
        return 1;
    return close(fd);
}

static int make_files(void)
{
    size_t size_bytes = (size_t)DATA_BYTES / 100 * followed_run_scale(100);
    uint8_t *bytes = malloc(size_bytes);
    int result;

    if (bytes == NULL)
        return 1;
    mixed_data_fill(DATA_SEED, bytes, size_bytes);
    result = make_file(data_path, bytes, size_bytes);
    free(bytes);
    return result != 0 ? result : make_file(sql_path, sql, sizeof(sql) - 1);
}

int main(int argc, char **argv)
{
    struct recorded_result results[WAYS];
    double products[WAYS] = {1, 1, 1, 1};
    int count = 0, failures = make_files();

    printf(
        "| program | native s | million calls and returns | translated only | DynamoRIO (from reference) | call,ret | "
        "DynamoRIO (from reference) | bytes an event | with times | ns an event | bytes an event |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < SUBJECTS && failures == 0; i++) {
        if (!is_chosen(subjects[i].name, argc, argv))
            continue;
        if (!recorded_has_program(subjects[i].command[0])) {
            printf("| %s | not installed |\n", subjects[i].name);
            continue;
        }
        failures += measure(&subjects[i], results);
        if (failures != 0)
            break;
        print_row(&subjects[i], results);
        fflush(stdout);
        count++;
        for (enum way way = NOTHING; way < WAYS; way++)
            products[way] *= results[way].cpu_s / results[NATIVE].cpu_s;
    }
    if (count > 0)
        printf("| geometric mean | | | %.2f | | %.2f | | | %.2f | | |\n", pow(products[NOTHING], 1.0 / count),
               pow(products[CALLS], 1.0 / count), pow(products[TIMES], 1.0 / count));
    unlink(data_path);
    unlink(sql_path);
    return failures != 0;
}
