/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support/control_server.h"

#include "record/control.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static bool has_process(void *context, pid_t pid)
{
    return ((struct control_server *)context)->recorded == pid;
}

static void read_stats(void *context, struct control_stats *stats_out)
{
    struct control_server *server = context;

    *stats_out = (struct control_stats){
        .duration_ns = 500000000,
        .written_bytes = 3u << 20,
        .lost_bytes = 17,
        .buffered_bytes = 1u << 20,
        .buffer_bytes = 4u << 20,
        .record_count = 3000000,
        .file_bytes = 2u << 20,
        .wait_count = 3,
        .waited_ns = 1250000000,
        .process_count = 1,
        .thread_count = 5,
        .lane_counts = {1, 2, 3, 4},
        .lane_count = 2,
        .lanes =
            {
                {.pid = 7,
                 .tid = 8,
                 .state = CONTROL_LANE_DROPPING,
                 .drop_reason = 1,
                 .full_percent = 100,
                 .drop_count = 2,
                 .lost_bytes = 17,
                 .name = "work\033er"},
                {.pid = 7,
                 .tid = 9,
                 .is_detail = 1,
                 .state = CONTROL_LANE_WAITING,
                 .full_percent = 75,
                 .wait_count = 3,
                 .waited_ns = 1250000000,
                 .name = "sixteen letters!"},
            },
        .counter_count = 2,
        .counters = {{12, "blocks_linked"}, {UINT64_MAX, "of_\033later"}},
    };
    server->asked_count++;
    stats_out->duration_ns += server->asked_count * 500000000ull;
    stats_out->record_count += server->asked_count * 1000;
}

static void trigger(void *context, const char *note)
{
    struct control_server *server = context;

    server->triggers++;
    snprintf(server->note, sizeof(server->note), "%s", note);
}

static void detach(void *context)
{
    ((struct control_server *)context)->is_detached = true;
}

static void serve(struct control_server *server, int ready)
{
    const struct control_handlers handlers = {server, has_process, read_stats, "/traces/one\033x", trigger, detach};
    struct control *control;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (control_open(&handlers, &control) != 0)
        _exit(1);
    if (write(ready, "", 1) != 1)
        _exit(1);
    while (!server->is_detached) {
        struct pollfd waited = {.fd = control_fd(control), .events = POLLIN};

        poll(&waited, 1, -1);
        control_serve(control);
    }
    control_close(control, server->end_result, "a thread is where it cannot leave");
    _exit(0);
}

struct control_server *control_server_start(pid_t recorded, int end_result)
{
    struct control_server *server =
        mmap(NULL, sizeof(*server), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int ready[2];
    pid_t child;
    char byte;

    if (server == MAP_FAILED || pipe(ready) != 0)
        exit(1);
    server->recorded = recorded;
    server->end_result = end_result;
    child = fork();
    if (child == 0)
        serve(server, ready[1]);
    /* By us alone: it is shared. */
    server->pid = child;
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1) {
        printf("no control server\n");
        exit(1);
    }
    close(ready[0]);
    return server;
}

void control_server_stop(struct control_server *server)
{
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    munmap(server, sizeof(*server));
}
