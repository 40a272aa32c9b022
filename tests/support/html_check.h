/* tests/support/html_check.h - is this HTML of the kind text/markdown.h promises? */
#pragma once

/*
 * NULL, or what is wrong and where: a tag or an attribute that is not on our list, one not closed
 * in order, a character not escaped, an address that must not be linked. Static text, one thread.
 */
const char *html_check(const char *html);
