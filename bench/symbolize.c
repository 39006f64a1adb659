/* SPDX-License-Identifier: MIT */
/*
 * How long does it take to name 100,000 addresses of a large program, with files, lines and inlined functions? Of a C++
 * program that is made for it, or of the one that is given, beside addr2line -f -i and llvm-addr2line -f -i, which get
 * the same list, in no order. The whole time counts, reading, finding, printing (to nowhere): by the clock, and the
 * time of all CPUs, which depends less on what else the machine does.
 */
#define _GNU_SOURCE
#include "support/line_printer.h"
#include "support/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ADDRESSES 100000
#define UNITS     24
#define ROUNDS    3

static char folder[] = "/tmp/gait-bench-XXXXXX";

/* A unit that uses much of the library, so that there is much of it. */
static const char unit_text[] =
    "#include <algorithm>\n#include <functional>\n#include <map>\n#include <memory>\n#include <regex>\n"
    "#include <set>\n#include <sstream>\n#include <string>\n#include <unordered_map>\n#include <vector>\n"
    "namespace part%1$u {\n"
    "struct item { std::string name; int value; std::vector<double> samples;\n"
    "  bool operator<(const item &other) const { return value < other.value; } };\n"
    "template <int N> int chew(const std::vector<item> &items) {\n"
    "  std::map<std::string, std::vector<item>> groups; std::unordered_map<int, std::string> names;\n"
    "  std::set<item> all; std::vector<std::function<int(int)>> todo; int sum = N;\n"
    "  for (auto &one : items) {\n"
    "    groups[one.name].push_back(one); names[one.value + N] = one.name; all.insert(one);\n"
    "  }\n"
    "  for (auto &[key, list] : groups) {\n"
    "    std::sort(list.begin(), list.end());\n"
    "    std::stable_sort(list.begin(), list.end(), [](const item &a, const item &b) {\n"
    "      return a.samples.size() < b.samples.size(); });\n"
    "    todo.push_back([&](int n) { return n + (int)key.size() * N + list[0].value; });\n"
    "  }\n"
    "  for (auto &one : todo) sum += one(sum);\n"
    "  std::ostringstream out;\n"
    "  for (auto &one : names) out << one.first << one.second;\n"
    "  return sum + (int)out.str().size() + (int)all.size();\n"
    "}\n"
    "bool matches(const std::string &text) {\n"
    "  static const std::regex pattern(\"part%1$u[a-z]+([0-9]*)\"); return std::regex_search(text, pattern);\n"
    "}\n"
    "int run(int n) {\n"
    "  std::vector<item> items;\n"
    "  for (int i = 0; i < n; i++) items.push_back({\"x\" + std::to_string(i %% 7), i * %1$u, {1.0 * i}});\n"
    "  return chew<1>(items) + chew<2>(items) + chew<3>(items) + matches(items[0].name);\n"
    "}\n"
    "}\n";

/* How long something took; 0: it is not there. */
struct taken {
    double clock;
    double cpu;
};

static double read_clock(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The time so far: by the clock, and of this process and all that it waited for. */
static struct taken now(void)
{
    struct taken time = {read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_PROCESS_CPUTIME_ID)};
    struct rusage children;

    if (getrusage(RUSAGE_CHILDREN, &children) == 0)
        time.cpu += (double)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) +
                    (double)(children.ru_utime.tv_usec + children.ru_stime.tv_usec) * 1e-6;
    return time;
}

/* The best of both counts. */
static void take(struct taken *best, struct taken begin)
{
    struct taken end = now(), took = {end.clock - begin.clock, end.cpu - begin.cpu};

    best->clock = best->clock == 0 || took.clock < best->clock ? took.clock : best->clock;
    best->cpu = best->cpu == 0 || took.cpu < best->cpu ? took.cpu : best->cpu;
}

static FILE *create(const char *name)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "we");
    if (file == NULL)
        exit(1);
    return file;
}

static int run(const char *format, const char *text)
{
    char part[1024], command[2048];

    snprintf(part, sizeof(part), format, text);
    snprintf(command, sizeof(command), "cd %s && %s", folder, part);
    return system(command);
}

static void make_program(char *path, size_t path_bytes)
{
    char name[32];
    FILE *file;

    for (unsigned i = 0; i < UNITS; i++) {
        snprintf(name, sizeof(name), "unit%u.cc", i);
        file = create(name);
        fprintf(file, unit_text, i);
        fclose(file);
    }
    file = create("main.cc");
    for (unsigned i = 0; i < UNITS; i++)
        fprintf(file, "namespace part%u { int run(int); }\n", i);
    fprintf(file, "int main(int count, char **) {\n    int sum = 0;\n");
    for (unsigned i = 0; i < UNITS; i++)
        fprintf(file, "    sum += part%u::run(count);\n", i);
    fprintf(file, "    return sum & 1;\n}\n");
    fclose(file);
    if (run("ls *.cc | xargs -P \"$(nproc)\" -n 1 g++ -std=c++17 -O2 -g -c && g++ -o program *.o%s", "") != 0) {
        printf("g++ is needed to make the program\n");
        exit(77);
    }
    snprintf(path, path_bytes, "%s/program", folder);
}

/* In no order, as events come. */
static uint64_t *choose_addresses(const char *path, size_t *count_out)
{
    uint64_t *addresses = line_printer_addresses(path, ADDRESSES, count_out);
    struct random random;
    FILE *file = create("addresses");

    random_init(&random, 19);
    for (size_t i = *count_out; i > 1; i--) {
        size_t other = random_below(&random, i);
        uint64_t address = addresses[i - 1];

        addresses[i - 1] = addresses[other];
        addresses[other] = address;
    }
    for (size_t i = 0; i < *count_out; i++)
        fprintf(file, "0x%" PRIx64 "\n", addresses[i]);
    fclose(file);
    return addresses;
}

/* The best of some rounds. */
static struct taken time_tool(const char *tool, const char *path)
{
    struct taken best = {.clock = 0};
    char command[512];

    snprintf(command, sizeof(command), "%s -f -i -e %s <addresses >/dev/null 2>&1", tool, path);
    for (int i = 0; i < ROUNDS; i++) {
        struct taken begin = now();

        if (run("%s", command) != 0)
            return (struct taken){.clock = 0};
        take(&best, begin);
    }
    return best;
}

static struct taken time_gait(const char *path, const uint64_t *addresses, size_t count,
                              const struct symbolizer_options *options)
{
    struct taken best = {.clock = 0};

    for (int i = 0; i < ROUNDS; i++) {
        FILE *nowhere = fopen("/dev/null", "we");
        struct symbolizer symbolizer;
        struct taken begin = now();
        struct recorded_module module;

        if (nowhere == NULL || !line_printer_module(path, &module))
            exit(1);
        symbolizer_init(&symbolizer, options);
        line_printer_print(&symbolizer, &module, addresses, count, nowhere);
        symbolizer_deinit(&symbolizer);
        fclose(nowhere);
        take(&best, begin);
    }
    return best;
}

static void tell(const char *name, struct taken took, struct taken beside)
{
    if (took.clock == 0)
        printf("| %s | not there | | | |\n", name);
    else
        printf("| %s | %.3f s | %.1f | %.3f s | %.1f |\n", name, took.clock, beside.clock / took.clock, took.cpu,
               beside.cpu / took.cpu);
}

static void compare(const char *path)
{
    struct symbolizer_options none = {.has_no_cache = true}, one = {.has_no_cache = true, .thread_count = 1};
    struct symbolizer_options kept = {.cache = folder};
    struct stat status;
    size_t count = 0;
    uint64_t *addresses = choose_addresses(path, &count);
    struct taken beside = time_tool("addr2line", path);

    if (stat(path, &status) == 0)
        printf("%zu addresses of a file of %lld MiB\n", count, (long long)status.st_size >> 20);
    printf("| | by the clock | times as fast | CPU time | times as fast |\n|---|---|---|---|---|\n");
    tell("addr2line -f -i", beside, beside);
    tell("llvm-addr2line -f -i", time_tool("llvm-addr2line", path), beside);
    tell("gait, for the first time, 1 thread", time_gait(path, addresses, count, &one), beside);
    tell("gait, for the first time", time_gait(path, addresses, count, &none), beside);
    /* The first round fills it; the best one counts. */
    tell("gait, with what it kept", time_gait(path, addresses, count, &kept), beside);
    free(addresses);
}

int main(int count, char **words)
{
    char path[256];

    if (mkdtemp(folder) == NULL)
        return 1;
    if (count > 1)
        snprintf(path, sizeof(path), "%s", words[1]);
    else
        make_program(path, sizeof(path));
    compare(path);
    return run("rm -r %s", folder) == 0 ? 0 : 1;
}
