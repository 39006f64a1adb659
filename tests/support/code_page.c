/* SPDX-License-Identifier: MIT */
/* Two mappings of an anonymous file; the private one, never written, shows what is written through the other. */
#define _GNU_SOURCE
#include "support/code_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void *map_view(int fd, size_t size_bytes, int protection, int flags)
{
    void *view = mmap(NULL, size_bytes, protection, flags, fd, 0);

    if (view == MAP_FAILED) {
        perror("mmap of memory for code");
        exit(1);
    }
    return view;
}

void code_page_init(struct code_page *page, size_t size_bytes)
{
    int fd = memfd_create("code page", MFD_CLOEXEC);

    if (fd < 0 || ftruncate(fd, (off_t)size_bytes) != 0) {
        perror("memory for code");
        exit(1);
    }
    page->bytes = map_view(fd, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED);
    page->start = (uintptr_t)map_view(fd, size_bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE);
    page->size_bytes = size_bytes;
    close(fd);
    code_page_rewind(page);
}

void code_page_deinit(struct code_page *page)
{
    munmap(page->bytes, page->size_bytes);
    munmap((void *)(uintptr_t)page->start, page->size_bytes);
}

void code_page_rewind(struct code_page *page)
{
    code_writer_init(&page->writer, page->bytes, page->size_bytes, cache_pc_of(code_page_start(page)));
}
