/* text/yaml_scalar.h - what a plain scalar of YAML 1.1 is. Pure; time follows its length. */
#pragma once

#include "text/value.h"

/*
 * Type `text` as PyYAML's safe loader would: null, boolean, integer, float, else text (dates are
 * text). Fills `out` except `plain`; a MR_TEXT points to `text` itself. Returns NULL, or what is
 * wrong with a number, and then `*out` is untouched.
 */
const char *mr_yaml_scalar_read(const char *text, struct mr_value *out);

/* Is the text one of the words for null, true or false, in YAML 1.1 or 1.2? */
bool mr_yaml_scalar_is_keyword(const char *text);
