/* SPDX-License-Identifier: MIT */
/* Calls an indirect function of a library. */
int picked(int number);

int main(int count, char **words)
{
    (void)words;
    return picked(count) - 3;
}
