/* SPDX-License-Identifier: MIT */
/* Floating point: the mathematical library, all widths, rounding modes, exceptions' flags, formatting and parsing. */
#include <complex.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

int main(void)
{
    volatile double one = 1, three = 3, zero = 0;
    double sum = 0, parsed = 0;
    char text[64];

    for (int i = 1; i < 2000; i++) {
        double x = i / 100.0;

        sum += sin(x) * cos(x / 3) + exp(-x) - log(x) * atan2(x, 7) + pow(x, 0.3) / tgamma(1 + x / 10);
        sum += cbrt(x) + hypot(x, 2) + fmod(x, 0.7) + erf(x) + lgamma(x);
    }
    printf("%.17g\n", sum);
    for (int i = 0; i < 4; i++) {
        fesetround(modes[i]);
        printf("%.20f %ld %.17Lg\n", one / three, lrint(2.5 * one), (long double)one / three);
    }
    fesetround(FE_TONEAREST);
    for (int i = -300; i < 300; i += 37) {
        snprintf(text, sizeof(text), "%.15ge%d", 1.23456789012345 + i / 1000.0, i);
        parsed = strtod(text, NULL);
        printf("%s %a %.6g\n", text, parsed, parsed);
    }
    feclearexcept(FE_ALL_EXCEPT);
    one /= zero;
    printf("%f %f %d\n", one, zero / zero, fetestexcept(FE_DIVBYZERO | FE_INVALID) != 0);
    printf("%.12f %.12f\n", creal(cexp(I * M_PI)), cimag(csqrt(-1)));
    printf("%.25Lf %.9f\n", sqrtl(2), (double)sqrtf(2));
    return 0;
}
