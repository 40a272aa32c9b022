/* mailbox/jmap_email_private.h - the headers that the two halves of jmap_email share. */
#pragma once

#include "mailbox/jmap_email.h"

#define MR_JMAP_EMAIL_HEADER "X-Houmao-Message"
#define MR_JMAP_EMAIL_ORIGIN "X-Houmao-Origin"
#define MR_JMAP_EMAIL_POLICY "X-Houmao-Reply-Policy"

#define MR_JMAP_EMAIL_AS_TEXT(name) "header:" name ":asText"
