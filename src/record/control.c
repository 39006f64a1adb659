/* SPDX-License-Identifier: MIT */
/*
 * One epoll descriptor stands for the listening socket and all that were accepted. A connection asks once; it is closed
 * with the answer, unless there will be another one. Who connects and asks nothing has its place taken by the next,
 * when all places are taken.
 */
#define _GNU_SOURCE
#include "record/control.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CONNECTIONS_MAX 16u
#define NAMES_TRIED     8u

struct connection {
    int fd;        /* -1: the place is free */
    bool is_asked; /* it waits for the end */
};

struct control {
    struct control_handlers handlers;
    int listening;
    int ready; /* epoll */
    unsigned next_place;
    struct connection connections[CONNECTIONS_MAX];
};

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

/* Somebody may have taken the name to keep us from it. */
static int take_name(int fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char name[64];

    for (unsigned i = 0; i < NAMES_TRIED; i++) {
        int length = snprintf(name, sizeof(name), i == 0 ? CONTROL_NAME "%d" : CONTROL_NAME "%d-%u", (int)getpid(), i);

        memcpy(address.sun_path + 1, name, (size_t)length);
        if (bind(fd, (const struct sockaddr *)&address,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) == 0)
            return 0;
        if (errno != EADDRINUSE)
            break;
    }
    return -errno;
}

static int watch(const struct control *control, int fd, unsigned place)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = place};

    return epoll_ctl(control->ready, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

static int begin(struct control *control)
{
    int result;

    control->ready = epoll_create1(EPOLL_CLOEXEC);
    control->listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (control->ready == -1 || control->listening == -1)
        return -errno;
    result = take_name(control->listening);
    if (result == 0 && listen(control->listening, (int)CONNECTIONS_MAX) != 0)
        result = -errno;
    return result == 0 ? watch(control, control->listening, CONNECTIONS_MAX) : result;
}

static void give_back(struct control *control)
{
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++)
        if (control->connections[i].fd != -1)
            close(control->connections[i].fd);
    if (control->listening != -1)
        close(control->listening);
    if (control->ready != -1)
        close(control->ready);
    free(control);
}

int control_open(const struct control_handlers *handlers, struct control **control_out)
{
    struct control *control = calloc(1, sizeof(*control));
    int result;

    if (control == NULL)
        return -ENOMEM;
    control->handlers = *handlers;
    control->listening = control->ready = -1;
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++)
        control->connections[i].fd = -1;
    result = begin(control);
    if (result != 0) {
        give_back(control);
        return result;
    }
    *control_out = control;
    return 0;
}

int control_fd(const struct control *control)
{
    return control->ready;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static void set_text(struct control_answer *answer, const char *text)
{
    answer->text_bytes = (uint32_t)strnlen(text, sizeof(answer->text));
    memcpy(answer->text, text, answer->text_bytes);
}

static void hang_up(struct connection *connection)
{
    close(connection->fd);
    *connection = (struct connection){.fd = -1};
}

/* There is room for an answer in any socket; who has closed his gets none. */
static void send_answer(struct connection *connection, const struct control_answer *answer)
{
    bool is_sent = send(connection->fd, answer, sizeof(*answer), MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(*answer);

    if (answer->is_last || !is_sent)
        hang_up(connection);
}

static bool is_allowed(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == 0 || peer.uid == geteuid());
}

/* Whoever is of another version can be told at least that it is not about us. */
static bool is_for_others(const struct control *control, const struct control_request *request, ssize_t size)
{
    const ssize_t needed = offsetof(struct control_request, pid) + sizeof(request->pid);

    return size >= needed && request->magic == CONTROL_MAGIC &&
           !control->handlers.has_process(control->handlers.context, request->pid);
}

static bool is_whole(const struct control_request *request, ssize_t size)
{
    return size == sizeof(*request) && request->magic == CONTROL_MAGIC && request->version == CONTROL_VERSION &&
           request->note_bytes <= sizeof(request->note);
}

static int do_trigger(const struct control *control, const struct control_request *request)
{
    char note[CONTROL_NOTE_BYTES + 1];

    memcpy(note, request->note, request->note_bytes);
    note[request->note_bytes] = '\0';
    control->handlers.trigger(control->handlers.context, note);
    return 0;
}

static int do_request(const struct control *control, int fd, const struct control_request *request,
                      struct control_answer *answer)
{
    const struct control_handlers *handlers = &control->handlers;

    if (!is_allowed(fd))
        return -EPERM;
    handlers->read_stats(handlers->context, &answer->stats);
    set_text(answer, handlers->path);
    switch ((enum control_operation)request->operation) {
    case CONTROL_STATS:
        return 0;
    case CONTROL_TRIGGER:
        return do_trigger(control, request);
    case CONTROL_DETACH:
        answer->is_last = 0;
        handlers->detach(handlers->context);
        return 0;
    }
    return -EOPNOTSUPP;
}

static void answer_request(const struct control *control, struct connection *connection)
{
    struct control_answer answer = {.magic = CONTROL_MAGIC, .version = CONTROL_VERSION, .is_last = 1};
    struct control_request request;
    ssize_t size = recv(connection->fd, &request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);

    if (size <= 0 || connection->is_asked) {
        if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR) || connection->is_asked)
            hang_up(connection);
        return;
    }
    if (is_for_others(control, &request, size))
        answer.result = -ESRCH;
    else
        answer.result = is_whole(&request, size) ? do_request(control, connection->fd, &request, &answer) : -EPROTO;
    connection->is_asked = !answer.is_last;
    send_answer(connection, &answer);
}

/* ---- connections ------------------------------------------------------------------------------------------------- */

static void take_connection(struct control *control, int fd)
{
    unsigned place = control->next_place;

    for (unsigned i = 0; i < CONNECTIONS_MAX; i++)
        if (control->connections[i].fd == -1)
            place = i;
    if (control->connections[place].fd != -1)
        hang_up(&control->connections[place]);
    control->next_place = (place + 1) % CONNECTIONS_MAX;
    control->connections[place].fd = fd;
    if (watch(control, fd, place) != 0)
        hang_up(&control->connections[place]);
}

static void accept_all(struct control *control)
{
    int fd;

    while ((fd = accept4(control->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) != -1)
        take_connection(control, fd);
}

void control_serve(struct control *control)
{
    struct epoll_event events[CONNECTIONS_MAX + 1];
    int count = epoll_wait(control->ready, events, CONNECTIONS_MAX + 1, 0);

    for (int i = 0; i < count; i++) {
        unsigned place = events[i].data.u32;

        if (place == CONNECTIONS_MAX)
            accept_all(control);
        else if (control->connections[place].fd != -1)
            answer_request(control, &control->connections[place]);
    }
}

void control_close(struct control *control, int result, const char *text)
{
    struct control_answer answer = {.magic = CONTROL_MAGIC, .version = CONTROL_VERSION, .result = result, .is_last = 1};

    if (control == NULL)
        return;
    control->handlers.read_stats(control->handlers.context, &answer.stats);
    set_text(&answer, result == 0 ? control->handlers.path : text);
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++)
        if (control->connections[i].fd != -1 && control->connections[i].is_asked)
            send_answer(&control->connections[i], &answer);
    give_back(control);
}
