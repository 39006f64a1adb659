/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support/built_program.h"

#include "support/check.h"
#include "support/line_printer.h"

#include <unistd.h>

#define ADDRESSES_MAX 20000
#define SHOWN_MAX     3
#define LINE_BYTES    8192

static const char part_h[] = "#include <algorithm>\n"
                             "#include <functional>\n"
                             "#include <map>\n"
                             "#include <memory>\n"
                             "#include <stdexcept>\n"
                             "#include <string>\n"
                             "#include <vector>\n"
                             "namespace part {\n"
                             "struct item {\n"
                             "    std::string name;\n"
                             "    int value;\n"
                             "    bool operator<(const item &other) const { return value < other.value; }\n"
                             "};\n"
                             "struct shape { virtual ~shape() = default; virtual int area() const = 0; };\n"
                             "template <int N> struct square : shape {\n"
                             "    int side = N;\n"
                             "    int area() const override { return side * side; }\n"
                             "};\n"
                             "int work(std::vector<item> &items);\n"
                             "std::unique_ptr<shape> make(int which);\n"
                             "}\n";

static const char part_cc[] =
    "#include \"part.h\"\n"
    "namespace {\n"
    "int twice(int n) { return 2 * n; }\n"
    "inline int thrice(int n) { return twice(n) + n; }\n"
    "__attribute__((noinline)) int often(int n, const std::function<int(int)> &f) {\n"
    "    int sum = 0;\n"
    "    for (int i = 0; i < n; i++)\n"
    "        sum += f(thrice(i));\n"
    "    return sum;\n"
    "}\n"
    "}\n"
    "namespace part {\n"
    "int work(std::vector<item> &items) {\n"
    "    std::map<std::string, std::vector<int>> groups;\n"
    "    struct counter { int count = 0; void see(const item &one) { count += one.value; } } seen;\n"
    "    std::sort(items.begin(), items.end());\n"
    "    for (const item &one : items) {\n"
    "        groups[one.name].push_back(thrice(one.value));\n"
    "        seen.see(one);\n"
    "    }\n"
    "    int sum = often((int)groups.size(), [&](int n) { return n + seen.count + (int)items.size(); });\n"
    "    if (sum == 123456789)\n"
    "        throw std::runtime_error(\"unlikely\");\n"
    "    return sum;\n"
    "}\n"
    "std::unique_ptr<shape> make(int which) {\n"
    "    if (which == 1)\n"
    "        return std::make_unique<square<3>>();\n"
    "    return std::make_unique<square<7>>();\n"
    "}\n"
    "}\n";

static const char main_cc[] = "#include \"part.h\"\n"
                              "static int sum_areas(int n) {\n"
                              "    int sum = 0;\n"
                              "    for (int i = 0; i < n; i++)\n"
                              "        sum += part::make(i)->area();\n"
                              "    return sum;\n"
                              "}\n"
                              "int main(int count, char **words) {\n"
                              "    std::vector<part::item> items;\n"
                              "    for (int i = 0; i < count; i++)\n"
                              "        items.push_back({words[i], i});\n"
                              "    return (part::work(items) + sum_areas(count)) & 1;\n"
                              "}\n";

bool built_program_run(const struct built_program *program, const char *command)
{
    char line[8192];

    snprintf(line, sizeof(line), "cd %s && { %s; } >log 2>&1", program->folder, command);
    if (system(line) == 0)
        return true;
    printf("in %s: %s\n", program->folder, command);
    return false;
}

const char *built_program_path(const struct built_program *program, const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/%s", program->folder, name);
    return path;
}

static void write_file(const struct built_program *program, const char *name, const char *text)
{
    FILE *file = fopen(built_program_path(program, name), "we");

    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
        abort();
}

void built_program_init(struct built_program *program)
{
    *program = (struct built_program){.folder = "/tmp/gait-test-XXXXXX"};
    if (mkdtemp(program->folder) == NULL)
        abort();
    if (!built_program_run(program, "g++ --version && addr2line --version && objcopy --version")) {
        built_program_deinit(program);
        check_skip("there is no C++ compiler, no addr2line or no objcopy");
    }
    write_file(program, "part.h", part_h);
    write_file(program, "part.cc", part_cc);
    write_file(program, "main.cc", main_cc);
}

void built_program_deinit(struct built_program *program)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -r %s", program->folder);
    if (system(command) != 0)
        abort();
    free(program->addresses);
}

void built_program_take_addresses(struct built_program *program, const char *name)
{
    FILE *file = fopen(built_program_path(program, "addresses"), "we");

    free(program->addresses);
    program->addresses = line_printer_addresses(built_program_path(program, name), ADDRESSES_MAX, &program->count);
    for (size_t i = 0; file != NULL && i < program->count; i++)
        fprintf(file, "0x%" PRIx64 "\n", program->addresses[i]);
    if (file == NULL || fclose(file) != 0)
        abort();
}

bool built_program_ask(const struct built_program *program, const char *tool, const char *name, const char *answer)
{
    char command[1024];

    snprintf(command, sizeof(command), "%s -a -f -i -C -e %s <addresses >%s", tool, name, answer);
    return built_program_run(program, command);
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

/* A line without what only some tools say; false: no more. */
static bool read_line(FILE *file, char *line)
{
    char *mark;

    if (fgets(line, LINE_BYTES, file) == NULL)
        return false;
    line[strcspn(line, "\n")] = '\0';
    mark = strstr(line, " (discriminator");
    if (mark != NULL)
        *mark = '\0';
    return true;
}

static bool has_no_line(const char *line)
{
    const char *colon = strrchr(line, ':');

    return colon != NULL && (strcmp(colon, ":?") == 0 || strcmp(colon, ":0") == 0);
}

static bool is_same(const char *left, const char *right)
{
    return strcmp(left, right) == 0 || (has_no_line(left) && has_no_line(right));
}

static bool is_address(const char *line)
{
    return strncmp(line, "0x", 2) == 0 && strspn(line + 2, "0123456789abcdef") == strlen(line + 2);
}

/* The lines up to the next address, in one text; false: no more. */
static bool read_answer(FILE *file, char *next, char lines[][LINE_BYTES], size_t *count_out)
{
    size_t count = 0;

    if (next[0] == '\0')
        return false;
    do {
        if (count < 2 * SYMBOLIZER_FRAMES_MAX)
            snprintf(lines[count++], LINE_BYTES, "%s", next);
        if (!read_line(file, next))
            next[0] = '\0';
    } while (next[0] != '\0' && !is_address(next));
    *count_out = count;
    return true;
}

static void show(const char *whose, char lines[][LINE_BYTES], size_t count)
{
    printf("  %s:", whose);
    for (size_t i = 0; i < count; i++)
        printf(" | %s", lines[i]);
    printf("\n");
}

static bool is_same_number(const char *left, const char *right)
{
    const char *left_colon = strrchr(left, ':'), *right_colon = strrchr(right, ':');

    return left_colon != NULL && right_colon != NULL && strcmp(left_colon, right_colon) == 0;
}

/* The first line is the address, then come functions and places in turn. */
static bool is_same_answer(char theirs[][LINE_BYTES], char ours[][LINE_BYTES], size_t count,
                           enum built_program_strictness strictness)
{
    size_t last = count - 2;

    if (strtoull(theirs[0], NULL, 16) != strtoull(ours[0], NULL, 16))
        return false;
    for (size_t i = 1; i < count; i++) {
        if (is_same(theirs[i], ours[i]) || (i % 2 == 1 && strictness == COMPARE_LINES) ||
            (i % 2 == 0 && strictness == COMPARE_NUMBERS && is_same_number(theirs[i], ours[i])))
            continue;
        if (i % 2 == 0 || (strstr(theirs[i], ours[last]) == NULL && strstr(ours[i], theirs[i]) == NULL &&
                           strstr(theirs[i], ours[i]) == NULL))
            return false;
    }
    return true;
}

static size_t compare_files(FILE *theirs, FILE *ours, enum built_program_strictness strictness)
{
    static char left[2 * SYMBOLIZER_FRAMES_MAX][LINE_BYTES], right[2 * SYMBOLIZER_FRAMES_MAX][LINE_BYTES];
    char left_next[LINE_BYTES] = "", right_next[LINE_BYTES] = "";
    size_t left_count, right_count, differences = 0, total = 0;
    bool has_left, has_right;

    (void)read_line(theirs, left_next);
    (void)read_line(ours, right_next);
    for (;;) {
        has_left = read_answer(theirs, left_next, left, &left_count);
        has_right = read_answer(ours, right_next, right, &right_count);
        if (!has_left && !has_right)
            break;
        bool same = has_left && has_right && left_count == right_count && left_count > 2 &&
                    is_same_answer(left, right, left_count, strictness);

        total++;
        if (!same && differences++ < SHOWN_MAX) {
            show("theirs", left, has_left ? left_count : 0);
            show("ours  ", right, has_right ? right_count : 0);
        }
    }
    return total == 0 ? 1 : differences;
}

size_t built_program_compare(const struct built_program *program, const char *name, const char *answer,
                             const struct symbolizer_options *options, enum built_program_strictness strictness)
{
    FILE *theirs = fopen(built_program_path(program, answer), "re");
    FILE *ours = fopen(built_program_path(program, "ours"), "w+e");
    struct symbolizer symbolizer;
    struct recorded_module module;
    size_t differences = 1;

    if (theirs != NULL && ours != NULL && line_printer_module(built_program_path(program, name), &module)) {
        symbolizer_init(&symbolizer, options);
        line_printer_print(&symbolizer, &module, program->addresses, program->count, ours);
        symbolizer_deinit(&symbolizer);
        rewind(ours);
        differences = compare_files(theirs, ours, strictness);
    }
    if (theirs != NULL)
        fclose(theirs);
    if (ours != NULL)
        fclose(ours);
    if (differences != 0)
        printf("%s: %zu of %zu places are not as in %s\n", name, differences, program->count, answer);
    return differences;
}
