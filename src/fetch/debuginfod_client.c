/* SPDX-License-Identifier: MIT */
/*
 * Nothing is kept from one question to the next: the library remembers on disk what it got, and what it did not get.
 * The program is not even started unless somebody named a server.
 */
#include "fetch/debuginfod_client.h"

#include "fetch/fetch_program.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_BYTES_MAX 64

static char any_client;

void *debuginfod_client_begin(void)
{
    return &any_client;
}

void debuginfod_client_end(void *client)
{
    (void)client;
}

static int write_id(const unsigned char *id, int id_bytes, char *text)
{
    if (id_bytes == 0) {
        size_t length = strspn((const char *)id, "0123456789abcdef");

        if (length == 0 || length > 2 * ID_BYTES_MAX || id[length] != '\0')
            return -EINVAL;
        strcpy(text, (const char *)id);
        return 0;
    }
    if (id_bytes < 0 || id_bytes > ID_BYTES_MAX)
        return -EINVAL;
    for (int i = 0; i < id_bytes; i++)
        sprintf(text + 2 * i, "%02x", id[i]);
    return 0;
}

static int find(const char *kind, const unsigned char *id, int id_bytes, char **path_out)
{
    const char *servers = getenv("DEBUGINFOD_URLS");
    char text[2 * ID_BYTES_MAX + 1], *path;
    int fd, result;

    if (servers == NULL || servers[0] == '\0')
        return -ENOSYS;
    result = write_id(id, id_bytes, text);
    if (result == 0)
        result = fetch_program_run(kind, text, &path);
    if (result != 0)
        return result;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fd = -errno;
    if (fd >= 0 && path_out != NULL)
        *path_out = path;
    else
        free(path);
    return fd;
}

int debuginfod_client_find_debuginfo(void *client, const unsigned char *id, int id_bytes, char **path_out)
{
    (void)client;
    return find("debuginfo", id, id_bytes, path_out);
}

int debuginfod_client_find_executable(void *client, const unsigned char *id, int id_bytes, char **path_out)
{
    (void)client;
    return find("executable", id, id_bytes, path_out);
}

void *debuginfod_client_function(const char *name)
{
    static const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"debuginfod_begin", debuginfod_client_begin},
        {"debuginfod_end", debuginfod_client_end},
        {"debuginfod_find_debuginfo", debuginfod_client_find_debuginfo},
        {"debuginfod_find_executable", debuginfod_client_find_executable},
    };

    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].function;
    return NULL;
}
