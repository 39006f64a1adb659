/* SPDX-License-Identifier: MIT */
#include "supplement.h"
bool supplement_covers(const struct sample *sample) { (void)sample; return false; }
bool supplement_accepts(const struct sample *sample) { (void)sample; return false; }
void supplement_describe(const struct sample *sample, struct form *form_out) { (void)sample; (void)form_out; }
