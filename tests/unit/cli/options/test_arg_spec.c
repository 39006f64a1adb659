/* SPDX-License-Identifier: MIT */
#include "cli/options/arg_spec.h"

#include "support/check.h"
#include "support/random.h"

static struct arg_spec spec;
static struct arg_spec_error error;

static const struct detail_field *field(unsigned which)
{
    return &spec.declaration.fields[which];
}

static void check_field(const struct detail_field *actual, enum detail_type type, unsigned place, unsigned size)
{
    CHECK_EQUAL(actual->type, type);
    CHECK_EQUAL(actual->place, place);
    CHECK_EQUAL(actual->size, size);
}

static void arguments_have_types_and_places(void)
{
    CHECK(arg_spec_parse("libc*!open:str,int", &spec, &error));
    CHECK_TEXT(spec.pattern, "libc*!open");
    CHECK(spec.declaration.is_given && !spec.declaration.has_errno);
    CHECK_EQUAL(spec.declaration.count, 2);
    check_field(field(0), DETAIL_TYPE_STRING, 0, 0);
    check_field(field(1), DETAIL_TYPE_I32, 1, 0);
    check_field(&spec.declaration.result, DETAIL_TYPE_SKIPPED, 0, 0);
    CHECK(
        arg_spec_parse("f: double , _, str[7] ,float,buf[arg6], u16, fd,hex , bool,char-> ptr !errno", &spec, &error));
    CHECK_EQUAL(spec.declaration.count, 10);
    check_field(field(0), DETAIL_TYPE_DOUBLE, DETAIL_PLACE_VECTOR, 0);
    check_field(field(1), DETAIL_TYPE_SKIPPED, 0, 0);
    check_field(field(2), DETAIL_TYPE_STRING, 1, 7);
    check_field(field(3), DETAIL_TYPE_FLOAT, DETAIL_PLACE_VECTOR + 1, 0);
    check_field(field(4), DETAIL_TYPE_BUFFER, 2, DETAIL_SIZE_IN_ARGUMENT | 5);
    check_field(field(5), DETAIL_TYPE_U16, 3, 0);
    check_field(field(6), DETAIL_TYPE_DESCRIPTOR, 4, 0);
    check_field(field(7), DETAIL_TYPE_HEX, 5, 0);
    check_field(field(8), DETAIL_TYPE_TRUTH, DETAIL_PLACE_STACK, 0);
    check_field(field(9), DETAIL_TYPE_CHARACTER, DETAIL_PLACE_STACK + 1, 0);
    check_field(&spec.declaration.result, DETAIL_TYPE_POINTER, 0, 0);
    CHECK(spec.declaration.has_errno);
}

static void results_can_stand_alone(void)
{
    CHECK(arg_spec_parse("getenv:->str[100]", &spec, &error));
    CHECK_EQUAL(spec.declaration.count, 0);
    check_field(&spec.declaration.result, DETAIL_TYPE_STRING, 0, 100);
    CHECK(arg_spec_parse("sqrt:double->double", &spec, &error));
    check_field(&spec.declaration.result, DETAIL_TYPE_DOUBLE, DETAIL_PLACE_VECTOR, 0);
}

static void names_may_have_colons(void)
{
    CHECK(arg_spec_parse("lib*!ns::it::operator->:ptr", &spec, &error));
    CHECK_TEXT(spec.pattern, "lib*!ns::it::operator->");
    CHECK_EQUAL(spec.declaration.count, 1);
}

/* A caret stands at that place. */
static void check_refused(const char *text, size_t place, const char *why)
{
    char shown[400];
    const char *caret;

    CHECK(!arg_spec_parse(text, &spec, &error));
    if (error.at != place || strstr(error.what, why) == NULL)
        printf("  %s: %s, at %zu\n", text, error.what, error.at);
    CHECK_EQUAL(error.at, place);
    CHECK(strstr(error.what, why) != NULL);
    arg_spec_explain(text, &error, shown, sizeof(shown));
    CHECK(strncmp(shown, error.what, strlen(error.what)) == 0);
    caret = strrchr(shown, '\n');
    CHECK(caret != NULL && shown[strlen(shown) - 1] == '^');
    if (strlen(text) < 60)
        CHECK_EQUAL(strlen(caret + 1), 2 + place + 1);
}

static void what_is_wrong_is_told_with_its_place(void)
{
    char longest[400];

    check_refused("open", 4, "a ':'");
    check_refused(":int", 0, "name of a function");
    check_refused("libc!:int", 5, "name of a function");
    check_refused("open:", 5, "types are missing");
    check_refused("open:str,imt", 9, "'imt' is no type; is it int?");
    check_refused("open:str,frobnicate", 9, "those are int");
    check_refused("open:str,,int", 9, "a type is missing");
    check_refused("open:str,", 9, "a type is missing");
    check_refused("open:str int", 9, "belongs to nothing");
    check_refused("open:str->", 10, "a type is missing");
    check_refused("open:str->int!perrno", 13, "belongs to nothing");
    check_refused("open:str!errno", 8, "belongs to nothing");
    check_refused("open:->double!errno", 13, "only a number or a pointer");
    check_refused("open:->_!errno", 8, "only a number or a pointer");
    check_refused("open:buf", 8, "a size is missing");
    check_refused("open:buf[]", 9, "a number from 1 to 512");
    check_refused("open:buf[0]", 9, "a number from 1 to 512");
    check_refused("open:str[513]", 9, "a number from 1 to 512");
    check_refused("open:buf[arg13]", 12, "a number from 1 to 12");
    check_refused("open:buf[4", 10, "']' is missing");
    check_refused("open:int[4]", 8, "only str and buf");
    check_refused("open:str,buf[arg3]", 16, "there is no argument 3");
    check_refused("open:buf[arg2],str", 12, "argument 2 is no number");
    check_refused("open:int->buf[arg1]", 17, "size that is a number");
    check_refused("f:_,_,_,_,_,_,_,_,_,_,_,_,_", 26, "no more than 12");
    memset(longest, 'f', sizeof(longest));
    strcpy(longest + 200, ":int");
    check_refused(longest, AGENT_PATTERN_BYTES - 1, "less than 120");
    strcpy(longest + 100, ":int,imt");
    check_refused(longest, 105, "'imt'");
}

/* What goes to the terminal has no control characters of its own. */
static void what_is_shown_is_clean(void)
{
    char shown[400];

    CHECK(!arg_spec_parse("f\033[1m:imt", &spec, &error));
    arg_spec_explain("f\033[1m:imt", &error, shown, sizeof(shown));
    CHECK(strchr(shown, '\033') == NULL);
}

/* Places are within the text, and what is accepted can be taken by the agent as it is. */
static void anything_may_be_written(void)
{
    static const char *const parts[] = {"int", "str",   "buf", "[", "]",    "arg",    "1",      "12",
                                        "512", ",",     "->",  "_", "!err", "!errno", "double", "ptr",
                                        " ",   "float", ":",   "f", "4",    "-"};
    struct random random;
    char text[200], shown[400];
    unsigned accepted = 0;

    random_init(&random, 7);
    for (unsigned round = 0; round < 200000; round++) {
        size_t count = random_below(&random, 12);

        strcpy(text, random_chance(&random, 9, 10) ? "f:" : "");
        for (size_t i = 0; i < count; i++)
            strcat(text, parts[random_below(&random, sizeof(parts) / sizeof(parts[0]))]);
        if (random_chance(&random, 1, 4) && text[0] != '\0')
            text[random_below(&random, strlen(text))] = (char)(1 + random_below(&random, 255));
        if (!arg_spec_parse(text, &spec, &error)) {
            CHECK(error.at <= strlen(text) && error.what[0] != '\0');
            arg_spec_explain(text, &error, shown, sizeof(shown));
            continue;
        }
        accepted++;
        CHECK(spec.declaration.is_given && spec.declaration.count <= DETAIL_FIELDS_MAX && spec.pattern[0] != '\0');
        for (unsigned i = 0; i < spec.declaration.count; i++) {
            CHECK(field(i)->type < DETAIL_TYPES && field(i)->place != DETAIL_PLACE_NONE);
            CHECK((field(i)->size & DETAIL_SIZE_IN_ARGUMENT) == 0 ||
                  (field(i)->size & ~DETAIL_SIZE_IN_ARGUMENT) < spec.declaration.count);
        }
    }
    CHECK(accepted > 1000);
}

static const struct check_case cases[] = {
    CHECK_CASE(arguments_have_types_and_places), CHECK_CASE(results_can_stand_alone),
    CHECK_CASE(names_may_have_colons),           CHECK_CASE(what_is_wrong_is_told_with_its_place),
    CHECK_CASE(what_is_shown_is_clean),          CHECK_CASE(anything_may_be_written),
};

CHECK_MAIN(cases)
