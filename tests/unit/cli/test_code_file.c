/* SPDX-License-Identifier: MIT */
#include "cli/code_file.h"

#include "arch/arch.h"
#include "support/check.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct gait_error err;

static int open_error(const char *name, const char *word)
{
    struct code_file file;
    int result = code_file_open(name, &file, &err);

    CHECK_EQUAL(err.code, -result);
    CHECK(strstr(err.text, "cannot ") == err.text && strstr(err.text, "; try ") != NULL);
    if (strstr(err.text, word) == NULL)
        printf("'%s' is not in: %s\n", word, err.text);
    CHECK(strstr(err.text, word) != NULL);
    return result;
}

static void libraries_are_found_by_name(void)
{
    struct code_excerpt excerpt;
    struct code_file file;

    CHECK_EQUAL(code_file_open("libc.so.6", &file, &err), 0);
    CHECK(strstr(file.path, "/libc.so.6") != NULL);
    CHECK(file.arch == arch_host());
    CHECK_EQUAL(code_file_find(&file, "qsort", &excerpt, &err), 0);
    CHECK_TEXT(excerpt.name, "qsort");
    CHECK(excerpt.size_bytes > 0 && !excerpt.is_resolver);
    code_file_close(&file);
}

static void code_is_found_by_address(void)
{
    struct code_excerpt whole, part;
    struct code_file file;
    char where[64];

    CHECK_EQUAL(code_file_open("/proc/self/exe", &file, &err), 0);
    CHECK_EQUAL(code_file_find(&file, "main", &whole, &err), 0);
    snprintf(where, sizeof(where), "0x%" PRIx64, whole.address + 1);
    CHECK_EQUAL(code_file_find(&file, where, &part, &err), 0);
    CHECK_EQUAL(part.size_bytes, whole.size_bytes - 1);
    CHECK_TEXT(part.name, "main");
    snprintf(where, sizeof(where), "0X%" PRIx64 "+0x3", whole.address);
    CHECK_EQUAL(code_file_find(&file, where, &part, &err), 0);
    CHECK_EQUAL(part.size_bytes, 3);
    CHECK(part.bytes == whole.bytes);
    snprintf(where, sizeof(where), "0x%" PRIx64 "+99999999999", whole.address);
    CHECK_EQUAL(code_file_find(&file, where, &part, &err), 0);
    CHECK(part.size_bytes < 99999999999);
    CHECK_EQUAL(code_file_find(&file, "0x10", &part, &err), -ENOENT);
    CHECK_EQUAL(code_file_find(&file, "0x", &part, &err), -EINVAL);
    CHECK_EQUAL(code_file_find(&file, "0x10+", &part, &err), -EINVAL);
    CHECK_EQUAL(code_file_find(&file, "0x10+0", &part, &err), -EINVAL);
    CHECK_EQUAL(code_file_find(&file, "0x10+5+6", &part, &err), -EINVAL);
    code_file_close(&file);
}

static void a_mistyped_name_gets_suggestions(void)
{
    struct code_excerpt excerpt;
    struct code_file file;

    CHECK_EQUAL(code_file_open("libc.so.6", &file, &err), 0);
    CHECK_EQUAL(code_file_find(&file, "bserch", &excerpt, &err), -ENOENT);
    CHECK(strstr(err.text, "try bsearch") != NULL);
    CHECK_EQUAL(code_file_find(&file, "", &excerpt, &err), -ENOENT);
    code_file_close(&file);
}

static void other_files_are_refused_with_the_reason(void)
{
    CHECK_EQUAL(open_error("/nowhere/at/all", "no such file"), -ENOENT);
    CHECK_EQUAL(open_error("libnowhere.so.6", "no such library"), -ENOENT);
    CHECK_EQUAL(open_error("lib*.so.6", "no such library"), -ENOENT);
    CHECK_EQUAL(open_error("/", "directory"), -EISDIR);
    CHECK_EQUAL(open_error("/dev/null", "not a 64-bit ELF"), -ENOEXEC);
    CHECK_EQUAL(open_error("/proc/self/status", "not a 64-bit ELF"), -ENOEXEC);
    CHECK_EQUAL(open_error("/etc/passwd", "not a 64-bit ELF"), -ENOEXEC);
}

static void a_file_that_may_not_be_read_is_told(void)
{
    char path[] = "/tmp/gait-test-XXXXXX";
    int fd = mkstemp(path);

    CHECK(fd >= 0 && fchmod(fd, 0) == 0);
    if (geteuid() != 0)
        CHECK_EQUAL(open_error(path, "may not read"), -EACCES);
    close(fd);
    unlink(path);
}

static void another_cpu_is_told(void)
{
    Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
                         .e_type = ET_DYN,
                         .e_machine = EM_RISCV};
    char path[] = "/tmp/gait-test-XXXXXX";
    int fd = mkstemp(path);

    CHECK_EQUAL(write(fd, &header, sizeof(header)), sizeof(header));
    close(fd);
    CHECK_EQUAL(open_error(path, "another CPU"), -ENOTSUP);
    unlink(path);
}

static void code_of_this_cpu_is_opened_and_found(void)
{
    const char *const names[] = {"libc.so.6", "malloc"}, *const unknown[] = {"libc.so.6", "no such function"};
    Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB}, .e_type = ET_DYN};
    char path[] = "/tmp/gait-test-XXXXXX";
    const char *const others[] = {path, "malloc"};
    struct code_excerpt excerpt;
    struct code_file file;
    int fd = mkstemp(path);

    CHECK_EQUAL(code_file_open_for_host(names, "copy", &file, &excerpt, &err), 0);
    CHECK_TEXT(excerpt.name, "malloc");
    code_file_close(&file);
    CHECK(code_file_open_for_host(unknown, "copy", &file, &excerpt, &err) < 0);
    CHECK(strstr(err.text, "no such function") != NULL);
    header.e_machine = arch_host()->elf_machine == EM_X86_64 ? EM_AARCH64 : EM_X86_64;
    CHECK_EQUAL(write(fd, &header, sizeof(header)), sizeof(header));
    close(fd);
    CHECK_EQUAL(code_file_open_for_host(others, "copy", &file, &excerpt, &err), -ENOTSUP);
    CHECK(strstr(err.text, path) != NULL);
    unlink(path);
}

static const struct check_case cases[] = {
    CHECK_CASE(libraries_are_found_by_name),          CHECK_CASE(code_is_found_by_address),
    CHECK_CASE(a_mistyped_name_gets_suggestions),     CHECK_CASE(other_files_are_refused_with_the_reason),
    CHECK_CASE(a_file_that_may_not_be_read_is_told),  CHECK_CASE(another_cpu_is_told),
    CHECK_CASE(code_of_this_cpu_is_opened_and_found),
};

CHECK_MAIN(cases)
