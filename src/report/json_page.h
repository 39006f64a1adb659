/* SPDX-License-Identifier: MIT */
/*
 * A JSON document (RFC 8259) on a stream, a member a line: commas, quotes and indents are done here. Names of members
 * are given in objects, and NULL in lists. One thread at a time.
 */
#ifndef GAIT_REPORT_JSON_PAGE_H
#define GAIT_REPORT_JSON_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_page {
    FILE *stream;
    unsigned depth;
    bool has_members; /* what is open has some */
};

/* What is open inside of what; the page ends with the last of them. '{' or '[' */
void json_page_open(struct json_page *page, const char *name, char bracket);
void json_page_close(struct json_page *page, char bracket);

void json_page_text(struct json_page *page, const char *name, const char *text);
void json_page_count(struct json_page *page, const char *name, uint64_t count);
void json_page_signed(struct json_page *page, const char *name, int64_t number);
/* With a digit behind the point; not a number: null. */
void json_page_number(struct json_page *page, const char *name, double number);
void json_page_bool(struct json_page *page, const char *name, bool value);
void json_page_null(struct json_page *page, const char *name);
/* "0x12ab": numbers that lose digits where numbers are doubles. */
void json_page_address(struct json_page *page, const char *name, uint64_t address);

#endif
