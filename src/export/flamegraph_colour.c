/* SPDX-License-Identifier: MIT */
/* The file chooses the hue, the name varies it a little; all in whole numbers, so that every machine agrees. */
#include "export/flamegraph_colour.h"

#define GREY     0xc9ccd4u
#define CIRCLE   360u
#define THOUSAND 1000u

static uint32_t hash(const char *text)
{
    uint32_t value = 2166136261u;

    for (; *text != '\0'; text++)
        value = (value ^ (unsigned char)*text) * 16777619u;
    /* The last letters are to matter for the high bits, too. */
    value ^= value >> 15;
    value *= 0x2c1b3c6du;
    return value ^ value >> 13;
}

/* One of red, green and blue: how much of it there is at a distance from its own hue. */
static uint32_t part(uint32_t hue, uint32_t lightness, uint32_t saturation)
{
    uint32_t chroma = saturation * (lightness > 500 ? 2 * (THOUSAND - lightness) : 2 * lightness) / THOUSAND;
    uint32_t low = lightness - chroma / 2, share;

    hue %= CIRCLE;
    if (hue > CIRCLE / 2)
        hue = CIRCLE - hue;
    share = hue <= 60 ? THOUSAND : hue >= 120 ? 0 : (120 - hue) * THOUSAND / 60;
    return (low + chroma * share / THOUSAND) * 255 / THOUSAND;
}

uint32_t flamegraph_colour(const char *name, const char *module, bool is_program)
{
    static const uint16_t hues[] = {85, 130, 170, 200, 240, 280, 320};
    uint32_t vary = hash(name), hue, lightness = 690 + vary / 256 % 110, saturation = 600 + vary / 65536 % 250;

    if (module[0] == '\0')
        return GREY;
    hue = is_program ? 14 + vary % 38 : hues[hash(module) % (sizeof(hues) / sizeof(hues[0]))] + vary % 32;
    return part(hue, lightness, saturation) << 16 | part(hue + 240, lightness, saturation) << 8 |
           part(hue + 120, lightness, saturation);
}
