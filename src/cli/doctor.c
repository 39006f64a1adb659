/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/doctor.h"

#include "base/memory_map.h"
#include "gait/error.h"
#include "kernel/source.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NEEDED_ADDRESSES (3ull << 30)
#define NEEDED_DISK      (1ull << 30)

__attribute__((format(printf, 3, 4))) static void find(struct doctor_finding *finding, enum doctor_verdict verdict,
                                                       const char *format, ...)
{
    va_list values;

    finding->verdict = verdict;
    va_start(values, format);
    vsnprintf(finding->text, sizeof(finding->text), format, values);
    va_end(values);
}

__attribute__((format(printf, 2, 3))) static void advise(struct doctor_finding *finding, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    vsnprintf(finding->advice, sizeof(finding->advice), format, values);
    va_end(values);
}

static bool read_line(const char *path, char *line, size_t line_bytes)
{
    FILE *file = fopen(path, "re");
    bool is_read = file != NULL && fgets(line, (int)line_bytes, file) != NULL;

    if (file != NULL)
        fclose(file);
    if (is_read)
        line[strcspn(line, "\n")] = '\0';
    return is_read;
}

long doctor_read_number(const char *path)
{
    char line[64], *end;
    long number;

    if (!read_line(path, line, sizeof(line)))
        return -1;
    number = strtol(line, &end, 10);
    return end == line ? -1 : number;
}

static bool is_root(void)
{
    return geteuid() == 0;
}

/* ---- recording --------------------------------------------------------------------------------------------------- */

/* 0, or an errno number: a child of ours is seized and let go. */
static int try_tracing(void)
{
    pid_t child = fork();
    int status, result = 0;

    if (child == 0) {
        pause();
        _exit(0);
    }
    if (child < 0)
        return errno;
    if (ptrace(PTRACE_SEIZE, child, NULL, NULL) != 0)
        result = errno;
    kill(child, SIGKILL);
    while (waitpid(child, &status, __WALL) == -1 && errno == EINTR)
        ;
    return result;
}

void doctor_judge_tracing(long yama_scope, bool is_privileged, struct doctor_finding *finding)
{
    if (yama_scope >= 3) {
        find(finding, DOCTOR_LIMITED,
             "spawn works; the kernel permits no attaching to processes until it is restarted");
        advise(finding, "kernel.yama.ptrace_scope is 3; set it lower in /etc/sysctl.d, and restart");
    } else if (yama_scope >= 1 && !is_privileged) {
        find(finding, DOCTOR_LIMITED, "spawn works, attach only to processes that gait has started (ptrace_scope %ld)",
             yama_scope);
        advise(finding, "sysctl kernel.yama.ptrace_scope=0 as root, or sudo gait attach");
    } else {
        find(finding, DOCTOR_GOOD, "spawn works, and attach to %s",
             is_privileged ? "all processes" : "processes of the same user");
    }
}

static void look_at_tracing(struct doctor_finding *finding)
{
    int error = try_tracing();

    if (error != 0) {
        find(finding, DOCTOR_MISSING, "a process of ours cannot be traced: %s", strerror(error));
        advise(finding, "in a container: --cap-add SYS_PTRACE, or --security-opt seccomp=unconfined");
        return;
    }
    doctor_judge_tracing(doctor_read_number("/proc/sys/kernel/yama/ptrace_scope"), is_root(), finding);
}

static void look_at_memory_file(struct doctor_finding *finding)
{
    int fd = memfd_create("doctor", MFD_CLOEXEC);

    if (fd == -1) {
        find(finding, DOCTOR_MISSING, "memory cannot be shared by memfd_create: %s", strerror(errno));
        advise(finding, "a kernel from 3.17 on is needed, and a container that allows it");
        return;
    }
    close(fd);
    find(finding, DOCTOR_GOOD, "memory can be shared with processes");
}

/* Whether code that may only be read can be written by way of /proc, as hooks need it. */
static bool can_force_write(void)
{
    size_t page = memory_page_size();
    uint8_t *place = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    bool is_written = false;

    if (place != MAP_FAILED && fd != -1)
        is_written = pwrite(fd, "x", 1, (off_t)(uintptr_t)place) == 1 && place[0] == 'x';
    if (fd != -1)
        close(fd);
    if (place != MAP_FAILED)
        munmap(place, page);
    return is_written;
}

static void look_at_code(struct doctor_finding *finding)
{
    size_t page = memory_page_size();
    void *place = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool can_execute = place != MAP_FAILED && mprotect(place, page, PROT_READ | PROT_EXEC) == 0;

    if (place != MAP_FAILED)
        munmap(place, page);
    if (!can_execute) {
        find(finding, DOCTOR_MISSING, "memory that was written cannot be made executable");
        advise(finding, "a security module (SELinux execmem, systemd MemoryDenyWriteExecute) forbids it");
    } else if (!can_force_write()) {
        find(finding, DOCTOR_LIMITED, "code can be followed, but not hooked: /proc/self/mem does not write");
        advise(finding, "the kernel's proc_mem.force_override keeps it from that; --follow works");
    } else {
        find(finding, DOCTOR_GOOD, "code can be hooked and followed");
    }
}

static void look_at_limits(struct doctor_finding *finding)
{
    struct rlimit addresses = {RLIM_INFINITY, 0}, files = {RLIM_INFINITY, 0};

    (void)getrlimit(RLIMIT_AS, &addresses);
    (void)getrlimit(RLIMIT_FSIZE, &files);
    if (addresses.rlim_cur < NEEDED_ADDRESSES) {
        find(finding, DOCTOR_MISSING, "%llu MiB of address space are too few",
             (unsigned long long)addresses.rlim_cur >> 20);
        advise(finding, "ulimit -v unlimited");
    } else if (files.rlim_cur != RLIM_INFINITY) {
        find(finding, DOCTOR_LIMITED, "files may not become larger than %llu MiB, rings in memory neither",
             (unsigned long long)files.rlim_cur >> 20);
        advise(finding, "ulimit -f unlimited");
    } else {
        find(finding, DOCTOR_GOOD, "neither memory nor files are limited");
    }
}

static void look_at_clock(struct doctor_finding *finding)
{
    char source[64] = "";

    if (!read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof(source)))
        find(finding, DOCTOR_LIMITED, "the kernel does not say which clock it uses; times are as good as the CPU's");
    else if (strcmp(source, "tsc") == 0 || strcmp(source, "kvm-clock") == 0 || strcmp(source, "arch_sys_counter") == 0)
        find(finding, DOCTOR_GOOD, "the CPU's counter is steady: the kernel uses it (%s)", source);
    else {
        find(finding, DOCTOR_LIMITED, "the kernel does not trust the CPU's counter (it uses %s): times may jump",
             source);
        advise(finding, "look into the kernel's messages for why (tsc: Marking TSC unstable)");
    }
}

static void look_at_barriers(struct doctor_finding *finding)
{
    long supported = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

    if (supported >= 0 && supported & MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE)
        find(finding, DOCTOR_GOOD, "the kernel makes all CPUs see changed code");
    else
        find(finding, DOCTOR_LIMITED, "no membarrier for changed code: threads are stopped instead");
}

static void look_at_disk(struct doctor_finding *finding)
{
    struct statvfs status;
    unsigned long long free_bytes;

    if (statvfs(".", &status) != 0) {
        find(finding, DOCTOR_MISSING, "the current folder cannot be looked at: %s", strerror(errno));
        return;
    }
    free_bytes = (unsigned long long)status.f_bavail * status.f_frsize;
    if (access(".", W_OK) != 0) {
        find(finding, DOCTOR_LIMITED, "nothing can be written into the current folder");
        advise(finding, "--output DIR puts traces elsewhere");
    } else if (free_bytes < NEEDED_DISK) {
        find(finding, DOCTOR_LIMITED, "%llu MiB are free in the current folder", free_bytes >> 20);
        advise(finding, "--output DIR puts traces elsewhere; --flight and --rotate with --keep need little");
    } else {
        find(finding, DOCTOR_GOOD, "%llu GiB are free in the current folder", free_bytes >> 30);
    }
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void look_at_debug_files(struct doctor_finding *finding)
{
    const char *servers = getenv("DEBUGINFOD_URLS");

    if (access("/usr/lib/debug/.build-id", R_OK) == 0)
        find(finding, DOCTOR_GOOD, "debug information of packages is in /usr/lib/debug");
    else if (servers != NULL && servers[0] != '\0')
        find(finding, DOCTOR_GOOD, "debug information is fetched from DEBUGINFOD_URLS");
    else {
        find(finding, DOCTOR_LIMITED, "no debug information of packages: their functions have no lines");
        advise(finding, "install -dbgsym packages, or set DEBUGINFOD_URLS; programs built with -g have their own");
    }
}

/* ---- the kernel's events ----------------------------------------------------------------------------------------- */

static bool can_count(uint32_t type, uint64_t config)
{
    struct perf_event_attr wanted = {.size = sizeof(wanted), .type = type, .config = config, .exclude_kernel = 1};
    long fd = syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

    if (fd >= 0)
        close((int)fd);
    return fd >= 0;
}

void doctor_judge_paranoia(long perf_paranoid, bool is_privileged, struct doctor_finding *finding)
{
    if (perf_paranoid < 0)
        find(finding, DOCTOR_GOOD, "all events, of the kernel too");
    else if (is_privileged || perf_paranoid == 0)
        find(finding, DOCTOR_GOOD, "events of the whole system%s", is_privileged ? ", as root" : "");
    else {
        find(finding, DOCTOR_LIMITED, "events of own processes only%s (perf_event_paranoid %ld)",
             perf_paranoid >= 2 ? ", without the kernel" : "", perf_paranoid);
        advise(finding, "sysctl kernel.perf_event_paranoid=-1 as root");
    }
}

static void look_at_perf(struct doctor_finding *finding)
{
    if (!can_count(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK)) {
        find(finding, DOCTOR_MISSING, "perf_event_open: %s", strerror(errno));
        advise(finding, "sysctl kernel.perf_event_paranoid=2 or less as root; in a container --cap-add PERFMON");
        return;
    }
    doctor_judge_paranoia(doctor_read_number("/proc/sys/kernel/perf_event_paranoid"), is_root(), finding);
}

static void look_at_counters(struct doctor_finding *finding)
{
    if (can_count(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS))
        find(finding, DOCTOR_GOOD, "instructions and cycles are counted by the CPU");
    else
        find(finding, DOCTOR_LIMITED, "the CPU counts no instructions here: %s", strerror(errno));
}

static void look_at_tracefs(struct doctor_finding *finding)
{
    if (access("/sys/kernel/tracing/events", R_OK | X_OK) == 0 ||
        access("/sys/kernel/debug/tracing/events", R_OK | X_OK) == 0)
        find(finding, DOCTOR_GOOD, "tracepoints and probes can be listed");
    else if (access("/sys/kernel/tracing", F_OK) != 0)
        find(finding, DOCTOR_MISSING, "the kernel was built without tracing");
    else {
        find(finding, is_root() ? DOCTOR_GOOD : DOCTOR_MISSING,
             is_root() ? "not mounted; gait mounts it for itself alone" : "tracefs cannot be read");
        if (!is_root())
            advise(finding, "as root: mount -t tracefs tracefs /sys/kernel/tracing");
    }
}

static void look_at_bpf(struct doctor_finding *finding)
{
    long disabled = doctor_read_number("/proc/sys/kernel/unprivileged_bpf_disabled");
    bool has_types = access("/sys/kernel/btf/vmlinux", R_OK) == 0;

    if (disabled < 0 && !has_types)
        find(finding, DOCTOR_MISSING, "the kernel has no BPF, or does not show it");
    else if (!is_root()) {
        find(finding, DOCTOR_MISSING, "BPF needs privileges");
        advise(finding, "as root, or with the capabilities BPF and PERFMON");
    } else if (!has_types)
        find(finding, DOCTOR_LIMITED, "the kernel does not describe its types (no /sys/kernel/btf/vmlinux)");
    else
        find(finding, DOCTOR_GOOD, "programs can be loaded, and types are known");
}

static void look_at_lockdown(struct doctor_finding *finding)
{
    char line[128];

    if (!read_line("/sys/kernel/security/lockdown", line, sizeof(line)) || strstr(line, "[none]") != NULL)
        find(finding, DOCTOR_GOOD, "the kernel keeps nothing from root");
    else {
        find(finding, DOCTOR_LIMITED, "lockdown is on (%s): probes in the kernel may be refused", line);
        advise(finding, "it belongs to Secure Boot; processes are recorded all the same");
    }
}

/* ---- sources of events ------------------------------------------------------------------------------------------- */

/* The reason and what to do are one sentence; what to do stands behind the last semicolon. */
static void look_at_source(struct doctor_finding *finding, const struct source *source)
{
    struct gait_error err = {.code = 0};
    char *mark;

    if (source->check(&err) == 0) {
        find(finding, DOCTOR_GOOD, "%s", source->purpose);
        return;
    }
    mark = strrchr(err.text, ';');
    if (mark != NULL)
        *mark = '\0';
    find(finding, DOCTOR_MISSING, "%s", err.text);
    if (mark != NULL)
        advise(finding, "%s", mark + 1 + (mark[1] == ' '));
}

#define SOURCE(name)                                                                                                   \
    extern const struct source source_##name;                                                                          \
    static void look_at_##name(struct doctor_finding *finding)                                                         \
    {                                                                                                                  \
        look_at_source(finding, &source_##name);                                                                       \
    }
#include "kernel/source.h"
#include "kernel/sources.def"
#undef SOURCE

static const struct doctor_check checks[] = {
    {"tracing", "spawn, attach", true, look_at_tracing},
    {"shared memory", "recording", true, look_at_memory_file},
    {"code", "hooks, following", true, look_at_code},
    {"limits", "recording", true, look_at_limits},
    {"clock", "times", false, look_at_clock},
    {"barriers", "hooks while threads run", false, look_at_barriers},
    {"disk", "traces", false, look_at_disk},
    {"debug files", "lines, arguments", false, look_at_debug_files},
    {"perf", "events of the kernel", false, look_at_perf},
    {"counters", "events of the CPU", false, look_at_counters},
    {"tracefs", "tracepoints", false, look_at_tracefs},
    {"BPF", "filters in the kernel", false, look_at_bpf},
    {"lockdown", "probes in the kernel", false, look_at_lockdown},
#define SOURCE(name) {#name, "gait probe, --probe", false, look_at_##name},
#include "kernel/sources.def"
#undef SOURCE
};

const struct doctor_check *doctor_check_at(size_t which)
{
    return which < sizeof(checks) / sizeof(checks[0]) ? &checks[which] : NULL;
}
