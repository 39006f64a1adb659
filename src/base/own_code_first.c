/* SPDX-License-Identifier: MIT */
/* The first code of the core, by the order in which it is linked. */
#include "base/own_code.h"

void own_code_first(void)
{
}
