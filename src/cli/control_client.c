/* SPDX-License-Identifier: MIT */
/*
 * Recordings listen on abstract sockets, which /proc/net/unix lists; each is asked whether it has the process. A socket
 * of that name may be any user's: the listener must be the same user, or root, unless we are root ourselves.
 */
#define _GNU_SOURCE
#include "cli/control_client.h"

#include "cli/screens/printable.h"
#include "hosted/error_text.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_SECONDS 5
/* Of somebody whom we would not believe much. */
#define STRANGER_MILLISECONDS 300
/* What the list says of sockets that accept connections. */
#define LISTENS 0x10000u
/* As long as leaving a process may take, and some more. */
#define END_SECONDS 20

/* ---- one recording ----------------------------------------------------------------------------------------------- */

static int connect_to(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strnlen(name, sizeof(address.sun_path) - 1);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (fd == -1)
        return -1;
    memcpy(address.sun_path + 1, name, length);
    if (connect(fd, (const struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) == 0)
        return fd;
    close(fd);
    return -1;
}

static void set_timeout(int fd, unsigned milliseconds)
{
    struct timeval timeout = {milliseconds / 1000, (suseconds_t)(milliseconds % 1000) * 1000};

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
}

static bool is_trusted(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (geteuid() == 0 || peer.uid == 0 || peer.uid == geteuid());
}

/* 0; -ETIMEDOUT: nothing comes; -ECONNRESET: nobody is there any more; -EPROTO: something else than an answer. */
static int receive(int fd, struct control_answer *answer)
{
    ssize_t size;

    do
        size = recv(fd, answer, sizeof(*answer), 0);
    while (size == -1 && errno == EINTR);
    if (size == -1 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return -ETIMEDOUT;
    if (size <= 0)
        return -ECONNRESET;
    /* That is all that one of another version can say. */
    if (size >= (ssize_t)offsetof(struct control_answer, stats) && answer->magic == CONTROL_MAGIC &&
        answer->result == -ESRCH) {
        answer->is_last = 1;
        answer->text_bytes = 0;
        return 0;
    }
    if (size != sizeof(*answer) || answer->magic != CONTROL_MAGIC || answer->version != CONTROL_VERSION ||
        answer->text_bytes > sizeof(answer->text))
        return -EPROTO;
    return 0;
}

/* The first answer, and the last if that is another one. */
static int talk(int fd, const struct control_request *request, struct control_answer *answer)
{
    int result;

    if (send(fd, request, sizeof(*request), MSG_NOSIGNAL) != sizeof(*request))
        return errno == EAGAIN ? -ETIMEDOUT : -ESRCH;
    result = receive(fd, answer);
    /* It ended right now. */
    if (result == -ECONNRESET)
        return -ESRCH;
    if (result != 0 || answer->result != 0 || answer->is_last)
        return result;
    set_timeout(fd, END_SECONDS * 1000);
    return receive(fd, answer);
}

/* -ESRCH: it is not the recording of that process, or none at all. */
static int ask_one(const char *name, const struct control_request *request, struct control_answer *answer)
{
    int fd = connect_to(name), result;
    bool is_stranger;

    if (fd == -1)
        return -ESRCH;
    is_stranger = !is_trusted(fd);
    set_timeout(fd, is_stranger ? STRANGER_MILLISECONDS : ANSWER_SECONDS * 1000);
    result = talk(fd, request, answer);
    close(fd);
    if (result == 0)
        result = answer->result;
    return is_stranger && result != -EPERM ? -ESRCH : result;
}

/* ---- all recordings ---------------------------------------------------------------------------------------------- */

/* The name in a line of the list, if it is a recording's and somebody listens; the line ends there. */
static const char *name_in(char *line)
{
    char *name = strstr(line, "@" CONTROL_NAME);
    unsigned flags;

    if (name == NULL || sscanf(line, "%*s %*s %*s %x", &flags) != 1 || !(flags & LISTENS))
        return NULL;
    name[strcspn(name, " \n")] = '\0';
    return name + 1;
}

/* How much an answer says: the recording's own most, then that it is somebody else's, then that one does not answer. */
static unsigned rank_of(int result)
{
    return result == -ESRCH ? 0 : result == -ETIMEDOUT || result == -EPROTO ? 1 : result == -EPERM ? 2 : 3;
}

static int ask_all(const struct control_request *request, struct control_answer *answer_out)
{
    FILE *list = fopen("/proc/net/unix", "re");
    static struct control_answer answer; /* large */
    char line[512];
    int best = -ESRCH;

    if (list == NULL)
        return -ESRCH;
    while (rank_of(best) < 3 && fgets(line, sizeof(line), list) != NULL) {
        const char *name = name_in(line);
        int result;

        if (name == NULL)
            continue;
        result = ask_one(name, request, &answer);
        if (rank_of(result) > rank_of(best)) {
            best = result;
            *answer_out = answer;
        }
    }
    fclose(list);
    return best;
}

static int explain(pid_t pid, int result, const struct control_answer *answer, struct gait_error *err)
{
    char text[CONTROL_TEXT_BYTES + 1], shown[256];

    switch (result) {
    case -ESRCH:
        if (kill(pid, 0) != 0 && errno == ESRCH)
            return error_set(err, ESRCH, "there is no process %d", (int)pid);
        return error_set(err, ENOENT, "process %d is not being recorded; gait attach %d would begin to", (int)pid,
                         (int)pid);
    case -EPERM:
        return error_set(err, EPERM,
                         "cannot reach the recording of process %d: it is another user's; try as that user, or as root",
                         (int)pid);
    case -ETIMEDOUT:
    case -EPROTO:
        return error_set(err, -result,
                         "a recording does not answer, perhaps that of process %d; is its gait stopped, or of another "
                         "version?",
                         (int)pid);
    case -ECONNRESET:
        return error_set(
            err, -result,
            "the recorder of process %d ended without an answer; hooks or the agent may be left in the process",
            (int)pid);
    default:
        memcpy(text, answer->text, answer->text_bytes);
        text[answer->text_bytes] = '\0';
        return error_set(err, result, "the recorder of process %d reports: %s", (int)pid,
                         answer->text_bytes == 0 ? strerror(-result) : printable(shown, sizeof(shown), text));
    }
}

int control_client_ask(const struct control_question *question, struct control_answer *answer_out,
                       struct gait_error *err)
{
    struct control_request request = {
        .magic = CONTROL_MAGIC,
        .version = CONTROL_VERSION,
        .operation = question->operation,
        .pid = question->pid,
    };
    static struct control_answer answer; /* large */
    int result;

    memset(&answer, 0, sizeof(answer));
    if (question->note != NULL) {
        request.note_bytes = (uint32_t)strnlen(question->note, sizeof(request.note));
        memcpy(request.note, question->note, request.note_bytes);
    }
    result = ask_all(&request, &answer);
    if (result != 0)
        return explain(question->pid, result, &answer, err);
    *answer_out = answer;
    return 0;
}

void control_client_name_trace(pid_t pid, struct gait_error *err)
{
    const struct control_question question = {.operation = CONTROL_STATS, .pid = pid};
    static struct control_answer answer; /* large */
    struct gait_error before = *err, why;
    char text[CONTROL_TEXT_BYTES + 1], shown[256];

    if (control_client_ask(&question, &answer, &why) != 0 || answer.text_bytes == 0)
        return;
    memcpy(text, answer.text, answer.text_bytes);
    text[answer.text_bytes] = '\0';
    (void)error_set(err, before.code, "%s; what it records goes to %s", before.text,
                    printable(shown, sizeof(shown), text));
}

enum command_status control_client_read_pid(const struct command_call *call, const char *command, const char *text,
                                            pid_t *pid_out)
{
    char *end;
    long pid = strtol(text, &end, 10);

    *pid_out = (pid_t)pid;
    if (end != text && *end == '\0' && pid > 0 && pid == *pid_out)
        return COMMAND_DONE;
    (void)error_set(call->error, EINVAL, "%s: '%s' is no process; its number is needed, see gait help %s", command,
                    text, command);
    return COMMAND_MISUSED;
}
