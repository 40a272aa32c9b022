/*
 * op/command.c - Derives the tree of commands and option names from the operation table.
 */
#include "op/command.h"

#include <string.h>

/* One line about each group of commands; a group not listed here shows only its commands. */
static const struct {
	const char *path;
	const char *summary;
} groups[] = {
	{ "guard", "Git hooks that keep commits and pushes off files that others hold" },
	{ "guard hook", "For a coding agent's own hooks: before it edits a file" },
	{ "agents", "Agents on this machine, and the mailboxes they have" },
	{ "agents gateway", "What an agent's gateway does for it" },
	{ "agents gateway mail-notifier", "Whether an agent is woken by new mail, and how" },
	{ "agents mail", "The same as mailroom mail" },
	{ "agents mailbox", "The mailbox that an agent has" },
	{ "skills", "Skills that teach agents their mail, in the homes of their programs" },
	{ "mail", "An agent's mail: look, read, send, answer, mark, move" },
	{ "mailbox", "Mailbox roots: addresses and their mail, in plain files" },
	{ "mailbox accounts", "The addresses of a root" },
	{ "mailbox messages", "The messages of an address" },
	{ "service", "The server as a service of your own systemd, started when it is needed" },
	{ "team", "Agents that share repositories: names, mail, file leases, search" },
	{ "team acks", "Acknowledgements that an agent owes" },
	{ "team contact", "Who may write to whom between projects" },
	{ "team macro", "The usual calls as one" },
	{ "team product", "Projects that belong together: one inbox, one search" },
	{ "team share", "A copy of the mail for others to read, without secrets" },
	{ "team group", "Several agents under one address, written to as @name" },
	{ "team slot", "Turns at what only one agent may do at a time" },
	{ "work",
		"A person's e-mail as files that an agent works; the same as the program afmail" },
	{ "work archive", "Archived cases, and categories of archived messages" },
	{ "work archive case", "Archived cases" },
	{ "work archive case notes", "The notes of an archived case" },
	{ "work archive message", "Categories of archived messages" },
	{ "work archive message notes", "The notes of a category" },
	{ "work case", "Messages that belong together, with notes, files and drafts" },
	{ "work case draft", "Drafts of mail in a case" },
	{ "work case notes", "The notes of a case" },
	{ "work config", "The configuration of the workspace" },
	{ "work contact", "People, and their addresses" },
	{ "work contact email", "The addresses of a contact" },
	{ "work contact notes", "The notes on a contact" },
	{ "work contact phone", "The telephone numbers of a contact" },
	{ "work log", "What was done in the workspace, and why" },
	{ "work message", "Single messages" },
	{ "work message attachment", "The attachments of a message" },
	{ "work remote", "The mail server" },
	{ "work render", "Generated files: views and templates" },
	{ "work skill", "The skill that teaches agents this program" },
	{ "work suggestion", "What an agent would do, for a person to decide" },
	{ "work triage", "Messages that wait for a decision" },
};

const struct mr_op *mr_command_find(const struct mr_op_table *table, const char *path)
{
	for (size_t i = 0; i < table->len; i++) {
		if (mr_str_eq(table->ops[i]->command, path))
			return table->ops[i];
	}
	return NULL;
}

/* What follows `path` in a longer command, or NULL. */
static const char *tail_of(const struct mr_op *op, const char *path)
{
	size_t len = strlen(path);

	if (!op->command || strncmp(op->command, path, len) != 0)
		return NULL;
	if (len == 0)
		return op->command;
	return op->command[len] == ' ' ? op->command + len + 1 : NULL;
}

const struct mr_op *mr_command_first(const struct mr_op_table *table, const char *path)
{
	for (size_t i = 0; i < table->len; i++) {
		if (mr_str_eq(table->ops[i]->command, path) || tail_of(table->ops[i], path))
			return table->ops[i];
	}
	return NULL;
}

bool mr_command_is_group(const struct mr_op_table *table, const char *path)
{
	for (size_t i = 0; i < table->len; i++) {
		if (tail_of(table->ops[i], path))
			return true;
	}
	return false;
}

static struct mr_texts find_words(struct mr_arena *arena, const struct mr_op_table *table,
	const char *path, bool hidden)
{
	struct mr_texts words = { NULL, 0 };

	words.items = mr_arena_array(arena, table->len + 1, sizeof(*words.items));
	for (size_t i = 0; i < table->len; i++) {
		const char *tail = tail_of(table->ops[i], path);
		const char *word;

		if (!tail || (table->ops[i]->traits & MR_HIDDEN && !hidden))
			continue;
		word = mr_arena_strndup(arena, tail, strcspn(tail, " "));
		if (!mr_texts_has(&words, word))
			words.items[words.len++] = word;
	}
	return words;
}

struct mr_texts mr_command_words(struct mr_arena *arena, const struct mr_op_table *table,
	const char *path)
{
	struct mr_texts words = find_words(arena, table, path, false);

	/* Who asks about a group of older names wants to see them. */
	return words.len ? words : find_words(arena, table, path, true);
}

const char *mr_command_about(struct mr_arena *arena, const struct mr_op_table *table,
	const char *path)
{
	const char *whole =
		mr_arena_printf(arena, "%s%s", table->within ? table->within : "", path);
	struct mr_texts words;

	for (size_t i = 0; i < MR_LEN(groups); i++) {
		if (mr_str_eq(groups[i].path, whole))
			return groups[i].summary;
	}
	words = mr_command_words(arena, table, path);
	return mr_str_join(arena, &words, ", ");
}

const char *mr_command_join(struct mr_arena *arena, const char *path, const char *word)
{
	return mr_arena_printf(arena, "%s%s%s", path, *path ? " " : "", word);
}

const char *mr_command_option(struct mr_arena *arena, const struct mr_param *param)
{
	char *option = mr_arena_printf(arena, "--%s", param->name);

	for (char *c = option; *c; c++)
		*c = *c == '_' ? '-' : *c;
	return option;
}
