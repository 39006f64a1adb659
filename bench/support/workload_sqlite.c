/* SPDX-License-Identifier: MIT */
/*
 * sqlite: a database in memory, filled, indexed, sorted, joined, changed and closed by each run. Large functions with
 * large switches, and a virtual machine of its own. Every query orders its rows fully, so the checksum of all that it
 * returns depends on nothing else.
 */
#include "support/workload.h"

#include "support/checksum.h"
#include "support/random.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define ORDERS              90000
#define ORDERS_PER_CUSTOMER 9
#define REGIONS             12
#define DATA_SEED           0x5911

struct order {
    int customer, amount, day;
    char note[24];
};

struct shop {
    int customer_count, order_count;
    struct order *orders;
};

static const char schema[] = "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, region INTEGER);"
                             "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, amount INTEGER,"
                             " day INTEGER, note TEXT);"
                             "BEGIN";

static const char insert_customer[] = "INSERT INTO customers VALUES (?1, printf('customer %d', ?1 * 7919 % 10007), ?2)";
static const char insert_order[] = "INSERT INTO orders (customer, amount, day, note) VALUES (?1, ?2, ?3, ?4)";

static const char *const queries[] = {
    "COMMIT",
    /* the first of all, kept in order while reading */
    "SELECT id, amount, note FROM orders ORDER BY amount DESC, note, id LIMIT 500",
    /* a join, whose rows are sorted to be grouped */
    "SELECT region, count(*), sum(amount), max(note) FROM orders JOIN customers ON customers.id = customer"
    " WHERE day < 150 GROUP BY region ORDER BY region",
    /* a sort of everything */
    "CREATE INDEX orders_by_customer ON orders (customer)",
    /* a join through the index, and a search in text */
    "SELECT name, count(*) AS visits, min(day) FROM customers JOIN orders ON customer = customers.id"
    " WHERE region < 3 AND note LIKE '%7a%' GROUP BY customers.id ORDER BY visits DESC, name, customers.id LIMIT 300",
    "UPDATE orders SET amount = amount + 5 WHERE customer % 11 = 3",
    "DELETE FROM orders WHERE day % 13 = 4",
    "SELECT count(*), sum(amount), max(note) FROM orders",
};

static void discard(void *state)
{
    struct shop *shop = state;

    if (shop == NULL)
        return;
    free(shop->orders);
    free(shop);
}

static void fill(struct shop *shop)
{
    struct random random;

    random_init(&random, DATA_SEED);
    for (int i = 0; i < shop->order_count; i++) {
        struct order *order = &shop->orders[i];

        order->customer = 1 + (int)random_below(&random, (uint64_t)shop->customer_count);
        order->amount = (int)random_below(&random, 10000);
        order->day = (int)random_below(&random, 365);
        snprintf(order->note, sizeof(order->note), "parcel %08x", (unsigned)random_u64(&random));
    }
}

static int prepare(const void *subject, unsigned scale_percent, void **state_out)
{
    struct shop *shop = calloc(1, sizeof(*shop));

    (void)subject;
    if (shop == NULL)
        return -ENOMEM;
    shop->order_count = (int)workload_scale(ORDERS, scale_percent);
    shop->customer_count = 1 + shop->order_count / ORDERS_PER_CUSTOMER;
    shop->orders = calloc((size_t)shop->order_count, sizeof(*shop->orders));
    if (shop->orders == NULL) {
        discard(shop);
        return -ENOMEM;
    }
    fill(shop);
    *state_out = shop;
    return 0;
}

static bool finish_insert(sqlite3_stmt *statement)
{
    return sqlite3_step(statement) == SQLITE_DONE && sqlite3_reset(statement) == SQLITE_OK;
}

static bool insert_customers(sqlite3 *database, const struct shop *shop)
{
    sqlite3_stmt *statement;
    bool is_done = sqlite3_prepare_v2(database, insert_customer, -1, &statement, NULL) == SQLITE_OK;

    for (int i = 1; is_done && i <= shop->customer_count; i++) {
        sqlite3_bind_int(statement, 1, i);
        sqlite3_bind_int(statement, 2, i % REGIONS);
        is_done = finish_insert(statement);
    }
    sqlite3_finalize(statement);
    return is_done;
}

static bool insert_orders(sqlite3 *database, const struct shop *shop)
{
    sqlite3_stmt *statement;
    bool is_done = sqlite3_prepare_v2(database, insert_order, -1, &statement, NULL) == SQLITE_OK;

    for (int i = 0; is_done && i < shop->order_count; i++) {
        const struct order *order = &shop->orders[i];

        sqlite3_bind_int(statement, 1, order->customer);
        sqlite3_bind_int(statement, 2, order->amount);
        sqlite3_bind_int(statement, 3, order->day);
        sqlite3_bind_text(statement, 4, order->note, -1, SQLITE_STATIC);
        is_done = finish_insert(statement);
    }
    sqlite3_finalize(statement);
    return is_done;
}

static uint64_t add_row(uint64_t checksum, sqlite3_stmt *statement)
{
    for (int column = 0; column < sqlite3_column_count(statement); column++) {
        const unsigned char *text = sqlite3_column_text(statement, column);

        checksum = checksum_add_bytes(checksum, text, (size_t)sqlite3_column_bytes(statement, column));
    }
    return checksum;
}

static bool run_query(sqlite3 *database, const char *query, uint64_t *checksum)
{
    sqlite3_stmt *statement;
    int status = sqlite3_prepare_v2(database, query, -1, &statement, NULL);

    if (status == SQLITE_OK)
        status = sqlite3_step(statement);
    for (; status == SQLITE_ROW; status = sqlite3_step(statement))
        *checksum = add_row(*checksum, statement);
    sqlite3_finalize(statement);
    return status == SQLITE_DONE;
}

static bool work(sqlite3 *database, const struct shop *shop, uint64_t *checksum)
{
    if (sqlite3_exec(database, schema, NULL, NULL, NULL) != SQLITE_OK || !insert_customers(database, shop) ||
        !insert_orders(database, shop))
        return false;
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
        if (!run_query(database, queries[i], checksum))
            return false;
    return true;
}

static uint64_t run(void *state)
{
    static const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    sqlite3 *database = NULL;
    uint64_t checksum = CHECKSUM_START;
    bool is_done = sqlite3_open_v2(":memory:", &database, flags, NULL) == SQLITE_OK && work(database, state, &checksum);

    sqlite3_close(database);
    return is_done ? checksum : WORKLOAD_FAILED;
}

const struct workload workload_sqlite = {
    .name = "sqlite",
    .prepare = prepare,
    .run = run,
    .discard = discard,
};
