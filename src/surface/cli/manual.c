/*
 * surface/cli/manual.c - Writes manual pages from the operation table: one about the program, and
 * one for each first word of its commands, with everything below that word.
 */
#include "surface/cli/manual.h"

#include "app/settings.h"
#include "base/utf8.h"
#include "op/command.h"
#include "op/contract.h"
#include "op/help.h"

#include <ctype.h>
#include <string.h>

struct writing {
	struct mr_arena *arena;
	struct mr_buf *out;
	const struct mr_op_table *table;
};

/* What troff would read as something else. The last two letters are the name of its glyph. */
static const char *escape_of(char c)
{
	switch (c) {
	case '\\':
		return "\\e";
	case '-':
		return "\\-";
	case '\'':
		return "\\(aq";
	case '`':
		return "\\(ga";
	case '^':
		return "\\(ha";
	case '~':
		return "\\(ti";
	case '"':
		return "\\(dq";
	case '|': /* a list may be broken there */
		return "|\\:";
	case ',':
		return ",\\:";
	default:
		return NULL;
	}
}

/* Text within a line. */
static void put_text(struct mr_buf *out, const char *text)
{
	size_t len = strlen(text);

	for (size_t at = 0; at < len;) {
		const char *escape = escape_of(text[at]);
		uint32_t point = 0;
		size_t used = mr_utf8_next(text + at, len - at, &point);

		if (escape)
			mr_buf_puts(out, escape);
		else if (used > 1)
			mr_buf_printf(out, "\\[u%04X]", (unsigned)point);
		else
			mr_buf_putc(out, text[at]);
		at += used ? used : 1;
	}
}

/* A paragraph; line breaks that are written stay. */
static void put_lines(struct mr_buf *out, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		const char *line = mr_arena_strndup(arena, text, len);

		line += strspn(line, " ");
		if (*line == '.')
			mr_buf_puts(out, "\\&");
		put_text(out, line);
		text += len;
		if (*line)
			mr_buf_putc(out, '\n');
		if (*text == '\n')
			mr_buf_puts(out, *line ? ".br\n" : ".PP\n");
		text += *text == '\n';
	}
}

/* A macro with one argument. */
static void put_macro(struct mr_buf *out, const char *macro, const char *argument)
{
	mr_buf_printf(out, ".%s \"", macro);
	put_text(out, argument);
	mr_buf_puts(out, "\"\n");
}

static void put_entry(struct mr_buf *out, const char *term, const char *text)
{
	mr_buf_puts(out, ".TP\n");
	put_macro(out, "B", term);
	put_lines(out, text);
}

static void put_params(struct writing *w, const struct mr_op *op)
{
	for (size_t i = 0; i < mr_param_count(op->params); i++) {
		const struct mr_param *param = &op->params[i];
		const char *summary = mr_help_summary(w->arena, param);

		if (param->flags & MR_POSITIONAL && param->choices)
			summary = mr_arena_printf(w->arena, "%s: one of %s", summary,
				mr_help_value(w->arena, param));
		put_entry(w->out, mr_help_name(w->arena, param), summary);
	}
}

static const char *sentence(struct writing *w, const char *text)
{
	return mr_arena_printf(w->arena, "%s.", text);
}

static void put_global(struct writing *w, const struct mr_global_option *g)
{
	put_entry(w->out,
		g->value_name ? mr_arena_printf(w->arena, "%s %s", g->option, g->value_name)
			      : g->option,
		g->summary);
}

/* Options of the command's contract that the page's global options do not have. */
static void put_own_globals(struct writing *w, const struct mr_op *op)
{
	const struct mr_contract *contract = mr_contract_of(w->table, op);

	if (contract ==
		mr_contract_at(w->table,
			mr_arena_strndup(w->arena, op->command, strcspn(op->command, " "))))
		return;
	for (const struct mr_global_option *g = mr_contract_globals(contract); g->option; g++)
		if (g->effect == MR_GLOBAL_OWN)
			put_global(w, g);
}

/* A command: as its own section, or as the body of a page that has no other. */
static void put_command(struct writing *w, const struct mr_op *op, bool is_alone)
{
	if (is_alone) {
		mr_buf_puts(w->out, ".SH DESCRIPTION\n");
	} else {
		put_macro(w->out, "SS", mr_help_usage(w->arena, w->table, op));
		put_lines(w->out, sentence(w, op->summary));
	}
	if (op->help) {
		mr_buf_puts(w->out, is_alone ? "" : ".PP\n");
		put_lines(w->out, op->help);
	} else if (is_alone) {
		put_lines(w->out, sentence(w, op->summary));
	}
	if (is_alone && mr_param_count(op->params))
		mr_buf_puts(w->out, ".SH OPTIONS\n");
	put_params(w, op);
	if (!is_alone)
		put_own_globals(w, op);
}

static bool is_shown_below(const struct mr_op *op, const char *word)
{
	size_t len = strlen(word);

	return op->command && !(op->traits & MR_HIDDEN) && strncmp(op->command, word, len) == 0 &&
		(op->command[len] == ' ' || op->command[len] == '\0');
}

static void put_globals(struct writing *w, const char *path)
{
	mr_buf_puts(w->out, ".SH GLOBAL OPTIONS\n");
	for (const struct mr_global_option *g = mr_contract_globals(mr_contract_at(w->table, path));
		g->option; g++)
		put_global(w, g);
}

static void put_title(struct writing *w, const char *page, const char *summary)
{
	char *upper = mr_arena_strdup(w->arena, page);

	for (char *c = upper; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	mr_buf_printf(w->out, ".TH %s 1 \"\" \"Mailroom %s\" \"Mailroom Manual\"\n", upper,
		MR_VERSION);
	/* Names of commands are neither broken nor spread over a line. */
	mr_buf_puts(w->out, ".nh\n.ad l\n.SH NAME\n");
	put_text(w->out, page);
	mr_buf_puts(w->out, " \\- ");
	put_text(w->out, summary);
	mr_buf_puts(w->out, "\n.SH SYNOPSIS\n");
}

static void put_see_also(struct writing *w, const char *page)
{
	struct mr_texts pages = mr_manual_pages(w->arena, w->table);
	const char *comma = "";

	mr_buf_puts(w->out, ".SH SEE ALSO\n");
	for (size_t i = 0; i < pages.len; i++) {
		if (mr_str_eq(pages.items[i], page))
			continue;
		mr_buf_printf(w->out, "%s", comma);
		put_macro(w->out, "BR", mr_arena_printf(w->arena, "%s(1)", pages.items[i]));
	}
}

static void write_word(struct writing *w, const char *page, const char *word)
{
	const struct mr_op *own = mr_command_find(w->table, word);
	bool is_alone = own && !mr_command_is_group(w->table, word);
	const char *about = own ? own->summary : mr_command_about(w->arena, w->table, word);

	put_title(w, page, about);
	if (is_alone) {
		put_macro(w->out, "B", mr_help_usage(w->arena, w->table, own));
		put_command(w, own, true);
	} else {
		put_macro(w->out, "B",
			mr_arena_printf(w->arena, "%s %s COMMAND", mr_op_program(w->table), word));
		mr_buf_puts(w->out, ".SH DESCRIPTION\n");
		put_lines(w->out, sentence(w, about));
		mr_buf_puts(w->out, ".SH COMMANDS\n");
		for (size_t i = 0; i < w->table->len; i++) {
			if (is_shown_below(w->table->ops[i], word))
				put_command(w, w->table->ops[i], false);
		}
	}
	put_globals(w, word);
	put_see_also(w, page);
}

static void put_settings(struct writing *w)
{
	mr_buf_puts(w->out,
		".SH ENVIRONMENT\nEvery setting can be given in the environment, in a "
		"file and on the command line;\n");
	put_macro(w->out, "B", "mailroom config");
	mr_buf_puts(w->out, "shows which are in force.\n");
	for (const struct mr_setting *s = mr_setting_table; s->key; s++)
		put_entry(w->out, s->env,
			mr_arena_printf(w->arena, "%s (%s in mailroom.yaml%s%s)", s->summary,
				s->key, *s->fallback ? "; default " : "", s->fallback));
}

static void write_program(struct writing *w, const char *page)
{
	struct mr_texts words = mr_command_words(w->arena, w->table, "");

	put_title(w, page, "mail for AI agents, in plain files");
	put_macro(w->out, "B", mr_arena_printf(w->arena, "%s COMMAND", page));
	mr_buf_puts(w->out, ".SH COMMANDS\n");
	for (size_t i = 0; i < words.len; i++) {
		const struct mr_op *op = mr_command_find(w->table, words.items[i]);

		put_entry(w->out, mr_arena_printf(w->arena, "%s-%s(1)", page, words.items[i]),
			sentence(w,
				op ? op->summary
				   : mr_command_about(w->arena, w->table, words.items[i])));
	}
	put_globals(w, "");
	put_settings(w);
	mr_buf_puts(w->out, ".SH FILES\n");
	put_entry(w->out, "~/.config/mailroom/mailroom.yaml",
		"Your settings; below $XDG_CONFIG_HOME where that is set.");
	put_entry(w->out, "./mailroom.yaml, ./.env",
		"Settings of the working directory. They may not set endpoints, secrets, places to "
		"store, or what protects them.");
	mr_buf_puts(w->out, ".SH EXIT STATUS\n");
	put_entry(w->out, "0", "The command did what was asked.");
	put_entry(w->out, "1", "It failed; standard error says why.");
	put_entry(w->out, "2", "The command line is wrong.");
	put_see_also(w, page);
}

struct mr_texts mr_manual_pages(struct mr_arena *arena, const struct mr_op_table *table)
{
	struct mr_texts words = mr_command_words(arena, table, "");
	const char *program = mr_op_program(table);
	struct mr_texts pages = { mr_arena_array(arena, words.len + 1, sizeof(*pages.items)), 0 };

	pages.items[pages.len++] = program;
	for (size_t i = 0; i < words.len; i++)
		pages.items[pages.len++] = mr_arena_printf(arena, "%s-%s", program, words.items[i]);
	return pages;
}

bool mr_manual_write(struct mr_buf *out, const struct mr_op_table *table, const char *page)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct writing w = { arena, out, table };
	struct mr_texts pages = mr_manual_pages(arena, table);
	const char *program = mr_op_program(table);

	if (!mr_texts_has(&pages, page))
		return false;
	if (mr_str_eq(page, program))
		write_program(&w, page);
	else
		write_word(&w, page, page + strlen(program) + 1);
	return true;
}
