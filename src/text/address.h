/*
 * text/address.h - a mailbox address, "local@domain". Pure: no I/O, no globals.
 *
 * ASCII only; case counts. The local part is letters, digits and . _ + - and begins with a letter
 * or a digit; the domain is letters, digits, '.' and '-', and begins and ends with a letter or a
 * digit; neither holds "..". Such a text is also a safe name for a file. Which addresses are
 * reserved, or taken, is not known here.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

/* What is added to an address in a file name, "--" and 32 digits, must still fit into 255. */
enum { MR_ADDRESS_BYTES = 221 };

struct mr_address {
	const char *full;
	const char *local;
	const char *domain;
};

/*
 * Read an address; Unicode white space around it is ignored. The strings of `*out` live in `arena`.
 * MR_EINVAL says what is wrong, in words that can follow the name of a field ("must not be empty"),
 * and at which byte of `text`; MR_ELIMIT is an address that is too long.
 */
MR_CHECK enum mr_code mr_address_parse(struct mr_arena *arena, const char *text,
	struct mr_address *out, struct mr_err *err);

/*
 * The same for an address that is to be made: a domain that ends in "--" and 32 hexadecimal digits
 * is MR_EINVAL too, since directories that were set aside are named so.
 */
MR_CHECK enum mr_code mr_address_parse_new(struct mr_arena *arena, const char *text,
	struct mr_address *out, struct mr_err *err);
