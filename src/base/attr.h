/* base/attr.h - compiler attributes and the few macros we allow ourselves. */
#pragma once

/* The result must be looked at. */
#define MR_CHECK            __attribute__((warn_unused_result))
#define MR_PRINTF(fmt, arg) __attribute__((format(printf, fmt, arg)))
/* Call `fn(&variable)` when the variable leaves its scope. */
#define MR_CLEANUP(fn) __attribute__((cleanup(fn)))
#define MR_LEN(array)  (sizeof(array) / sizeof((array)[0]))
