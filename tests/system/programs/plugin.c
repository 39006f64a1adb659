/* SPDX-License-Identifier: MIT */
/* A library of which there are several, that differ in the name of their function and the size of its frame. */
#define JOIN(left, right) left##right
#define NAME(letter)      JOIN(plugin_, letter)

void NAME(LETTER)(void (*leaf)(int), int number);

void NAME(LETTER)(void (*leaf)(int), int number)
{
    volatile char bytes[FRAME_BYTES];

    bytes[0] = (char)number;
    leaf(bytes[0]);
    bytes[FRAME_BYTES - 1] = 1;
}
