/* text/type.h - the types that a parameter, a field of a result or a setting can have. */
#pragma once

enum mr_type {
	MR_TYPE_TEXT,
	MR_TYPE_INT,
	MR_TYPE_BOOL,
	MR_TYPE_REAL,   /* results only */
	MR_TYPE_TEXTS,  /* a list of texts; one text alone is a list of one */
	MR_TYPE_INTS,   /* a list of integers */
	MR_TYPE_OBJECT, /* parameters: any JSON object; results: the shape's fields, any when NULL
			 */
	MR_TYPE_LIST,   /* parameters: a list of any JSON objects; results: of the shape's */
};
