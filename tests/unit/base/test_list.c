/* SPDX-License-Identifier: MIT */
#include "base/list.h"

#include "support/check.h"

struct item {
    int number;
    struct list_node node;
};

static int assertions;

static void count_assertion(const char *text, const char *file, int line)
{
    (void)text;
    (void)file;
    (void)line;
    assertions++;
}

/* The numbers in the list, in order, as the digits of one number. */
static unsigned long digits(struct list_node *list)
{
    unsigned long value = 0;

    CHECK(list_check(list));
    LIST_FOR_EACH (node, list)
        value = value * 10 + (unsigned long)LIST_ELEMENT(node, struct item, node)->number;
    return value;
}

static void an_empty_list_has_nothing(void)
{
    struct list_node list;

    list_init(&list);
    CHECK(list_is_empty(&list));
    CHECK(list_first(&list) == NULL);
    CHECK(list_last(&list) == NULL);
    CHECK_EQUAL(list_length(&list), 0);
    CHECK_EQUAL(digits(&list), 0);
}

static void nodes_stay_in_the_order_they_were_added_in(void)
{
    struct item items[6] = {{.number = 0}, {.number = 1}, {.number = 2}, {.number = 3}, {.number = 4}, {.number = 5}};
    struct list_node list;

    list_init(&list);
    list_add_last(&list, &items[2].node);
    list_add_last(&list, &items[4].node);
    list_add_first(&list, &items[1].node);
    list_add_before(&items[4].node, &items[3].node);
    list_add_before(&list, &items[5].node);
    CHECK_EQUAL(digits(&list), 12345);
    CHECK_EQUAL(list_length(&list), 5);
    CHECK(list_first(&list) == &items[1].node);
    CHECK(list_last(&list) == &items[5].node);
    CHECK(list_contains_node(&items[3].node));
    CHECK(!list_contains_node(&items[0].node));
}

static void removed_nodes_are_gone_and_can_be_added_again(void)
{
    struct item items[3] = {{.number = 1}, {.number = 2}, {.number = 3}};
    struct list_node list;

    list_init(&list);
    for (int i = 0; i < 3; i++)
        list_add_last(&list, &items[i].node);
    list_remove(&items[1].node);
    list_remove(&items[1].node);
    CHECK(!list_contains_node(&items[1].node));
    CHECK_EQUAL(digits(&list), 13);
    list_add_first(&list, &items[1].node);
    CHECK_EQUAL(digits(&list), 213);
}

static void the_visited_node_may_be_removed(void)
{
    struct item items[6] = {{.number = 1}, {.number = 2}, {.number = 3}, {.number = 4}, {.number = 5}, {.number = 6}};
    struct list_node list;

    list_init(&list);
    for (int i = 0; i < 6; i++)
        list_add_last(&list, &items[i].node);
    LIST_FOR_EACH_REMOVABLE (node, &list) {
        if (LIST_ELEMENT(node, struct item, node)->number % 2 == 0)
            list_remove(node);
    }
    CHECK_EQUAL(digits(&list), 135);
}

static void appending_moves_all_nodes(void)
{
    struct item items[4] = {{.number = 1}, {.number = 2}, {.number = 3}, {.number = 4}};
    struct list_node list, other;

    list_init(&list);
    list_init(&other);
    list_append(&list, &other);
    CHECK_EQUAL(digits(&list), 0);
    list_add_last(&list, &items[0].node);
    list_add_last(&list, &items[1].node);
    list_add_last(&other, &items[2].node);
    list_add_last(&other, &items[3].node);
    list_append(&list, &other);
    CHECK_EQUAL(digits(&list), 1234);
    CHECK(list_is_empty(&other) && list_check(&other));
}

static void misuse_is_asserted(void)
{
#ifndef NDEBUG
    struct item item = {.number = 1};
    struct list_node list;

    list_init(&list);
    list_add_last(&list, &item.node);
    assert_handler_set(count_assertion);
    assertions = 0;
    list_add_last(&list, &item.node);
    CHECK_EQUAL(assertions, 1);
    item.node.next = &list;
    list.previous = &list;
    CHECK(!list_check(&list));
    list_remove(&item.node);
    CHECK_EQUAL(assertions, 2);
    assert_handler_set(NULL);
#endif
    (void)count_assertion;
}

static const struct check_case cases[] = {
    CHECK_CASE(an_empty_list_has_nothing),
    CHECK_CASE(nodes_stay_in_the_order_they_were_added_in),
    CHECK_CASE(removed_nodes_are_gone_and_can_be_added_again),
    CHECK_CASE(the_visited_node_may_be_removed),
    CHECK_CASE(appending_moves_all_nodes),
    CHECK_CASE(misuse_is_asserted),
};

CHECK_MAIN(cases)
