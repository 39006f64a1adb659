/* SPDX-License-Identifier: MIT */
/* The gait command. */
#include "gait/version.h"

#include <stdio.h>

int main(void)
{
    printf("gait %s\n", gait_version());
    return 0;
}
