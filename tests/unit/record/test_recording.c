/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "record/recording.h"

#include "ring/ring_region.h"
#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct gait_error err;
static _Atomic uint32_t word;
static char path[] = "/tmp/gait-test-XXXXXX";
static char output[64];

static void begin(void)
{
    strcpy(path, "/tmp/gait-test-XXXXXX");
    CHECK(mkdtemp(path) != NULL);
    snprintf(output, sizeof(output), "%s/some/where", path);
}

static int remove_one(const char *name, const struct stat *status, int flag, struct FTW *place)
{
    (void)status;
    (void)flag;
    (void)place;
    return remove(name);
}

static void end(void)
{
    CHECK_EQUAL(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static struct recording_options options_for(const char *program)
{
    static char *arguments[] = {(char *)"program", (char *)"argument", NULL};

    return (struct recording_options){.output = output, .program = program, .arguments = arguments, .events = 8};
}

static void a_recording_has_a_folder_and_a_manifest(void)
{
    struct recording_options options = options_for("/bin/program");
    static const struct ring_options ring_options;
    struct recording recording;
    struct manifest manifest;
    struct ring_region *ring;
    int folder;

    begin();
    CHECK_EQUAL(ring_region_create(&ring_options, &ring), 0);
    CHECK_EQUAL(recording_create(&options, &recording, &err), 0);
    CHECK(strncmp(recording.path, output, strlen(output)) == 0);
    CHECK(strstr(recording.path, "/program-") != NULL);
    CHECK_EQUAL(recording_add_process(&recording, getpid(), 0, ring->fd, &err), 0);
    CHECK_EQUAL(recording_drain(&recording, &err), 0);
    recording_wait(&recording, (struct ring_wait_word){&word, 0}, 1);
    CHECK_EQUAL(recording_lost(&recording), 0);
    recording_process_ended(&recording, getpid(), 3 << 8);
    folder = open(recording.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_EQUAL(manifest_read(folder, &manifest, &err), 0);
    CHECK_TEXT(manifest.ended, "running");
    manifest_free(&manifest);
    CHECK_EQUAL(recording_end(&recording, "exit", &err), 0);
    CHECK_EQUAL(manifest_read(folder, &manifest, &err), 0);
    CHECK_TEXT(manifest.ended, "exit");
    CHECK_TEXT(manifest.program, "/bin/program");
    CHECK_EQUAL(manifest.events, 8);
    CHECK_EQUAL(manifest.process_count, 1);
    CHECK_EQUAL(manifest.processes[0].pid, (uint32_t)getpid());
    CHECK_EQUAL(manifest.processes[0].status, 3 << 8);
    CHECK(manifest.clock_count >= 2);
    manifest_free(&manifest);
    close(folder);
    free(recording.path);
    ring_region_destroy(ring);
    end();
}

static void two_of_the_same_name_are_apart(void)
{
    struct recording_options options = options_for("twin");
    struct recording first, second;

    begin();
    CHECK_EQUAL(recording_create(&options, &first, &err), 0);
    CHECK_EQUAL(recording_create(&options, &second, &err), 0);
    CHECK(strcmp(first.path, second.path) != 0);
    CHECK_EQUAL(recording_end(&first, "exit", &err), 0);
    CHECK_EQUAL(recording_end(&second, "exit", &err), 0);
    free(first.path);
    free(second.path);
    end();
}

static void what_is_discarded_leaves_nothing(void)
{
    struct recording_options options = options_for("program");
    struct recording recording;

    begin();
    CHECK_EQUAL(recording_create(&options, &recording, &err), 0);
    recording_discard(&recording);
    CHECK_EQUAL(access(recording.path, F_OK), -1);
    free(recording.path);
    end();
}

static void a_folder_that_cannot_be_made_is_told(void)
{
    struct recording_options options = options_for("program");
    struct recording recording;

    options.output = "/dev/null/traces";
    CHECK_EQUAL(recording_create(&options, &recording, &err), -ENOTDIR);
    CHECK(strstr(err.text, "/dev/null/traces") != NULL && strstr(err.text, "--output") != NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_recording_has_a_folder_and_a_manifest),
    CHECK_CASE(two_of_the_same_name_are_apart),
    CHECK_CASE(what_is_discarded_leaves_nothing),
    CHECK_CASE(a_folder_that_cannot_be_made_is_told),
};

CHECK_MAIN(cases)
