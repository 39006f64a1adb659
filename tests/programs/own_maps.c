/* SPDX-License-Identifier: MIT */
/*
 * A program that reads what the system says of it: its code, data, heap and stack are where they are and as they were,
 * it has the threads and objects that it made, and nobody traces it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

static int variable = 1;
static const int constant = 2;

/* What the line of the maps with this address says: access and name. */
static int find(const void *address, char access_out[8], char name_out[400])
{
    FILE *file = fopen("/proc/self/maps", "r");
    unsigned long start, end, wanted = (unsigned long)(uintptr_t)address;
    char line[512];
    int found = 0;

    while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL) {
        name_out[0] = 0;
        found = sscanf(line, "%lx-%lx %7s %*s %*s %*s %399s", &start, &end, access_out, name_out) >= 3 &&
                start <= wanted && wanted < end;
    }
    if (file != NULL)
        fclose(file);
    return found;
}

static void say(const char *what, const void *address)
{
    char access[8], name[400], own[400] = "";
    ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

    if (!find(address, access, name))
        printf("%s: nowhere\n", what);
    else
        printf("%s: %s %s\n", what, access, length > 0 && strcmp(name, own) == 0 ? "own file" : name);
}

static int count_object(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)info;
    (void)size;
    ++*(int *)count;
    return 0;
}

static int count_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    int count = 0;

    while (folder != NULL && readdir(folder) != NULL)
        count++;
    if (folder != NULL)
        closedir(folder);
    return count - 2;
}

static void say_status(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "TracerPid:", 10) == 0 || strncmp(line, "Threads:", 8) == 0 ||
            strncmp(line, "SigBlk:", 7) == 0 || strncmp(line, "Name:", 5) == 0)
            fputs(line, stdout);
    if (file != NULL)
        fclose(file);
}

/* The C library finds the main thread's stack by the maps, too: up to what is mapped below it. */
static void say_stack(void)
{
    pthread_attr_t attributes;
    struct rlimit limit;
    void *start = NULL;
    size_t size = 0;

    if (getrlimit(RLIMIT_STACK, &limit) != 0 || pthread_getattr_np(pthread_self(), &attributes) != 0 ||
        pthread_attr_getstack(&attributes, &start, &size) != 0)
        return;
    printf("here: %d, whole: %d\n", (char *)&limit >= (char *)start && (char *)&limit < (char *)start + size,
           limit.rlim_cur == RLIM_INFINITY || size >= limit.rlim_cur - (1 << 20));
    pthread_attr_destroy(&attributes);
}

static void *look(void *argument)
{
    printf("%d threads\n", count_threads());
    return argument;
}

int main(void)
{
    int local = 3, objects = 0;
    int *allocated = malloc(sizeof(int));
    pthread_t thread;

    say("code", (const void *)(uintptr_t)main);
    say("data", &variable);
    say("constants", &constant);
    say("heap", allocated);
    say("stack", &local);
    say("kernel's", (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR));
    say("library's", (const void *)(uintptr_t)puts);
    say_stack();
    dl_iterate_phdr(count_object, &objects);
    printf("%d objects, %d threads\n", objects, count_threads());
    pthread_create(&thread, NULL, look, NULL);
    pthread_join(thread, NULL);
    say_status();
    free(allocated);
    return 0;
}
