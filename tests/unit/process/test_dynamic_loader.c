/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/*
 * In this program, what is found is compared with what the loader says itself. In others (static, not relocatable,
 * with musl, started by way of the loader) a small program does so, which is compiled here with our code in it.
 */
#define _GNU_SOURCE
#include "process/dynamic_loader.h"

#include "support/check.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct r_debug *own_debug(void)
{
    for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_DEBUG)
            return (const struct r_debug *)(uintptr_t)entry->d_un.d_ptr;
    return NULL;
}

static unsigned namespaces, entries;
static struct link_map *expected;

static bool begin(void *context, unsigned namespace_number, enum loader_state state)
{
    CHECK(context == &entries);
    CHECK_EQUAL(namespace_number, namespaces);
    CHECK_EQUAL(state, LOADER_CONSISTENT);
    namespaces++;
    return true;
}

static void take(void *context, const struct loader_entry *entry)
{
    CHECK(context == &entries);
    entries++;
    CHECK_EQUAL(entry->link_map, (uintptr_t)expected);
    CHECK_EQUAL(entry->bias, expected->l_addr);
    CHECK_EQUAL(entry->dynamic, (uintptr_t)expected->l_ld);
    CHECK_EQUAL(entry->name, (uintptr_t)expected->l_name);
    expected = expected->l_next;
}

static void the_loader_of_this_program_is_found(void)
{
    static const struct loader_visitor visitor = {&entries, begin, take};
    const struct r_debug *debug = own_debug();
    struct dynamic_loader loader;

    CHECK_EQUAL(dynamic_loader_find(&loader), 0);
    CHECK_EQUAL(loader.base, getauxval(AT_BASE));
    CHECK_EQUAL(loader.notification, debug->r_brk);
    CHECK_EQUAL(loader.debug, (uintptr_t)debug);
    expected = debug->r_map;
    CHECK_EQUAL(dynamic_loader_visit(&loader, &visitor), 0);
    CHECK_EQUAL(namespaces, 1);
    CHECK(entries >= 4);
    CHECK(expected == NULL);
}

/* As it is before the loader has run: its struct is all zeroes, and what leads to it, too. */
static void a_loader_that_has_not_begun_is_waited_for(void)
{
    static const struct loader_visitor visitor = {&entries, begin, take};
    static uint64_t empty[8], pointer;
    struct dynamic_loader loader;

    CHECK_EQUAL(dynamic_loader_find(&loader), 0);
    loader.debug = (uintptr_t)empty;
    loader.debug_pointer = 0;
    CHECK_EQUAL(dynamic_loader_visit(&loader, &visitor), -EAGAIN);
    loader.debug = 0;
    CHECK_EQUAL(dynamic_loader_visit(&loader, &visitor), -EAGAIN);
    loader.debug_pointer = (uintptr_t)&pointer;
    CHECK_EQUAL(dynamic_loader_visit(&loader, &visitor), -EAGAIN);
    pointer = 0x3d8; /* not relocated */
    CHECK_EQUAL(dynamic_loader_visit(&loader, &visitor), -EAGAIN);
    loader.debug_pointer = 0x3d8;
    CHECK_EQUAL(dynamic_loader_visit(&loader, &visitor), -EAGAIN);
    entries = namespaces = 0;
    loader.debug_pointer = (uintptr_t)&pointer;
    pointer = (uintptr_t)own_debug();
    expected = own_debug()->r_map;
    CHECK_EQUAL(dynamic_loader_visit(&loader, &visitor), 0);
    CHECK(entries >= 4);
}

/* ---- other programs ---------------------------------------------------------------------------------------------- */

/* Prints what the observer tells, and "constructed" when a library that it loads runs. */
static const char witness[] =
    "#include \"process/module_observer.h\"\n"
    "#include \"support/loader_hook.h\"\n"
    "#include <dlfcn.h>\n"
    "#include <stdio.h>\n"
    "static struct module_observer observer;\n"
    "static void tell(const char *what, const struct module *module) {\n"
    "    printf(\"%s %s%s%s\\n\", what, module->is_program ? \"program \" : \"\", module->link_map ? \"linked \" : "
    "\"\", module->path); fflush(stdout); }\n"
    "static void loaded(void *c, const struct module *m, uint64_t t) { (void)c, (void)t; tell(\"+\", m); }\n"
    "static void unloaded(void *c, const struct module *m, uint64_t t) { (void)c, (void)t; tell(\"-\", m); }\n"
    "static void notified(void) { module_observer_notice(&observer); }\n"
    "int main(int count, char **arguments) {\n"
    "    static const struct module_listener listener = {0, loaded, unloaded, 0};\n"
    "    struct loader_hook hook; uint64_t function; void *handle;\n"
    "    module_observer_init(&observer, &listener);\n"
    "    if (module_observer_find(&observer, &function) != 0) puts(\"no loader\");\n"
    "    else if (!loader_hook_attach(&hook, function, notified)) puts(\"not hooked\");\n"
    "    module_observer_notice(&observer);\n"
    "    puts(\"begun\");\n"
    "    if (count < 2) return 0;\n"
    "    handle = dlopen(arguments[1], RTLD_NOW);\n"
    "    if (handle == NULL) { puts(dlerror()); return 0; }\n"
    "    puts(\"loaded\");\n"
    "    dlclose(handle);\n"
    "    puts(\"done\");\n"
    "    return 0; }\n";

static const char plugin[] = "int puts(const char *text);\n"
                             "__attribute__((constructor)) static void begin(void) { puts(\"constructed\"); }\n";

static char folder[64], output[16384];

static void write_file(const char *name, const char *text)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void run(const char *command)
{
    FILE *file = popen(command, "r");
    size_t got = 0, piece;

    memset(output, 0, sizeof(output));
    CHECK(file != NULL);
    while (file != NULL && (piece = fread(output + got, 1, sizeof(output) - 1 - got, file)) > 0)
        got += piece;
    CHECK_EQUAL(pclose(file), 0);
}

/* False: it cannot be compiled, for want of a compiler or of a library. */
static bool build(const char *compiler, const char *options)
{
    char executable[PATH_MAX] = "", command[2 * PATH_MAX];
    const char *out;

    CHECK(readlink("/proc/self/exe", executable, sizeof(executable) - 1) > 0);
    out = dirname(dirname(dirname(dirname(executable))));
    snprintf(command, sizeof(command),
             "cd %s && { %s -Isrc -Itests %s -std=gnu11 -o %s/witness %s/witness.c tests/support/loader_hook.c "
             "%s/hosted_core.o -ldl && %s -shared -fPIC -o %s/plugin.so %s/plugin.c; } 2> %s/log",
             getenv("PWD"), compiler, options, folder, folder, out, compiler, folder, folder, folder);
    return system(command) == 0;
}

static void begin_folder(void)
{
    strcpy(folder, "/tmp/gait-loader-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    write_file("witness.c", witness);
    write_file("plugin.c", plugin);
}

static void end_folder(void)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -r %s", folder);
    CHECK_EQUAL(system(command), 0);
}

static bool has(const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (strstr(output, text) != NULL)
        return true;
    printf("not there: %s\n", text);
    return false;
}

/* Whether one text comes before the other. */
static bool is_before(const char *first, const char *second)
{
    const char *left = strstr(output, first), *right = strstr(output, second);

    return left != NULL && right != NULL && left < right;
}

static void run_witness(const char *prefix)
{
    char command[256];

    snprintf(command, sizeof(command), "%s %s/witness %s/plugin.so", prefix, folder, folder);
    run(command);
}

static void check_loading(void)
{
    char loaded[128], unloaded[128];

    snprintf(loaded, sizeof(loaded), "+ linked %s/plugin.so\n", folder);
    snprintf(unloaded, sizeof(unloaded), "- linked %s/plugin.so\n", folder);
    CHECK(is_before("begun\n", loaded));
    CHECK(is_before(loaded, "constructed\n"));
    CHECK(is_before("loaded\n", unloaded) && is_before(unloaded, "done\n"));
}

static void dynamic_programs_that_cannot_be_moved(void)
{
    begin_folder();
    CHECK(build("cc", "-no-pie"));
    run_witness("");
    CHECK(has("+ program linked %s/witness\n", folder));
    CHECK(has("+ linked [vdso]\n"));
    check_loading();
    end_folder();
}

static void a_loader_that_is_the_program(void)
{
    begin_folder();
    CHECK(build("cc", ""));
    run_witness("/lib64/ld-linux-x86-64.so.2");
    CHECK(has("+ linked %s/witness\n", folder));
    check_loading();
    end_folder();
}

static void static_programs(void)
{
    static const char *const options[] = {"-static", "-static-pie"};

    for (unsigned i = 0; i < 2; i++) {
        begin_folder();
        if (build("cc", options[i])) {
            run_witness("");
            CHECK(is_before("+ program ", "begun\n"));
            CHECK(has("[vdso]\n"));
            CHECK(has("%s/witness\n", folder));
            /* They may load others, where the same version of libc is there. */
            if (strstr(output, "constructed") != NULL)
                check_loading();
        }
        end_folder();
    }
}

/* musl keeps what it has loaded. */
static void programs_with_musl(void)
{
    char loaded[128];

    begin_folder();
    if (!build("musl-gcc", "")) {
        printf("there is no musl-gcc\n");
        end_folder();
        return;
    }
    run_witness("");
    snprintf(loaded, sizeof(loaded), "+ linked %s/plugin.so\n", folder);
    CHECK(has("+ program linked %s/witness\n", folder));
    CHECK(strstr(output, "no loader") == NULL && strstr(output, "not hooked") == NULL);
    CHECK(is_before("begun\n", loaded) && is_before(loaded, "constructed\n"));
    CHECK(is_before("loaded\n", "done\n"));
    CHECK(strstr(output, "- ") == NULL);
    CHECK(build("musl-gcc", "-static"));
    run_witness("");
    CHECK(has("no loader\n"));
    CHECK(is_before("+ program ", "begun\n"));
    CHECK(has("+ [vdso]\n"));
    end_folder();
}

static const struct check_case cases[] = {
    CHECK_CASE(the_loader_of_this_program_is_found),
    CHECK_CASE(a_loader_that_has_not_begun_is_waited_for),
    CHECK_CASE(dynamic_programs_that_cannot_be_moved),
    CHECK_CASE(a_loader_that_is_the_program),
    CHECK_CASE(static_programs),
    CHECK_CASE(programs_with_musl),
};

CHECK_MAIN(cases)
