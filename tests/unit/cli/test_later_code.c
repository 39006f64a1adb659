/* SPDX-License-Identifier: MIT */
#include "cli/later_code.h"

#include "elf/symbol_file.h"
#include "support/built_program.h"
#include "support/check.h"
#include "symbolize/program_files.h"

#include <string.h>

static struct built_program program;

static struct later_code look(const char *source)
{
    struct later_code later = {.has_libraries = false};
    struct symbol_file file;
    char command[512];

    snprintf(command, sizeof(command), "echo '%s' >a.c && gcc -w -o a a.c -ldl", source);
    CHECK(built_program_run(&program, command));
    CHECK_EQUAL(symbol_file_open(built_program_path(&program, "a"), &file), 0);
    later_code_add(&later, &file.symbols);
    symbol_file_close(&file);
    return later;
}

static void what_a_program_needs_tells_what_may_come(void)
{
    struct later_code later;

    built_program_init(&program);
    later = look("int main() { return 0; }");
    CHECK(!later.has_libraries && !later.has_programs);
    later = look("int main() { return dlopen(0, 0) == 0; }");
    CHECK(later.has_libraries && !later.has_programs);
    later = look("int main() { return system(0); }");
    CHECK(!later.has_libraries && later.has_programs);
    built_program_deinit(&program);
}

static void programs_whose_code_is_in_a_library_are_known(void)
{
    struct program_files files = {.count = 2};
    char text[64];

    built_program_init(&program);
    CHECK(built_program_run(&program,
                            "for i in $(seq 3000); do echo \"void f$i(void) {}\"; done >l.c && "
                            "gcc -O0 -shared -fPIC -o libruler-3.so l.c && echo 'int main(){return 0;}' >m.c && "
                            "gcc -o ruler m.c && cp ruler java && cp ruler other"));
    files.paths[0] = strdup(built_program_path(&program, "ruler"));
    files.paths[1] = strdup(built_program_path(&program, "libruler-3.so"));
    CHECK(later_code_of_launcher(&files, text, sizeof(text)));
    CHECK_TEXT(text, "libruler*:*");
    free(files.paths[0]);
    files.paths[0] = strdup(built_program_path(&program, "other"));
    CHECK(!later_code_of_launcher(&files, text, sizeof(text)));
    free(files.paths[0]);
    files.paths[0] = strdup(built_program_path(&program, "java"));
    CHECK(later_code_of_launcher(&files, text, sizeof(text)));
    CHECK_TEXT(text, "libjvm*:*");
    program_files_deinit(&files);
    built_program_deinit(&program);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_a_program_needs_tells_what_may_come),
    CHECK_CASE(programs_whose_code_is_in_a_library_are_known),
};

CHECK_MAIN(cases)
