/*
 * op/mailbox/contract_mail.h - the contract of agents' mail: whom a command is for, and how it is
 * answered as mailroom and as houmao-mgr.
 */
#pragma once

#include "op/contract.h"

/* Of mailroom: the part of an operation is a struct mr_mail_session, with the mail open. */
extern const struct mr_contract mr_contract_mail;
/* The same for commands about an agent itself: no mail is opened, and no address stands for one. */
extern const struct mr_contract mr_contract_agent;
