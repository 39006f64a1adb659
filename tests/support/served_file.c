/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support/served_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const kinds[] = {"debuginfo", "executable"};

static void put_file(const char *folder, const char *kind)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof(path), "%s/buildid/" SERVED_FILE_ID "/%s", folder, kind);
    file = fopen(path, "we");
    if (file != NULL) {
        fputs(SERVED_FILE_BYTES, file);
        fclose(file);
    }
}

static void set_variable(const char *name, const char *before, const char *folder, const char *below)
{
    char value[128];

    snprintf(value, sizeof(value), "%s%s%s", before, folder, below);
    setenv(name, value, 1);
}

void served_file_init(struct served_file *served)
{
    static const char *const folders[] = {"/buildid", "/buildid/" SERVED_FILE_ID};
    char path[128];

    strcpy(served->folder, "/tmp/gait-test-XXXXXX");
    if (mkdtemp(served->folder) == NULL)
        abort();
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", served->folder, folders[i]);
        (void)mkdir(path, 0700);
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        put_file(served->folder, kinds[i]);
    set_variable("DEBUGINFOD_URLS", "file://", served->folder, "");
    set_variable("DEBUGINFOD_CACHE_PATH", "", served->folder, "/kept");
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void served_file_deinit(struct served_file *served)
{
    unsetenv("DEBUGINFOD_URLS");
    unsetenv("DEBUGINFOD_CACHE_PATH");
    (void)nftw(served->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

bool served_file_has_client(void)
{
    void *library = dlopen("libdebuginfod.so.1", RTLD_LAZY);

    if (library != NULL)
        dlclose(library);
    return library != NULL;
}

bool served_file_is_behind(int fd)
{
    char bytes[sizeof(SERVED_FILE_BYTES)] = "";
    ssize_t count = pread(fd, bytes, sizeof(bytes), 0);

    return count == (ssize_t)strlen(SERVED_FILE_BYTES) && strcmp(bytes, SERVED_FILE_BYTES) == 0;
}

bool served_file_is_at(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool result = fd >= 0 && served_file_is_behind(fd);

    if (fd >= 0)
        close(fd);
    return result;
}
