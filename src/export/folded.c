/* SPDX-License-Identifier: MIT */
/*
 * A line for each distinct stack: frames with ; between them, the outermost first, a space, and how many nanoseconds
 * were spent in it, without those in calls that it made. The first frame is the thread's name. Stacks that took no time
 * are left out. Those that the kernel took begin with what was asked for, as "profile:hz:99". Names cannot have what
 * divides frames, or lines, in them.
 */
#include "export/export_text.h"
#include "export/function_texts.h"
#include "export/stack_tree.h"

#include <string.h>

/* A fullwidth semicolon looks like one, and divides nothing. */
#define SEMICOLON "\xef\xbc\x9b"

static void put_frame(FILE *stream, const char *text)
{
    for (size_t length; text[length = strcspn(text, ";")] != '\0'; text += length + 1) {
        fwrite(text, 1, length, stream);
        export_put(stream, SEMICOLON);
    }
    export_put(stream, text);
}

static void put_stack(FILE *stream, const struct stack_tree *tree, uint32_t node)
{
    uint32_t frames[STACK_TREE_DEPTH_MAX + 2];
    size_t count = 0;

    for (uint32_t at = node; at != 0; at = tree->nodes[at].parent)
        frames[count++] = at;
    for (size_t i = count; i-- > 0;) {
        put_frame(stream, stack_tree_text(tree, frames[i]));
        export_put(stream, i == 0 ? " " : ";");
    }
    export_put_number(stream, tree->nodes[node].self_ns);
    export_put(stream, "\n");
}

static int write_folded(const struct export_job *job, struct gait_error *err)
{
    struct stack_tree tree;
    int result = stack_tree_read(&tree, job, function_texts_name, err);

    for (uint32_t node = 0; tree.node_count != 0 && node != STACK_NO_NODE && !ferror(job->stream);
         node = stack_tree_next(&tree, node))
        if (tree.nodes[node].self_ns != 0)
            put_stack(job->stream, &tree, node);
    stack_tree_deinit(&tree);
    return result;
}

extern const struct export_format export_format_folded;
const struct export_format export_format_folded = {
    .name = "folded",
    .file_name = "trace.folded",
    .kind = EXPORT_TEXT,
    .write = write_folded,
};
