/* SPDX-License-Identifier: MIT */
/*
 * The object has a program for each form, of which one is loaded, with its config as a constant. All of one set use the
 * maps of the first.
 */
#define _GNU_SOURCE
#include "kernel/kernel_program.h"

#include "hosted/error_text.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In kernel_program_object.S. */
extern const uint8_t kernel_program_object[], kernel_program_object_end[];

struct kernel_program {
    struct kernel_program *next;
    enum kernel_program_form form;
    char *target;
    struct bpf_object *object;
    struct bpf_program *program;
    uint32_t source;    /* its number */
    uint32_t few_count; /* of the array that it counts in; 0: it has none */
    bool has_buckets;   /* whose entries are sizes, not keys */
    struct bpf_link *link;
    struct bpf_link *forks;
};

static const char *const names[] = {
    [KERNEL_PROGRAM_PROBE] = "on_probe",     [KERNEL_PROGRAM_TRACEPOINT] = "on_tracepoint",
    [KERNEL_PROGRAM_COUNTER] = "on_counter", [KERNEL_PROGRAM_RAW_TRACEPOINT] = "on_raw_tracepoint",
    [KERNEL_PROGRAM_ENTRY] = "on_entry",     [KERNEL_PROGRAM_EXIT] = "on_exit",
};

/* What the kernel's verifier says last: why it refused. */
static char last_words[256];

static int note(enum libbpf_print_level level, const char *format, va_list arguments)
{
    if (level == LIBBPF_WARN)
        vsnprintf(last_words, sizeof(last_words), format, arguments);
    last_words[strcspn(last_words, "\n")] = '\0';
    return 0;
}

static int explain(const char *what, int code, struct gait_error *err)
{
    if (code == -EPERM && geteuid() == 0)
        return error_set(err, code,
                         "cannot load a program for %s into the kernel: it permits that to no user, not even root; try "
                         "another kind of probe",
                         what);
    if ((code == -EPERM || code == -EACCES) && geteuid() != 0)
        return error_set(err, code,
                         "cannot load a program for %s into the kernel: this user may not; try as root, or with the "
                         "capabilities BPF and PERFMON",
                         what);
    return error_set(err, code, "cannot load a program for %s into the kernel: %s%s%s", what, strerror(-code),
                     last_words[0] == '\0' ? "" : ": ", last_words);
}

void kernel_programs_init(struct kernel_programs *programs, pid_t pid)
{
    *programs = (struct kernel_programs){.pid = pid};
}

static void destroy(struct kernel_program *program)
{
    bpf_link__destroy(program->link);
    bpf_link__destroy(program->forks);
    bpf_object__close(program->object);
    free(program->target);
    free(program);
}

void kernel_programs_deinit(struct kernel_programs *programs)
{
    while (programs->first != NULL) {
        struct kernel_program *program = programs->first;

        programs->first = program->next;
        destroy(program);
    }
}

enum kernel_program_form kernel_program_form_of(enum probe_kind kind)
{
    switch (kind) {
    case PROBE_TRACEPOINT:
        return KERNEL_PROGRAM_TRACEPOINT;
    case PROBE_RAWTRACEPOINT:
        return KERNEL_PROGRAM_RAW_TRACEPOINT;
    case PROBE_FENTRY:
        return KERNEL_PROGRAM_ENTRY;
    case PROBE_FEXIT:
        return KERNEL_PROGRAM_EXIT;
    case PROBE_SOFTWARE:
    case PROBE_HARDWARE:
    case PROBE_PROFILE:
        return KERNEL_PROGRAM_COUNTER;
    default:
        return KERNEL_PROGRAM_PROBE;
    }
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

/* Its maps are those of the first one, but for what is its own. */
static int share_maps(const struct kernel_programs *programs, struct kernel_program *program)
{
    static const char *const shared[] = {"processes", "counts", "left_out"};
    const struct kernel_program *other = programs->first;
    int result = 0;

    for (size_t i = 0; other != NULL && i < sizeof(shared) / sizeof(shared[0]) && result == 0; i++)
        result = bpf_map__reuse_fd(bpf_object__find_map_by_name(program->object, shared[i]),
                                   bpf_object__find_map_fd_by_name(other->object, shared[i]));
    return result;
}

static int set_config(struct kernel_program *program, const struct program_config *config)
{
    struct bpf_map *map;

    bpf_object__for_each_map(map, program->object) if (strstr(bpf_map__name(map), ".rodata") !=
                                                       NULL) return bpf_map__set_initial_value(map, config,
                                                                                               sizeof(*config));
    return -ENOENT;
}

/* How many entries the array for counts has: 0 if what is counted by are not few numbers. */
static uint32_t few_count_of(const struct program_config *config)
{
    bool has_key = config->key.place != PROGRAM_NOTHING;

    if (config->action != PROGRAM_COUNTS || config->key.type == PROGRAM_CHARACTERS)
        return 0;
    if (config->has_measure)
        return has_key ? 0 : PROGRAM_BUCKETS;
    return has_key ? PROGRAM_FEW_MAX : 1;
}

static int set_few_counts(struct kernel_program *program, const struct program_config *config)
{
    struct bpf_map *map = bpf_object__find_map_by_name(program->object, "few_counts");

    program->source = config->source;
    program->few_count = config->few_count;
    program->has_buckets = config->has_measure != 0;
    return bpf_map__set_max_entries(map, config->few_count == 0 ? 1 : config->few_count);
}

/* Of each object all but what is wanted stays out; the first of a set watches for children. */
static int choose(const struct kernel_programs *programs, struct kernel_program *program)
{
    bool needs_forks = programs->pid != 0 && programs->first == NULL;
    struct bpf_program *each;
    int result = 0;

    bpf_object__for_each_program(each, program->object)
    {
        const char *name = bpf_program__name(each);
        bool is_wanted = strcmp(name, names[program->form]) == 0;

        if (is_wanted)
            program->program = each;
        bpf_program__set_autoload(each, is_wanted || (needs_forks && strcmp(name, "on_fork") == 0));
    }
    if (program->program == NULL)
        return -ENOENT;
    if (program->form == KERNEL_PROGRAM_ENTRY || program->form == KERNEL_PROGRAM_EXIT)
        result = bpf_program__set_attach_target(program->program, 0, program->target);
    return result;
}

static int add_process(const struct kernel_programs *programs, struct kernel_program *program)
{
    uint32_t pid = (uint32_t)programs->pid, one = 1;
    int map = bpf_object__find_map_fd_by_name(program->object, "processes");
    struct bpf_program *forks = bpf_object__find_program_by_name(program->object, "on_fork");

    if (programs->pid == 0 || programs->first != NULL)
        return 0;
    program->forks = bpf_program__attach_raw_tracepoint(forks, "sched_process_fork");
    if (program->forks == NULL)
        return -errno;
    return bpf_map_update_elem(map, &pid, &one, BPF_ANY) != 0 ? -errno : 0;
}

static int load(struct kernel_programs *programs, struct kernel_program *program, const struct program_config *config)
{
    LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "gait");
    int result;

    program->object = bpf_object__open_mem(kernel_program_object,
                                           (size_t)(kernel_program_object_end - kernel_program_object), &options);
    if (program->object == NULL)
        return -errno;
    result = set_config(program, config);
    if (result == 0)
        result = set_few_counts(program, config);
    if (result == 0)
        result = choose(programs, program);
    if (result == 0)
        result = share_maps(programs, program);
    if (result == 0)
        result = bpf_object__load(program->object);
    return result == 0 ? add_process(programs, program) : result;
}

int kernel_programs_load(struct kernel_programs *programs, enum kernel_program_form form, const char *target,
                         struct program_config *config, struct kernel_program **program_out, struct gait_error *err)
{
    struct kernel_program *program = calloc(1, sizeof(*program));
    int result;

    last_words[0] = '\0';
    libbpf_set_print(note);
    if (program == NULL)
        return error_set(err, ENOMEM, "cannot load a program into the kernel: there is no memory");
    config->by_process = programs->pid != 0;
    config->pid = (unsigned)programs->pid;
    config->few_count = few_count_of(config);
    program->form = form;
    program->target = strdup(target == NULL ? "" : target);
    result = program->target == NULL ? -ENOMEM : load(programs, program, config);
    if (result != 0) {
        destroy(program);
        return explain(target == NULL ? "this" : target, result, err);
    }
    program->next = programs->first;
    programs->first = program;
    *program_out = program;
    return 0;
}

int kernel_program_check(struct gait_error *err)
{
    static bool is_good;
    struct program_config config = {.action = PROGRAM_PASSES};
    struct kernel_programs programs;
    struct kernel_program *program;
    int result;

    if (is_good)
        return 0;
    kernel_programs_init(&programs, 0);
    result = kernel_programs_load(&programs, KERNEL_PROGRAM_TRACEPOINT, NULL, &config, &program, err);
    kernel_programs_deinit(&programs);
    is_good = result == 0;
    return result;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

int kernel_program_descriptor(const struct kernel_program *program)
{
    return bpf_program__fd(program->program);
}

int kernel_program_set_output(struct kernel_program *program, uint32_t cpu, int descriptor)
{
    int map = bpf_object__find_map_fd_by_name(program->object, "events");

    return bpf_map_update_elem(map, &cpu, &descriptor, BPF_ANY) != 0 ? -errno : 0;
}

static int start(struct kernel_program *program, struct gait_error *err)
{
    if (program->form == KERNEL_PROGRAM_RAW_TRACEPOINT)
        program->link = bpf_program__attach_raw_tracepoint(program->program, program->target);
    else if (program->form == KERNEL_PROGRAM_ENTRY || program->form == KERNEL_PROGRAM_EXIT)
        program->link = bpf_program__attach_trace(program->program);
    else
        return 0;
    return program->link == NULL ? explain(program->target, -errno, err) : 0;
}

int kernel_programs_start(struct kernel_programs *programs, struct gait_error *err)
{
    int result = 0;

    for (struct kernel_program *program = programs->first; program != NULL && result == 0; program = program->next)
        result = start(program, err);
    return result;
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

static uint64_t sum(const uint64_t *values, int count)
{
    uint64_t total = 0;

    for (int i = 0; i < count; i++)
        total += values[i];
    return total;
}

typedef void count_visit(void *context, const struct program_key *key, uint64_t count);

static void visit_counts(int map, uint64_t *values, int cpus, count_visit *visit, void *context)
{
    struct program_key key, *last = NULL;

    while (bpf_map_get_next_key(map, last, &key) == 0) {
        if (bpf_map_lookup_elem(map, &key, values) == 0)
            visit(context, &key, sum(values, cpus));
        last = &key;
    }
}

/* Those that are not 0, with the keys that they would have had. */
static void visit_few_counts(const struct kernel_program *program, uint64_t *values, int cpus, count_visit *visit,
                             void *context)
{
    int map = bpf_object__find_map_fd_by_name(program->object, "few_counts");

    for (uint32_t i = 0; i < program->few_count; i++) {
        struct program_key key = {.source = program->source, .bucket = program->has_buckets ? i : 0};
        uint64_t total = bpf_map_lookup_elem(map, &i, values) == 0 ? sum(values, cpus) : 0;

        if (!program->has_buckets)
            memcpy(key.key, &i, sizeof(i));
        if (total != 0)
            visit(context, &key, total);
    }
}

int kernel_programs_counts(const struct kernel_programs *programs,
                           void (*visit)(void *context, const struct program_key *key, uint64_t count), void *context)
{
    int cpus = libbpf_num_possible_cpus();
    uint64_t *values;

    if (programs->first == NULL || cpus <= 0)
        return 0;
    values = calloc((size_t)cpus, sizeof(*values));
    if (values == NULL)
        return -ENOMEM;
    visit_counts(bpf_object__find_map_fd_by_name(programs->first->object, "counts"), values, cpus, visit, context);
    for (const struct kernel_program *program = programs->first; program != NULL; program = program->next)
        visit_few_counts(program, values, cpus, visit, context);
    free(values);
    return 0;
}

uint64_t kernel_programs_left_out(const struct kernel_programs *programs)
{
    int cpus = libbpf_num_possible_cpus(), map;
    uint64_t *values = cpus <= 0 ? NULL : calloc((size_t)cpus, sizeof(*values)), total = 0;
    uint32_t zero = 0;

    if (programs->first != NULL && values != NULL) {
        map = bpf_object__find_map_fd_by_name(programs->first->object, "left_out");
        if (bpf_map_lookup_elem(map, &zero, values) == 0)
            total = sum(values, cpus);
    }
    free(values);
    return total;
}
