/* SPDX-License-Identifier: MIT */
/*
 * The images without libc that mk/test_images.mk links of the whole core and core_exercise.c, read from where the build
 * puts them: two folders above the folder of a test program.
 */
#ifndef GAIT_TESTS_CORE_IMAGE_H
#define GAIT_TESTS_CORE_IMAGE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CORE_IMAGE        "core_image.so"        /* with DT_RELA */
#define CORE_IMAGE_PACKED "core_image_packed.so" /* with DT_RELR, where the linker can */

/* Reads an image into memory that the caller frees. NULL: there is none. */
static inline uint8_t *core_image_read(const char *name, size_t *size_out)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 64);
    uint8_t *bytes = NULL;
    FILE *file;
    long size;

    path[length > 0 ? length : 0] = '\0';
    for (int level = 0; level < 3 && strrchr(path, '/') != NULL; level++)
        *strrchr(path, '/') = '\0';
    strcat(strcat(path, "/"), name);
    file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    fseek(file, 0, SEEK_END);
    size = ftell(file);
    rewind(file);
    if (size > 0)
        bytes = malloc((size_t)size);
    if (bytes != NULL && fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        free(bytes);
        bytes = NULL;
    }
    *size_out = (size_t)size;
    fclose(file);
    return bytes;
}

#endif
