/*
 * op/member.h - a member of a C struct, as a table names it.
 *
 * A parameter says with MR_INTO() which member of the request its value goes into, a field with
 * MR_FROM() and its relatives which member of the result it comes from. The macros take the name of
 * the struct and of the member and find out the rest: a member that is not there, a struct where a
 * text is meant, or elements of another type do not compile. What remains to be compared, the
 * struct of a table with that of its operation, test_bind compares for all operations.
 *
 * Members of members are named with a dot: MR_FROM(struct mr_team_lease, reservation.id).
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types and members of structs cannot stand in parentheses. NOLINTBEGIN(bugprone-macro-parentheses)
 */

struct mr_value;

enum mr_ctype {
	MR_C_NONE, /* the table names no member */
	MR_C_TEXT, /* const char *, NULL: nothing */
	MR_C_INT64,
	MR_C_INT,
	MR_C_UNSIGNED, /* an enum, or a number */
	MR_C_ULONG,    /* size_t */
	MR_C_BOOL,
	MR_C_REAL,
	MR_C_TEXTS,
	MR_C_VALUE,   /* const struct mr_value *, NULL: nothing */
	MR_C_TIME,    /* int64_t: microseconds since 1970, 0: no time */
	MR_C_IDS,     /* const int64_t *, and how many in another member */
	MR_C_STRUCT,  /* embedded */
	MR_C_POINTER, /* to a struct, NULL: nothing */
	MR_C_LIST,    /* a pointer to structs, and how many in another member */
};

struct mr_member {
	const char *of; /* the struct it is a member of: "struct mr_team_lease" */
	size_t offset;
	enum mr_ctype type;
	/* Of structs: their own name and size. */
	const char *item;
	size_t item_size;
	size_t len_offset; /* of a list: where its length is, a size_t */
};

#define MR_MEMBER_OF(struct_type, member) (((struct_type *)0)->member)

#define MR_CTYPE(expression)                                                                       \
	_Generic((expression),                                                                     \
		const char *: MR_C_TEXT,                                                           \
		char *: MR_C_TEXT,                                                                 \
		int64_t: MR_C_INT64,                                                               \
		int: MR_C_INT,                                                                     \
		unsigned: MR_C_UNSIGNED,                                                           \
		unsigned long: MR_C_ULONG,                                                         \
		bool: MR_C_BOOL,                                                                   \
		double: MR_C_REAL,                                                                 \
		struct mr_texts: MR_C_TEXTS,                                                       \
		const struct mr_value *: MR_C_VALUE)

#define MR_MEMBER(struct_type, member)                                                             \
	{                                                                                          \
		.of = #struct_type, .offset = offsetof(struct_type, member),                       \
		.type = MR_CTYPE(MR_MEMBER_OF(struct_type, member))                                \
	}

/* Where a parameter's value goes. A text that is left out is NULL; a number, a flag or an enum is
 * then the parameter's `fallback`, else 0 and false; a flag that goes into an int is then -1. An
 * enum is the place of the text in the parameter's `choices`. */
#define MR_INTO(struct_type, member) MR_MEMBER(struct_type, member)
/* A list of integers, and its length. */
#define MR_INTO_IDS(struct_type, member, count)                                                      \
	{                                                                                            \
		.of = #struct_type, .offset = offsetof(struct_type, member),                       \
		.type = _Generic(MR_MEMBER_OF(struct_type, member), const int64_t *: MR_C_IDS),    \
		.len_offset = _Generic(MR_MEMBER_OF(struct_type, count),                           \
				size_t: offsetof(struct_type, count)) \
	}

/* Where a field's value comes from. An enum's text is the one that its `choices` have at its place.
 */
#define MR_FROM(struct_type, member) MR_MEMBER(struct_type, member)
/* An int64_t that is a time. */
#define MR_FROM_TIME(struct_type, member)                                                          \
	{                                                                                          \
		.of = #struct_type, .offset = offsetof(struct_type, member),                       \
		.type = _Generic(MR_MEMBER_OF(struct_type, member), int64_t                        \
				 : MR_C_TIME)                                                      \
	}
/* A struct, embedded or pointed to: `item_type` is its type. */
#define MR_FROM_STRUCT(struct_type, member, item_type)                                               \
	{                                                                                            \
		.of = #struct_type, .offset = offsetof(struct_type, member),                       \
		.type = _Generic(&MR_MEMBER_OF(struct_type, member),                               \
				item_type *: MR_C_STRUCT,                                          \
				item_type **: MR_C_POINTER,                                        \
				const item_type **: MR_C_POINTER),                                 \
		.item = #item_type, .item_size = sizeof(item_type) \
	}
/* The struct itself: for an object whose members are not in a struct of their own. */
#define MR_FROM_SAME(struct_type)                                                                  \
	{                                                                                          \
		.of = #struct_type, .type = MR_C_STRUCT, .item = #struct_type,                     \
		.item_size = sizeof(struct_type)                                                   \
	}
/* A list: the pointer to its first element, and the size_t that counts them. */
#define MR_FROM_ROWS(struct_type, member, count, item_type)                                          \
	{                                                                                            \
		.of = #struct_type, .offset = offsetof(struct_type, member),                       \
		.type = _Generic(MR_MEMBER_OF(struct_type, member),                                \
				item_type *: MR_C_LIST,                                            \
				const item_type *: MR_C_LIST),                                     \
		.item = #item_type, .item_size = sizeof(item_type),                                \
		.len_offset = _Generic(MR_MEMBER_OF(struct_type, count),                           \
				size_t: offsetof(struct_type, count)) \
	}
/* The same of a struct that has them as `items` and `len`. */
#define MR_FROM_LIST(struct_type, member, item_type)                                               \
	MR_FROM_ROWS(struct_type, member.items, member.len, item_type)

/* A bool that says whether something was given, or is to be shown. */
#define MR_FLAG(struct_type, member)                                                               \
	{                                                                                          \
		.of = #struct_type, .offset = offsetof(struct_type, member),                       \
		.type = _Generic(MR_MEMBER_OF(struct_type, member), bool                           \
				 : MR_C_BOOL)                                                      \
	}
/* NOLINTEND(bugprone-macro-parentheses) */
