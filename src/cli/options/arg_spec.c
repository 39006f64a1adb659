/* SPDX-License-Identifier: MIT */
/* One pass from left to right; the first error is reported. */
#include "cli/options/arg_spec.h"

#include "base/attributes.h"
#include "base/text_parse.h"
#include "cli/options/nearest_name.h"
#include "cli/screens/printable.h"
#include "ring/detail_record.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ERRNO_MARK "!errno"
#define WORD_SHOWN 24

static const struct {
    const char *name;
    enum detail_type type;
} types[] = {
    {"int", DETAIL_TYPE_I32},        {"uint", DETAIL_TYPE_U32},      {"i8", DETAIL_TYPE_I8},
    {"i16", DETAIL_TYPE_I16},        {"i32", DETAIL_TYPE_I32},       {"i64", DETAIL_TYPE_I64},
    {"u8", DETAIL_TYPE_U8},          {"u16", DETAIL_TYPE_U16},       {"u32", DETAIL_TYPE_U32},
    {"u64", DETAIL_TYPE_U64},        {"long", DETAIL_TYPE_I64},      {"ulong", DETAIL_TYPE_U64},
    {"size", DETAIL_TYPE_U64},       {"ssize", DETAIL_TYPE_I64},     {"hex", DETAIL_TYPE_HEX},
    {"ptr", DETAIL_TYPE_POINTER},    {"str", DETAIL_TYPE_STRING},    {"buf", DETAIL_TYPE_BUFFER},
    {"char", DETAIL_TYPE_CHARACTER}, {"bool", DETAIL_TYPE_TRUTH},    {"float", DETAIL_TYPE_FLOAT},
    {"double", DETAIL_TYPE_DOUBLE},  {"fd", DETAIL_TYPE_DESCRIPTOR}, {"_", DETAIL_TYPE_SKIPPED},
};

#define TYPE_COUNT (sizeof(types) / sizeof(types[0]))

struct spec_parser {
    const char *text;
    size_t at;
    size_t types_at;                   /* where the types begin */
    size_t size_at[DETAIL_FIELDS_MAX]; /* where the size of an argument stands */
    struct detail_places places;
    struct arg_spec spec;
    struct arg_spec_error *error;
};

static PRINTF_LIKE(3, 4) bool fail(struct spec_parser *parser, size_t at, const char *format, ...)
{
    va_list arguments;

    parser->error->at = at;
    va_start(arguments, format);
    vsnprintf(parser->error->what, sizeof(parser->error->what), format, arguments);
    va_end(arguments);
    return false;
}

static void pass_spaces(struct spec_parser *parser)
{
    parser->at += strspn(parser->text + parser->at, " \t");
}

/* Passes what stands there, if it does. */
static bool pass(struct spec_parser *parser, const char *what)
{
    pass_spaces(parser);
    if (strncmp(parser->text + parser->at, what, strlen(what)) != 0)
        return false;
    parser->at += strlen(what);
    return true;
}

static bool is_at_end(struct spec_parser *parser)
{
    pass_spaces(parser);
    return parser->text[parser->at] == '\0';
}

/* How long the word is that begins here. */
static size_t word_length(const struct spec_parser *parser)
{
    return strcspn(parser->text + parser->at, " \t,[]!->:");
}

static bool fail_type(struct spec_parser *parser, size_t length)
{
    const char *word = parser->text + parser->at;
    struct nearest_names nearest;
    char wanted[WORD_SHOWN + 1];

    if (length == 0)
        return fail(parser, parser->at, "a type is missing here; '_' passes over an argument");
    snprintf(wanted, sizeof(wanted), "%.*s", (int)(length < WORD_SHOWN ? length : WORD_SHOWN), word);
    nearest_names_init(&nearest, wanted);
    for (size_t i = 0; i < TYPE_COUNT; i++)
        nearest_names_offer(&nearest, types[i].name, strlen(types[i].name));
    if (nearest.count == 0)
        return fail(parser, parser->at, "'%s' is no type; those are int, str, ptr, buf[N] and others", wanted);
    return fail(parser, parser->at, "'%s' is no type; is it %s?", wanted, nearest.best[0].name);
}

static bool take_name(struct spec_parser *parser, struct detail_field *field)
{
    size_t length = word_length(parser);

    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (strlen(types[i].name) == length && memcmp(types[i].name, parser->text + parser->at, length) == 0) {
            field->type = (uint8_t)types[i].type;
            parser->at += length;
            return true;
        }
    return fail_type(parser, length);
}

/* "64" or, of an argument that is a buffer, "arg3". Whether that one has a size is seen when all are known. */
static bool take_size(struct spec_parser *parser, struct detail_field *field)
{
    struct detail_declaration *declaration = &parser->spec.declaration;
    bool in_argument = field->type == DETAIL_TYPE_BUFFER && pass(parser, "arg");
    uint64_t most = in_argument ? DETAIL_FIELDS_MAX : DETAIL_STACK_BYTES_MAX, number;
    size_t length = word_length(parser);

    if (in_argument && field == &declaration->result)
        return fail(parser, parser->at, "what is returned can only have a size that is a number");
    if (text_parse_decimal(parser->text + parser->at, length, &number) != 0 || number == 0 || number > most)
        return fail(parser, parser->at, "%s is a number from 1 to %u here",
                    in_argument ? "which argument has the size" : "a size", (unsigned)most);
    if (in_argument)
        parser->size_at[declaration->count] = parser->at;
    parser->at += length;
    field->size = (uint16_t)(in_argument ? DETAIL_SIZE_IN_ARGUMENT | (number - 1) : number);
    return pass(parser, "]") || fail(parser, parser->at, "a ']' is missing here");
}

static bool take_type(struct spec_parser *parser, struct detail_field *field)
{
    pass_spaces(parser);
    if (!take_name(parser, field))
        return false;
    if (pass(parser, "["))
        return field->type == DETAIL_TYPE_STRING || field->type == DETAIL_TYPE_BUFFER
                   ? take_size(parser, field)
                   : fail(parser, parser->at - 1, "only str and buf have a size");
    return field->type != DETAIL_TYPE_BUFFER ||
           fail(parser, parser->at, "a size is missing here: buf[64], or buf[arg3] if argument 3 has it");
}

static bool is_float(const struct detail_field *field)
{
    return field->type == DETAIL_TYPE_FLOAT || field->type == DETAIL_TYPE_DOUBLE;
}

static bool take_arguments(struct spec_parser *parser)
{
    struct detail_declaration *declaration = &parser->spec.declaration;

    if (is_at_end(parser) || strncmp(parser->text + parser->at, "->", 2) == 0)
        return true;
    do {
        struct detail_field *field = &declaration->fields[declaration->count];

        pass_spaces(parser);
        if (declaration->count == DETAIL_FIELDS_MAX)
            return fail(parser, parser->at, "no more than %u arguments can be recorded", DETAIL_FIELDS_MAX);
        if (!take_type(parser, field))
            return false;
        field->place =
            is_float(field) ? detail_places_next_vector(&parser->places) : detail_places_next(&parser->places);
        declaration->count++;
    } while (pass(parser, ","));
    return true;
}

static bool take_result(struct spec_parser *parser)
{
    struct detail_declaration *declaration = &parser->spec.declaration;
    struct detail_field *result = &declaration->result;

    if (!pass(parser, "->"))
        return true;
    if (!take_type(parser, result))
        return false;
    result->place = is_float(result) ? DETAIL_PLACE_VECTOR : 0;
    pass_spaces(parser);

    size_t mark = parser->at;

    declaration->has_errno = pass(parser, ERRNO_MARK);
    if (declaration->has_errno && (is_float(result) || result->type == DETAIL_TYPE_SKIPPED))
        return fail(parser, mark, "only a number or a pointer can be followed by !errno");
    return true;
}

/* An argument that has a size has to be a number of bytes. */
static bool is_size(const struct detail_declaration *declaration, unsigned which)
{
    return which < declaration->count && declaration->fields[which].type >= DETAIL_TYPE_I8 &&
           declaration->fields[which].type <= DETAIL_TYPE_HEX;
}

static bool check_sizes(struct spec_parser *parser)
{
    const struct detail_declaration *declaration = &parser->spec.declaration;

    for (unsigned i = 0; i < declaration->count; i++) {
        unsigned size = declaration->fields[i].size, which = size & ~DETAIL_SIZE_IN_ARGUMENT;

        if (size & DETAIL_SIZE_IN_ARGUMENT && !is_size(declaration, which))
            return fail(parser, parser->size_at[i],
                        which < declaration->count ? "argument %u is no number" : "there is no argument %u", which + 1);
    }
    return true;
}

static bool take_pattern(struct spec_parser *parser)
{
    const char *mark = strrchr(parser->text, ':');
    size_t length = mark == NULL ? strlen(parser->text) : (size_t)(mark - parser->text);

    if (mark == NULL)
        return fail(parser, length, "a ':' and the types of its arguments are missing here");
    if (length == 0 || parser->text[length - 1] == '!')
        return fail(parser, length, "the name of a function is missing here");
    if (length >= AGENT_PATTERN_BYTES)
        return fail(parser, AGENT_PATTERN_BYTES - 1, "the function has to have less than %u letters",
                    AGENT_PATTERN_BYTES);
    memcpy(parser->spec.pattern, parser->text, length);
    parser->at = parser->types_at = length + 1;
    return true;
}

bool arg_spec_parse(const char *text, struct arg_spec *spec_out, struct arg_spec_error *error_out)
{
    struct spec_parser parser = {.text = text, .error = error_out};

    parser.spec.declaration.is_given = 1;
    if (!take_pattern(&parser) || !take_arguments(&parser) || !take_result(&parser))
        return false;
    if (!is_at_end(&parser))
        return fail(&parser, parser.at, "this belongs to nothing; types have commas between them");
    if (parser.at == parser.types_at)
        return fail(&parser, parser.at, "types are missing here");
    if (!check_sizes(&parser))
        return false;
    *spec_out = parser.spec;
    return true;
}

/* So much of it in front of the place, and behind it. */
#define SHOWN_BEFORE 60
#define SHOWN_BEHIND 40

void arg_spec_explain(const char *text, const struct arg_spec_error *error, char *buffer, size_t buffer_bytes)
{
    size_t first = error->at > SHOWN_BEFORE ? error->at - SHOWN_BEFORE : 0;
    char shown[SHOWN_BEFORE + SHOWN_BEHIND + 1], clean[sizeof(shown)];

    snprintf(shown, sizeof(shown), "%s", text + first);
    snprintf(buffer, buffer_bytes, "%s\n  %s%s\n  %*s^", error->what, first == 0 ? "" : "...",
             printable(clean, sizeof(clean), shown), (int)(error->at - first) + (first == 0 ? 0 : 3), "");
}
