/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "fetch/debuginfod_client.h"

#include "support/check.h"
#include "support/served_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct served_file served;

/* As SERVED_FILE_ID has it. */
static const unsigned char id[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23,
                                   0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67};

static void check_and_close(int fd)
{
    CHECK(fd >= 0);
    CHECK(served_file_is_behind(fd));
    CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    close(fd);
}

static void files_are_found_by_numbers_and_by_text(void)
{
    void *client = debuginfod_client_begin();
    char *path = NULL;

    CHECK(client != NULL);
    check_and_close(debuginfod_client_find_debuginfo(client, id, sizeof(id), NULL));
    check_and_close(debuginfod_client_find_executable(client, (const unsigned char *)SERVED_FILE_ID, 0, &path));
    CHECK(path != NULL && served_file_is_at(path));
    free(path);
    debuginfod_client_end(client);
}

static void what_is_no_id_is_refused(void)
{
    static const char *const texts[] = {"", "../../etc", "0123 45", "01234567\n"};
    char *path = NULL;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        CHECK_EQUAL(debuginfod_client_find_debuginfo(NULL, (const unsigned char *)texts[i], 0, &path), -EINVAL);
    CHECK_EQUAL(debuginfod_client_find_debuginfo(NULL, id, -1, &path), -EINVAL);
    CHECK_EQUAL(debuginfod_client_find_debuginfo(NULL, id, 65, &path), -EINVAL);
    CHECK(path == NULL);
}

static void nobody_is_asked_without_a_server(void)
{
    setenv("DEBUGINFOD_URLS", "", 1);
    CHECK_EQUAL(debuginfod_client_find_debuginfo(NULL, id, sizeof(id), NULL), -ENOSYS);
    unsetenv("DEBUGINFOD_URLS");
    CHECK_EQUAL(debuginfod_client_find_debuginfo(NULL, id, sizeof(id), NULL), -ENOSYS);
}

static void functions_have_the_names_of_the_library(void)
{
    CHECK(debuginfod_client_function("debuginfod_begin") == debuginfod_client_begin);
    CHECK(debuginfod_client_function("debuginfod_find_debuginfo") == debuginfod_client_find_debuginfo);
    CHECK(debuginfod_client_function("debuginfod_find_executable") == debuginfod_client_find_executable);
    CHECK(debuginfod_client_function("debuginfod_end") == debuginfod_client_end);
    CHECK(debuginfod_client_function("debuginfod_find_source") == NULL);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(files_are_found_by_numbers_and_by_text),
        CHECK_CASE(what_is_no_id_is_refused),
        CHECK_CASE(functions_have_the_names_of_the_library),
        CHECK_CASE(nobody_is_asked_without_a_server),
    };
    int status;

    if (!served_file_has_client())
        check_skip("the client library of debuginfod is not installed");
    served_file_init(&served);
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    served_file_deinit(&served);
    return status;
}
