/* SPDX-License-Identifier: MIT */
/* The table of sources, made from sources.def, and what they share. Stateless. */
#define _GNU_SOURCE
#include "kernel/source.h"

#include "hosted/error_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SOURCE(name) extern const struct source source_##name;
#include "kernel/sources.def"
#undef SOURCE

static const struct source *const sources[] = {
#define SOURCE(name) &source_##name,
#include "kernel/sources.def"
#undef SOURCE
};

_Static_assert(sizeof(sources) / sizeof(sources[0]) == PROBE_KINDS, "a source for each kind");

const struct source *source_of(enum probe_kind kind)
{
    return sources[kind];
}

void source_probe_deinit(struct source_probe *probe)
{
    free(probe->spec);
    free(probe->name);
    free(probe->text);
    free(probe->target);
    free(probe->format);
    *probe = (struct source_probe){.spec = NULL};
}

void source_probe_add_field(struct source_probe *probe, const struct kernel_field *field, const char *name)
{
    struct kernel_field *added = &probe->fields[probe->field_count];

    if (probe->field_count == KERNEL_FIELDS_MAX)
        return;
    *added = *field;
    memset(added->name, 0, sizeof(added->name));
    memcpy(added->name, name, strnlen(name, sizeof(added->name) - 1));
    probe->field_count++;
}

int source_list(const struct probe_spec *spec, source_visit *visit, void *context, struct gait_error *err)
{
    return spec->is_glob || (spec->kind == PROBE_USDT && !spec->has_address)
               ? sources[spec->kind]->list(spec, visit, context, err)
               : visit(context, spec->text);
}

int source_dynamic_type(const char *name, uint32_t *type_out)
{
    char path[128], text[32];
    int fd;
    ssize_t got;

    snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    got = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (got <= 0)
        return -ENOENT;
    text[got] = '\0';
    *type_out = (uint32_t)strtoul(text, NULL, 10);
    return 0;
}

static int try_at(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
    struct perf_event_attr wanted = *attr;
    long fd;

    wanted.size = sizeof(wanted);
    wanted.disabled = 1;
    fd = syscall(SYS_perf_event_open, &wanted, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -errno;
    close((int)fd);
    return 0;
}

int source_try(const struct perf_event_attr *attr)
{
    int result = try_at(attr, 0, -1);

    return result == -EINVAL ? try_at(attr, -1, 0) : result;
}

static long paranoia(void)
{
    char text[32] = "";
    int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

    if (fd >= 0)
        close(fd);
    return got > 0 ? strtol(text, NULL, 10) : 0;
}

int source_explain(const char *what, int code, struct gait_error *err)
{
    if (code < 0)
        code = -code;
    switch (code) {
    case EACCES:
    case EPERM:
        return error_set(
            err, code,
            "cannot watch %s: the kernel does not let this user (perf_event_paranoid is %ld); try as root, "
            "with the capabilities PERFMON and BPF, or use what needs no privilege: gait spawn, gait attach",
            what, paranoia());
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return error_set(err, code, "cannot watch %s: this machine or its kernel has no such events (%s)", what,
                         strerror(code));
    case EMFILE:
    case ENFILE:
        return error_set(err, code, "cannot watch %s: there are too many open files; try fewer probes, or ulimit -n",
                         what);
    case EBUSY:
        return error_set(
            err, code, "cannot watch %s: another program holds all counters of this kind; try again when it has ended",
            what);
    default:
        return error_set(err, code, "cannot watch %s: the kernel reports: %s", what, strerror(code));
    }
}
