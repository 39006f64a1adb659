#!/bin/sh
# SPDX-License-Identifier: MIT
# Many processes, one after the other.
for i in 1 2 3 4 5 6 7 8 9 10; do
    (exit "$i")
    /bin/true
    x=$(/bin/echo "$i")
done
/bin/ls /no/such/folder
kill -USR1 $$ 2>/dev/null
exit "$x"
