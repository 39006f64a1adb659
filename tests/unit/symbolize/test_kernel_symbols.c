/* SPDX-License-Identifier: MIT */
#include "symbolize/kernel_symbols.h"

#include "support/check.h"
#include "support/trace_folder.h"
#include "symbolize/named_code.h"

#include <errno.h>

static struct trace_folder folder;

static int read_text(struct named_code *code, const char *text)
{
    char path[128];

    trace_folder_write(&folder, "kallsyms", text, strlen(text));
    snprintf(path, sizeof(path), "%s/kallsyms", folder.path);
    named_code_init(code);
    return kernel_symbols_read(code, path);
}

static void expect(const struct named_code *code, uint64_t address, const char *name)
{
    const struct named_range *range = named_code_find(code, address, 0);

    CHECK_TEXT(range == NULL ? "" : named_code_name(code, range), name);
}

static void functions_are_found_and_data_is_not(void)
{
    struct named_code code;

    CHECK_EQUAL(read_text(&code, "ffffffff81000000 T _text\n"
                                 "ffffffff81000100 t do_work\n"
                                 "ffffffff81000180 d data\n"
                                 "nonsense\n"
                                 "ffffffffc0000000 t helper\t[loaded]\n"),
                0);
    expect(&code, 0xffffffff81000010, "_text");
    expect(&code, 0xffffffff81000190, "do_work");
    expect(&code, 0xffffffffc0000004, "helper [loaded]");
    expect(&code, 0x1000, "");
    named_code_deinit(&code);
}

static void hidden_addresses_are_noticed(void)
{
    struct named_code code;

    CHECK_EQUAL(read_text(&code, "0000000000000000 T _text\n0000000000000000 t do_work\n"), -EACCES);
    named_code_deinit(&code);
    named_code_init(&code);
    CHECK_EQUAL(kernel_symbols_read(&code, "/no/such/list"), -ENOENT);
    named_code_deinit(&code);
}

/* What it tells depends on who asks. */
static void the_kernel_here_is_read(void)
{
    struct named_code code;
    int result;

    named_code_init(&code);
    result = kernel_symbols_read(&code, NULL);
    CHECK(result == 0 || result == -EACCES || result == -ENOENT);
    CHECK(result != 0 || code.count > 1000);
    named_code_deinit(&code);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(functions_are_found_and_data_is_not),
        CHECK_CASE(hidden_addresses_are_noticed),
        CHECK_CASE(the_kernel_here_is_read),
    };
    int status;

    trace_folder_init(&folder);
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    trace_folder_deinit(&folder);
    return status;
}
