/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/options/config_file.h"

#include "support/check.h"

#include <errno.h>
#include <unistd.h>

static char path[] = "/tmp/gait-config-XXXXXX";
static struct gait_error err;
static char *bytes;

/* What was read, as text. */
static char seen[4096];

static const char *take(void *context, const struct config_value *value)
{
    static const char kinds[] = "sntI";
    size_t used = strlen(seen);

    (void)context;
    if (strcmp(value->key, "refused") == 0)
        return "something else";
    snprintf(seen + used, sizeof(seen) - used, "%s%c%s%s;", value->key, kinds[value->kind], value->is_first ? "=" : "+",
             value->text);
    return NULL;
}

static int read_text(const char *text)
{
    FILE *file = fopen(path, "w");

    fputs(text, file);
    fclose(file);
    free(bytes);
    seen[0] = err.text[0] = '\0';
    return config_file_read(path, take, NULL, &bytes, &err);
}

static void values_have_kinds(void)
{
    CHECK_EQUAL(read_text("a = \"text\"\nb-c_1=12\nd = true # why\ne\t=\t'as it \\is'\nf = 1.5"), 0);
    CHECK_TEXT(seen, "as=text;b-c_1n=12;dt=true;es=as it \\is;fn=1.5;");
}

static void arrays_come_item_by_item(void)
{
    CHECK_EQUAL(read_text("a = [\"x\", 'y',\n  # more\n  \"z\",\n]\nb = []\nc = ['#']\n"), 0);
    CHECK_TEXT(seen, "aI=x;aI+y;aI+z;cI=#;");
}

static void escapes_are_taken_back(void)
{
    CHECK_EQUAL(read_text("a = \"q\\\"b\\\\t\\tn\\n\"\n"), 0);
    CHECK_TEXT(seen, "as=q\"b\\t\tn\n;");
}

static void lines_may_end_as_elsewhere_and_the_last_need_not(void)
{
    CHECK_EQUAL(read_text(""), 0);
    CHECK_EQUAL(read_text("\r\n# nothing\r\na = 1\r\nb = \"x\"\r\n"), 0);
    CHECK_TEXT(seen, "an=1;bs=x;");
    CHECK_EQUAL(read_text("# nothing"), 0);
    CHECK_EQUAL(read_text("a = 1"), 0);
    CHECK_TEXT(seen, "an=1;");
}

static void check_refused(const char *text, const char *why)
{
    CHECK_EQUAL(read_text(text), -EINVAL);
    if (strstr(err.text, why) == NULL) {
        printf("%s\n", err.text);
        CHECK(false);
    }
}

static void what_is_wrong_is_told_with_its_line(void)
{
    check_refused("a = 1\n\nb\n", "line 3: a line is no \"key = value\"");
    check_refused("= 1\n", "line 1: a line is no");
    check_refused("[table]\n", "line 1: tables are not known here");
    check_refused("a = \"x\n\"\n", "line 1: a string has no closing quote");
    check_refused("a = 'x", "line 1: a string has no closing quote");
    check_refused("a = \"\\q\"", "line 1: an escape is none of");
    check_refused("a = yes\n", "line 1: the value is no");
    check_refused("a = -1\n", "line 1: the value is no");
    check_refused("a = 5x\n", "line 1: the value is no");
    check_refused("a = 1.\n", "line 1: the value is no");
    check_refused("a = 1.2.3\n", "line 1: the value is no");
    check_refused("a =\nb = 1\n", "line 1: the value is no");
    check_refused("a = 1 2\n", "line 1: something follows the value");
    check_refused("a = \"x\" \"y\"\n", "line 1: something follows the value");
    check_refused("a = [1]\n", "line 1: an array has something that is no string");
    check_refused("a = [\n\"x\"\n", "line 3: an array is not closed");
    check_refused("a = [\"x\" \"y\"]\n", "line 1: an array is not closed");
    check_refused("a = 1\nb = 2\na = 3\n", "line 3: a is there twice");
    check_refused("a = 1\nrefused = \"x\"\n", "line 2: refused is x; it should be something else");
}

static void files_that_cannot_be_read_are_errors(void)
{
    free(bytes);
    CHECK_EQUAL(config_file_read("/nowhere/at/all", take, NULL, &bytes, &err), -ENOENT);
    CHECK(strstr(err.text, "/nowhere/at/all") != NULL && bytes == NULL);
    CHECK(config_file_read("/", take, NULL, &bytes, &err) < 0);
    free(bytes);
    CHECK_EQUAL(config_file_read("/dev/zero", take, NULL, &bytes, &err), -EFBIG);
}

static const struct check_case cases[] = {
    CHECK_CASE(values_have_kinds),
    CHECK_CASE(arrays_come_item_by_item),
    CHECK_CASE(escapes_are_taken_back),
    CHECK_CASE(lines_may_end_as_elsewhere_and_the_last_need_not),
    CHECK_CASE(what_is_wrong_is_told_with_its_line),
    CHECK_CASE(files_that_cannot_be_read_are_errors),
};

int main(void)
{
    int fd = mkstemp(path), status;

    if (fd == -1)
        return 1;
    close(fd);
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    free(bytes);
    unlink(path);
    return status;
}
