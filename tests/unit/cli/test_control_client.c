/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/control_client.h"

#include "support/check.h"
#include "support/control_server.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gait_error err;
static struct control_answer answer;

static int ask(enum control_operation operation, pid_t pid, const char *note)
{
    struct control_question question = {operation, pid, note};

    err.text[0] = '\0';
    return control_client_ask(&question, &answer, &err);
}

static void the_right_recording_is_found(void)
{
    struct control_server *one = control_server_start(getpid(), 0), *other = control_server_start(getppid(), 0);

    CHECK_EQUAL(ask(CONTROL_STATS, getpid(), NULL), 0);
    CHECK_EQUAL(answer.stats.thread_count, 5);
    CHECK_EQUAL(ask(CONTROL_TRIGGER, getppid(), "why"), 0);
    CHECK_EQUAL(other->triggers, 1);
    CHECK_TEXT(other->note, "why");
    CHECK_EQUAL(one->triggers, 0);
    control_server_stop(one);
    control_server_stop(other);
}

static void the_end_is_waited_for(void)
{
    struct control_server *server = control_server_start(getpid(), 0);

    CHECK_EQUAL(ask(CONTROL_DETACH, getpid(), NULL), 0);
    CHECK(answer.is_last && server->is_detached);
    control_server_stop(server);
    server = control_server_start(getpid(), -EBUSY);
    CHECK_EQUAL(ask(CONTROL_DETACH, getpid(), NULL), -EBUSY);
    CHECK(strstr(err.text, "reports: a thread is where it cannot leave") != NULL);
    control_server_stop(server);
}

static void what_is_not_recorded_is_told_apart(void)
{
    pid_t gone = fork();

    if (gone == 0)
        _exit(0);
    waitpid(gone, NULL, 0);
    CHECK_EQUAL(ask(CONTROL_STATS, gone, NULL), -ESRCH);
    CHECK(strstr(err.text, "there is no process") != NULL);
    CHECK_EQUAL(ask(CONTROL_STATS, getpid(), NULL), -ENOENT);
    CHECK(strstr(err.text, "is not being recorded; gait attach") != NULL);
}

static void the_trace_of_who_records_is_named(void)
{
    struct control_server *server = control_server_start(getpid(), 0);

    snprintf(err.text, sizeof(err.text), "recorded already");
    control_client_name_trace(getpid(), &err);
    CHECK(strncmp(err.text, "recorded already; what it records goes to ", 42) == 0);
    control_server_stop(server);
    snprintf(err.text, sizeof(err.text), "recorded already");
    control_client_name_trace(getpid(), &err);
    CHECK_TEXT(err.text, "recorded already");
}

/* Listens as a recording of another version would, which answers so; for one question. */
static pid_t start_other_version(int result)
{
    struct {
        uint32_t magic, version;
        int32_t result;
        uint32_t is_last;
    } said = {CONTROL_MAGIC, CONTROL_VERSION + 1, result, 1};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, CONTROL_NAME "%d-other", (int)getpid());
    int listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    pid_t child;

    CHECK_EQUAL(bind(listening, (const struct sockaddr *)&address,
                     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)),
                0);
    CHECK_EQUAL(listen(listening, 1), 0);
    child = fork();
    if (child == 0) {
        char request[512];
        int fd = accept(listening, NULL, NULL);

        if (recv(fd, request, sizeof(request), 0) > 0)
            (void)!send(fd, &said, sizeof(said), MSG_NOSIGNAL);
        _exit(0);
    }
    close(listening);
    return child;
}

static void another_version_that_has_nothing_to_do_with_it_is_passed_over(void)
{
    pid_t other = start_other_version(-ESRCH);

    CHECK_EQUAL(ask(CONTROL_STATS, getpid(), NULL), -ENOENT);
    waitpid(other, NULL, 0);
    other = start_other_version(-EPROTO);
    CHECK_EQUAL(ask(CONTROL_STATS, getpid(), NULL), -EPROTO);
    CHECK(strstr(err.text, "or of another version?") != NULL);
    waitpid(other, NULL, 0);
}

static void strangers_are_refused(void)
{
    struct control_server *server;

    if (geteuid() != 0)
        return;
    server = control_server_start(getpid(), 0);
    CHECK_EQUAL(seteuid(65534), 0);
    CHECK_EQUAL(ask(CONTROL_DETACH, getpid(), NULL), -EPERM);
    CHECK(strstr(err.text, "it is another user's") != NULL);
    CHECK_EQUAL(seteuid(0), 0);
    CHECK(!server->is_detached);
    control_server_stop(server);
}

static void a_recording_that_is_stopped_is_not_waited_for_long(void)
{
    struct control_server *server = control_server_start(getpid(), 0);

    kill(server->pid, SIGSTOP);
    CHECK_EQUAL(ask(CONTROL_STATS, getpid(), NULL), -ETIMEDOUT);
    CHECK(strstr(err.text, "does not answer") != NULL);
    control_server_stop(server);
}

static void pids_are_numbers(void)
{
    static const char *const wrong[] = {"", "x", "0", "-1", "12x", "99999999999999999999", "4294967297"};
    struct command_call call = {.error = &err};
    pid_t pid = 0;

    CHECK_EQUAL(control_client_read_pid(&call, "stats", "4711", &pid), COMMAND_DONE);
    CHECK_EQUAL(pid, 4711);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        CHECK_EQUAL(control_client_read_pid(&call, "stats", wrong[i], &pid), COMMAND_MISUSED);
    CHECK(strstr(err.text, "stats: '4294967297' is no process") != NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_right_recording_is_found),
    CHECK_CASE(the_end_is_waited_for),
    CHECK_CASE(the_trace_of_who_records_is_named),
    CHECK_CASE(what_is_not_recorded_is_told_apart),
    CHECK_CASE(another_version_that_has_nothing_to_do_with_it_is_passed_over),
    CHECK_CASE(strangers_are_refused),
    CHECK_CASE(a_recording_that_is_stopped_is_not_waited_for_long),
    CHECK_CASE(pids_are_numbers),
};

CHECK_MAIN(cases)
