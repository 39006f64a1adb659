/* SPDX-License-Identifier: MIT */
/* The reasons one by one, the most certain first; what is left is some rule of the system's that cannot be seen. */
#define _GNU_SOURCE
#include "inject/trace_refusal.h"

#include "hosted/error_text.h"

#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES 64

/* What /proc tells of a process. */
struct process_facts {
    long tracer; /* 0: none */
    uid_t user;
    bool has_memory; /* threads of the kernel have none */
};

static bool read_facts(pid_t pid, struct process_facts *facts_out)
{
    char path[64], line[256];
    unsigned long user = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    *facts_out = (struct process_facts){.tracer = 0};
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "TracerPid:", 10) == 0)
            facts_out->tracer = strtol(line + 10, NULL, 10);
        else if (strncmp(line, "Uid:", 4) == 0)
            user = strtoul(line + 4, NULL, 10);
        else if (strncmp(line, "VmSize:", 7) == 0)
            facts_out->has_memory = true;
    }
    facts_out->user = (uid_t)user;
    fclose(file);
    return true;
}

/* A line of a file, without its end; "" if there is none. */
static const char *read_line(const char *path, char *text, int text_bytes)
{
    FILE *file = fopen(path, "re");

    text[0] = '\0';
    if (file != NULL && fgets(text, text_bytes, file) != NULL)
        text[strcspn(text, "\n")] = '\0';
    if (file != NULL)
        fclose(file);
    return text;
}

static const char *name_of_process(long pid, char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
    return read_line(path, name, NAME_BYTES)[0] == '\0' ? "?" : name;
}

/* From the file: what else might know users is loaded from shared libraries, and the command has none. */
static const char *name_of_user(uid_t user, char *name)
{
    FILE *file = fopen("/etc/passwd", "re");
    const struct passwd *entry = NULL;

    snprintf(name, NAME_BYTES, "number %u", (unsigned)user);
    while (file != NULL && (entry = fgetpwent(file)) != NULL)
        if (entry->pw_uid == user) {
            snprintf(name, NAME_BYTES, "%s", entry->pw_name);
            break;
        }
    if (file != NULL)
        fclose(file);
    return name;
}

/* Of the Yama security module: 0 is no restriction, 3 none at all may. */
static int tracing_scope(void)
{
    char text[NAME_BYTES];

    return atoi(read_line("/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text)));
}

bool trace_refusal_tracer(pid_t pid, char *text_out, size_t text_bytes)
{
    struct process_facts facts;
    char name[NAME_BYTES];

    if (!read_facts(pid, &facts) || facts.tracer == 0 || facts.tracer == getpid())
        return false;
    snprintf(text_out, text_bytes, "process %ld (%s)", facts.tracer, name_of_process(facts.tracer, name));
    return true;
}

int trace_refusal_explain(pid_t pid, struct gait_error *err)
{
    struct process_facts facts;
    char name[NAME_BYTES];

    if (!read_facts(pid, &facts))
        return error_set(err, EPERM, "cannot trace process %d: this user cannot see it in /proc; try as root",
                         (int)pid);
    if (facts.tracer != 0)
        return error_set(err, EPERM,
                         "cannot trace process %d: process %ld (%s) traces it, and only one can at a time; end that "
                         "first",
                         (int)pid, facts.tracer, name_of_process(facts.tracer, name));
    if (!facts.has_memory)
        return error_set(err, EPERM, "cannot trace process %d (%s): it is a part of the kernel, not a program",
                         (int)pid, name_of_process(pid, name));
    if (geteuid() != 0 && facts.user != geteuid())
        return error_set(err, EPERM, "cannot trace process %d: it belongs to user %s; try as that user, or as root",
                         (int)pid, name_of_user(facts.user, name));
    if (tracing_scope() == 3)
        return error_set(err, EPERM,
                         "cannot trace process %d: this system forbids tracing to all users until it reboots "
                         "(/proc/sys/kernel/yama/ptrace_scope is 3); gait spawn needs it, too",
                         (int)pid);
    if (geteuid() != 0 && tracing_scope() != 0)
        return error_set(err, EPERM,
                         "cannot trace process %d: only programs that gait starts may be traced here "
                         "(/proc/sys/kernel/yama/ptrace_scope is %d); try as root, or gait spawn",
                         (int)pid, tracing_scope());
    return error_set(
        err, EPERM,
        "cannot trace process %d: it is protected (its privileges differ from those of gait, or a container or "
        "a security module forbids it); try %s",
        (int)pid, geteuid() == 0 ? "from outside of the container" : "as root");
}
