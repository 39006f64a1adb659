/* SPDX-License-Identifier: MIT */
/*
 * How many requests does a server still answer when its functions are hooked and every call is recorded? redis-server
 * under redis-benchmark GET: alone, with all of its functions hooked, with a hundred chosen ones, and under uftrace,
 * which patches functions too where it can. In turn, several rounds, the best of each counts.
 * GAIT_BENCH_REDIS names another redis-server, for one that was built with what uftrace needs.
 */
#define _GNU_SOURCE
#include "support/followed_run.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PORT           7397
#define ROUNDS         3
#define REQUESTS       400000u
#define ANSWERS_WITHIN 400 /* steps of 25 ms */

/* About a hundred functions of redis-server: those that are called once for a command, GET among them. */
static const char *const chosen[] = {"--hook", "[a-h]*Command", NULL};
static const char *const all[] = {"--hook", "*", NULL};

struct way {
    const char *name;
    const char *const *hooks; /* of gait; NULL: none */
    bool is_peer;
    double best; /* requests a second */
};

static char folder[] = "/tmp/gait-bench-hooks-XXXXXX";

static const char *server_path(void)
{
    const char *given = getenv("GAIT_BENCH_REDIS");

    return given == NULL ? "redis-server" : given;
}

static const char *gait_path(void)
{
    const char *given = getenv("GAIT_BENCH_COMMAND");

    return given == NULL ? "build/release-gcc/gait" : given;
}

/* ---- the server -------------------------------------------------------------------------------------------------- */

static size_t put_gait(const char **words, const char *const *hooks)
{
    size_t at = 0;

    words[at++] = gait_path();
    words[at++] = "spawn";
    words[at++] = "--quiet";
    words[at++] = "-o";
    words[at++] = folder;
    for (; *hooks != NULL; hooks++)
        words[at++] = *hooks;
    words[at++] = "--";
    return at;
}

static size_t put_uftrace(const char **words)
{
    static const char *const uftrace[] = {"uftrace", "record", "-d", folder, "--no-libcall", "-P", ".", "--no-event"};

    for (size_t i = 0; i < sizeof(uftrace) / sizeof(uftrace[0]); i++)
        words[i] = uftrace[i];
    return sizeof(uftrace) / sizeof(uftrace[0]);
}

static pid_t start(const struct way *way)
{
    const char *words[32];
    size_t at = way->is_peer ? put_uftrace(words) : way->hooks != NULL ? put_gait(words, way->hooks) : 0;
    char port[16];
    pid_t pid;

    snprintf(port, sizeof(port), "%d", PORT);
    words[at++] = server_path();
    words[at++] = "--port";
    words[at++] = port;
    words[at++] = "--save";
    words[at++] = "";
    words[at] = NULL;
    pid = fork();
    if (pid != 0)
        return pid;
    if (freopen("/dev/null", "w", stdout) == NULL || (way->is_peer && freopen("/dev/null", "w", stderr) == NULL))
        _exit(126);
    execvp(words[0], (char *const *)words);
    _exit(127);
}

static bool answers(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_there;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_there = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
    close(fd);
    return is_there;
}

/* False: it has ended by itself. */
static bool wait_for_answer(pid_t pid)
{
    for (int i = 0; i < ANSWERS_WITHIN; i++) {
        if (answers())
            return true;
        if (waitpid(pid, NULL, WNOHANG) == pid)
            return false;
        usleep(25000);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return false;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* "GET","123456.78",... with the requests a second. */
static double measure(void)
{
    char command[200], line[400];
    double requests = 0;
    FILE *output;

    snprintf(command, sizeof(command), "redis-benchmark -p %d -t get -c 50 -n %u --csv 2>/dev/null", PORT,
             REQUESTS / 100 * followed_run_scale(100));
    output = popen(command, "r");
    while (output != NULL && fgets(line, sizeof(line), output) != NULL)
        if (strncmp(line, "\"GET\",\"", 7) == 0)
            requests = strtod(line + 7, NULL);
    if (output != NULL)
        pclose(output);
    return requests;
}

/* How many bytes the trace has; removes it. */
static double clear_folder(void)
{
    char command[200], line[100];
    double bytes = 0;
    FILE *output;

    snprintf(command, sizeof(command), "du -sb %s; rm -rf %s/*", folder, folder);
    output = popen(command, "r");
    if (output != NULL && fgets(line, sizeof(line), output) != NULL)
        bytes = strtod(line, NULL);
    if (output != NULL)
        pclose(output);
    return bytes;
}

/* Requests a second; 0: the server does not run that way. */
static double run_once(const struct way *way, double *trace_bytes)
{
    char command[200];
    double requests;
    pid_t pid = start(way);

    if (pid < 0 || !wait_for_answer(pid))
        return 0;
    requests = measure();
    snprintf(command, sizeof(command), "redis-cli -p %d shutdown nosave >/dev/null 2>&1", PORT);
    if (system(command) != 0)
        kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
    *trace_bytes = clear_folder();
    return requests;
}

int main(void)
{
    struct way ways[] = {
        {.name = "alone"},
        {.name = "all functions hooked", .hooks = all},
        {.name = "a hundred functions hooked", .hooks = chosen},
        {.name = "uftrace, all that it can patch", .is_peer = true},
    };
    double trace_bytes[sizeof(ways) / sizeof(ways[0])] = {0};

    if (system("command -v redis-benchmark >/dev/null 2>&1") != 0 || mkdtemp(folder) == NULL) {
        printf("redis-benchmark is not installed\n");
        return 0;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
            double requests = run_once(&ways[i], &trace_bytes[i]);

            ways[i].best = requests > ways[i].best ? requests : ways[i].best;
        }
    printf("| redis-server | GET requests a second | of those alone | MiB of trace |\n|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (ways[i].best == 0)
            printf("| %s | it does not run so | | |\n", ways[i].name);
        else
            printf("| %s | %.0f | %.1f %% | %.1f |\n", ways[i].name, ways[i].best, 100 * ways[i].best / ways[0].best,
                   trace_bytes[i] / (1 << 20));
    }
    rmdir(folder);
    return ways[0].best == 0 || ways[1].best == 0 || ways[2].best == 0;
}
