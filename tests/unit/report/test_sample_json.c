/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "report/sample_json.h"

#include "hosted/json_writer.h"
#include "support/sample_stacks.h"

#include <stdlib.h>
#include <string.h>

static struct sample_tree tree;
static struct kernel_source source;
static struct sample_trees trees;
static char *text;

/* What is written, dense. */
static const char *write_all(bool as_trees, double min_share)
{
    size_t size_bytes;
    struct json_writer json = {.layout = JSON_DENSE};

    free(text);
    json.stream = open_memstream(&text, &size_bytes);
    json_writer_open(&json, NULL, '{');
    if (as_trees)
        sample_json_put_trees(&json, &trees, min_share);
    else
        CHECK_EQUAL(sample_json_put_functions(&json, &trees, 1), 0);
    json_writer_close(&json, '}');
    fclose(json.stream);
    return text;
}

static bool has(const char *part)
{
    return strstr(text, part) != NULL;
}

static void functions_and_paths_have_their_samples(void)
{
    sample_stacks_begin(&tree, &source, &trees);
    write_all(false, 0);
    CHECK(has("profile:hz:99") && has("main") && !has("\"work\""));
    write_all(true, 0);
    CHECK(has("worker") && has("\"work\""));
    /* work is in 4 of 6. */
    write_all(true, 0.7);
    CHECK(has("main") && !has("\"work\""));
    sample_tree_deinit(&tree);
    CHECK_EQUAL(sample_tree_init(&tree), 0);
    CHECK(strstr(write_all(true, 0), "profiles") == NULL);
    CHECK(strstr(write_all(false, 0), "profiles") == NULL);
    sample_tree_deinit(&tree);
    free(text);
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_and_paths_have_their_samples),
};

CHECK_MAIN(cases)
