/* mailbox/jmap_email_private.h - the headers that both halves of jmap_email know. */
#pragma once

#include "mailbox/jmap_email.h"

#define MR_JMAP_EMAIL_HEADER "X-Houmao-Message"

/* The same as properties of an Email. */
#define MR_JMAP_EMAIL_HEADER_TEXT "header:X-Houmao-Message:asText"
#define MR_JMAP_EMAIL_ORIGIN_TEXT "header:X-Houmao-Origin:asText"
#define MR_JMAP_EMAIL_POLICY_TEXT "header:X-Houmao-Reply-Policy:asText"
