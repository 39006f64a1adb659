/* SPDX-License-Identifier: MIT */
/*
 * A shop with static probes, which nobody looks at here; with
 * "gait spawn --probe 'usdt::shop:*' build/examples/static_probe" each order is in a trace, with its price.
 *
 * Shows: probes with arguments, and a semaphore for one whose argument costs something. Uses gait/probe.h.
 */
#include "gait/probe.h"

#include <stdio.h>

GAIT_PROBE_SEMAPHORE(shop, order_priced);

struct order {
    int number;
    const char *what;
    unsigned grams;
};

/* Takes long enough that it is not done for nothing. */
static unsigned long price(const struct order *order)
{
    unsigned long cents = 0;

    for (unsigned i = 0; i < order->grams; i++)
        cents += i % 7;
    return cents;
}

static void take(const struct order *order)
{
    GAIT_PROBE(shop, order_taken, order->number, order->what, order->grams);
    GAIT_PROBE_IF_ENABLED(shop, order_priced, order->number, price(order));
    printf("    order %d: %u g of %s\n", order->number, order->grams, order->what);
}

int main(void)
{
    static const struct order orders[] = {{1, "tea", 250}, {2, "plums", 1000}, {3, "flour", 5000}};

    printf("A shop takes orders:\n");
    for (unsigned i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
        take(&orders[i]);
    printf("Somebody looks at its probes: %s.\n", GAIT_PROBE_ENABLED(shop, order_priced) ? "yes" : "no");
    return 0;
}
