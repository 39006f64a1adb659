/* SPDX-License-Identifier: MIT */
#include "report/json_page.h"

#include "trace/json_text.h"

#include <inttypes.h>
#include <math.h>

static void begin_member(struct json_page *page, const char *name)
{
    if (page->depth != 0)
        fprintf(page->stream, "%s\n%*s", page->has_members ? "," : "", (int)page->depth, "");
    page->has_members = true;
    if (name != NULL) {
        json_put_text(page->stream, name);
        fputs(": ", page->stream);
    }
}

void json_page_open(struct json_page *page, const char *name, char bracket)
{
    begin_member(page, name);
    putc(bracket, page->stream);
    page->depth++;
    page->has_members = false;
}

void json_page_close(struct json_page *page, char bracket)
{
    page->depth--;
    if (page->has_members)
        fprintf(page->stream, "\n%*s", (int)page->depth, "");
    putc(bracket, page->stream);
    page->has_members = true;
    if (page->depth == 0)
        putc('\n', page->stream);
}

void json_page_text(struct json_page *page, const char *name, const char *text)
{
    begin_member(page, name);
    json_put_text(page->stream, text);
}

void json_page_count(struct json_page *page, const char *name, uint64_t count)
{
    begin_member(page, name);
    fprintf(page->stream, "%" PRIu64, count);
}

void json_page_signed(struct json_page *page, const char *name, int64_t number)
{
    begin_member(page, name);
    fprintf(page->stream, "%" PRId64, number);
}

void json_page_number(struct json_page *page, const char *name, double number)
{
    begin_member(page, name);
    if (isfinite(number))
        fprintf(page->stream, "%.1f", number);
    else
        fputs("null", page->stream);
}

void json_page_bool(struct json_page *page, const char *name, bool value)
{
    begin_member(page, name);
    fputs(value ? "true" : "false", page->stream);
}

void json_page_null(struct json_page *page, const char *name)
{
    begin_member(page, name);
    fputs("null", page->stream);
}

void json_page_address(struct json_page *page, const char *name, uint64_t address)
{
    begin_member(page, name);
    fprintf(page->stream, "\"0x%" PRIx64 "\"", address);
}
