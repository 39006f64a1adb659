/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "process/module_files.h"

#include "process/module.h"
#include "support/check.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

static int compare(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    const struct module_files *files = context;
    uint64_t base = 0;

    (void)size_bytes;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_offset == 0)
            base = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        uint64_t address = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        const struct module_file *file = module_files_at(files, address);

        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        CHECK(file != NULL && file->base == base);
        CHECK(file != NULL && file->has_code);
        CHECK(file != NULL && strlen(file->path) == file->path_length);
    }
    return 0;
}

static void modules_are_found_by_any_address_of_them(void)
{
    struct module_files files;

    CHECK_EQUAL(module_files_init(&files), 0);
    dl_iterate_phdr(compare, &files);
    CHECK(module_files_at(&files, getauxval(AT_SYSINFO_EHDR))->is_vdso);
    CHECK(module_files_at(&files, 0x10) == NULL);
    CHECK(module_files_at(&files, UINT64_MAX) == NULL);
    CHECK(module_files_at(&files, (uintptr_t)&files) == NULL);
    for (size_t i = 1; i < files.count; i++)
        CHECK(files.files[i].base >= files.files[i - 1].end);
    module_files_deinit(&files);
}

static void files_that_are_read_only_have_no_code(void)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    void *start = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    const struct module_file *file;
    struct module_files files;

    CHECK(start != MAP_FAILED);
    CHECK_EQUAL(module_files_init(&files), 0);
    file = module_files_at(&files, (uintptr_t)start);
    CHECK(file != NULL && file->base == (uintptr_t)start);
    CHECK(file != NULL && !file->has_code);
    module_files_deinit(&files);
    munmap(start, 4096);
    close(fd);
}

static void headers_in_memory_describe_a_module(void)
{
    struct module module;
    Dl_info info;

    CHECK(dladdr((const void *)&qsort, &info) != 0);
    CHECK_EQUAL(module_describe((uintptr_t)info.dli_fbase, &module), 0);
    CHECK_EQUAL(module.base, (uintptr_t)info.dli_fbase);
    CHECK(module.end > (uintptr_t)&qsort);
    CHECK(module.dynamic > module.base && module.dynamic < module.end);
    CHECK_EQUAL(module.build_id_bytes, 20);
    CHECK_EQUAL(module_describe((uintptr_t)&module, &module), -ENOEXEC);
    CHECK_EQUAL(module_describe(0x10, &module), -EFAULT);
}

static const struct check_case cases[] = {
    CHECK_CASE(modules_are_found_by_any_address_of_them),
    CHECK_CASE(files_that_are_read_only_have_no_code),
    CHECK_CASE(headers_in_memory_describe_a_module),
};

CHECK_MAIN(cases)
