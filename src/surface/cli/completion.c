/*
 * surface/cli/completion.c - Writes completion scripts for bash, zsh and fish from the operation
 * table.
 *
 * Each script is a list of what may follow each command path, and a few lines of shell that find
 * the path in what was typed so far.
 */
#include "surface/cli/completion.h"

#include "base/arena.h"
#include "base/str.h"
#include "op/command.h"
#include "op/contract.h"

#include <string.h>

struct writing {
	struct mr_arena *arena;
	struct mr_buf *out;
	const struct mr_op_table *table;
};

/* In single quotes, for any of the three shells. */
static void put_quoted(struct mr_buf *out, const char *text)
{
	mr_buf_putc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			mr_buf_puts(out, "'\\''");
		else
			mr_buf_putc(out, *text);
	}
	mr_buf_putc(out, '\'');
}

/* Every path that is a command or a group, the program's own first. */
static struct mr_texts all_paths(struct writing *w)
{
	struct mr_texts paths = { NULL, 0 };
	size_t most = 1;

	for (size_t i = 0; i < w->table->len; i++) {
		const char *command = w->table->ops[i]->command;

		for (const char *c = command; c && *c; c++)
			most += *c == ' ';
		most++;
	}
	paths.items = mr_arena_array(w->arena, most + 1, sizeof(*paths.items));
	paths.items[paths.len++] = "";
	for (size_t i = 0; i < w->table->len; i++) {
		const char *command = w->table->ops[i]->command;

		for (size_t len = 0; command && (len == 0 || command[len]);) {
			const char *path;

			len += strcspn(command + len + (len > 0), " ") + (len > 0);
			path = mr_arena_strndup(w->arena, command, len);
			if (!mr_texts_has(&paths, path))
				paths.items[paths.len++] = path;
		}
	}
	return paths;
}

/* What may follow: a word or option, and what it is for. */
typedef void put_candidate(struct writing *w, const char *path, const char *word,
	const char *summary, bool takes_value);

static void put_candidates(struct writing *w, const char *path, put_candidate *put)
{
	struct mr_texts words = mr_command_words(w->arena, w->table, path);
	const struct mr_op *op = mr_command_find(w->table, path);

	for (size_t i = 0; i < words.len; i++) {
		const char *longer = mr_command_join(w->arena, path, words.items[i]);
		const struct mr_op *next = mr_command_find(w->table, longer);

		put(w, path, words.items[i], next ? next->summary : "", false);
	}
	for (size_t i = 0; op && i < mr_param_count(op->params); i++) {
		const struct mr_param *param = &op->params[i];

		if (!(param->flags & MR_POSITIONAL)) {
			put(w, path, mr_command_option(w->arena, param), param->summary,
				param->type != MR_TYPE_BOOL);
			continue;
		}
		for (size_t c = 0; param->choices && param->choices[c]; c++)
			put(w, path, param->choices[c], param->summary, false);
	}
	for (const struct mr_global_option *g = mr_contract_globals(mr_contract_of(w->table, op));
		g->option; g++)
		put(w, path, g->option, g->summary, g->value_name != NULL);
}

static void put_word(struct writing *w, const char *path, const char *word, const char *summary,
	bool takes_value)
{
	(void)path;
	(void)summary;
	(void)takes_value;
	mr_buf_printf(w->out, "%s ", word);
}

static void put_described(struct writing *w, const char *path, const char *word,
	const char *summary, bool takes_value)
{
	(void)path;
	(void)takes_value;
	mr_buf_putc(w->out, ' ');
	put_quoted(w->out, mr_arena_printf(w->arena, "%s:%s", word, summary));
}

static void put_paths_pattern(struct writing *w, const struct mr_texts *paths)
{
	for (size_t i = 1; i < paths->len; i++) {
		mr_buf_puts(w->out, i > 1 ? "|" : "");
		put_quoted(w->out, paths->items[i]);
	}
}

static void write_bash(struct writing *w)
{
	struct mr_texts paths = all_paths(w);

	mr_buf_puts(w->out,
		"# bash completion for mailroom: source <(mailroom completion bash)\n"
		"_mailroom() {\n"
		"\tlocal path='' word i\n"
		"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		"\t\tword=\"${path:+$path }${COMP_WORDS[i]}\"\n"
		"\t\tcase \"$word\" in\n\t\t");
	put_paths_pattern(w, &paths);
	mr_buf_puts(w->out,
		") path=\"$word\" ;;\n"
		"\t\tesac\n"
		"\tdone\n"
		"\tcase \"$path\" in\n");
	for (size_t i = 0; i < paths.len; i++) {
		mr_buf_puts(w->out, "\t");
		put_quoted(w->out, paths.items[i]);
		mr_buf_puts(w->out, ") word='");
		put_candidates(w, paths.items[i], put_word);
		mr_buf_puts(w->out, "' ;;\n");
	}
	mr_buf_puts(w->out,
		"\tesac\n"
		"\tCOMPREPLY=($(compgen -W \"$word\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
		"}\n"
		"complete -o default -F _mailroom mailroom\n");
}

static void write_zsh(struct writing *w)
{
	struct mr_texts paths = all_paths(w);

	mr_buf_puts(w->out,
		"#compdef mailroom\n"
		"# zsh completion for mailroom: source <(mailroom completion zsh)\n"
		"_mailroom() {\n"
		"\tlocal path_so_far='' word\n"
		"\tlocal -a candidates\n"
		"\tfor word in \"${(@)words[2,CURRENT-1]}\"; do\n"
		"\t\tword=\"${path_so_far:+$path_so_far }$word\"\n"
		"\t\tcase \"$word\" in\n\t\t");
	put_paths_pattern(w, &paths);
	mr_buf_puts(w->out,
		") path_so_far=\"$word\" ;;\n"
		"\t\tesac\n"
		"\tdone\n"
		"\tcase \"$path_so_far\" in\n");
	for (size_t i = 0; i < paths.len; i++) {
		mr_buf_puts(w->out, "\t");
		put_quoted(w->out, paths.items[i]);
		mr_buf_puts(w->out, ") candidates=(");
		put_candidates(w, paths.items[i], put_described);
		mr_buf_puts(w->out, ") ;;\n");
	}
	mr_buf_puts(w->out,
		"\tesac\n"
		"\t_describe 'mailroom' candidates || _files\n"
		"}\n"
		/* Installed, zsh loads it as the function's own body. */
		"if [[ ${funcstack[1]-} = _mailroom ]]; then\n"
		"\t_mailroom \"$@\"\n"
		"else\n"
		"\tcompdef _mailroom mailroom\n"
		"fi\n");
}

static void put_fish(struct writing *w, const char *path, const char *word, const char *summary,
	bool takes_value)
{
	mr_buf_puts(w->out, "complete -c mailroom -n ");
	put_quoted(w->out, mr_arena_printf(w->arena, "__mailroom_at \"%s\"", path));
	if (mr_str_starts(word, "--"))
		mr_buf_printf(w->out, " -l %s%s", word + 2, takes_value ? " -r" : "");
	else
		mr_buf_printf(w->out, " -f -a %s", word);
	if (*summary) {
		mr_buf_puts(w->out, " -d ");
		put_quoted(w->out, summary);
	}
	mr_buf_putc(w->out, '\n');
}

static void write_fish(struct writing *w)
{
	struct mr_texts paths = all_paths(w);

	mr_buf_puts(w->out,
		"# fish completion for mailroom: mailroom completion fish | source\n"
		"function __mailroom_at\n"
		"\tset -l path ''\n"
		"\tfor word in (commandline -opc)[2..-1]\n"
		"\t\tset -l longer (string trim -- \"$path $word\")\n"
		"\t\tif contains -- \"$longer\"");
	for (size_t i = 1; i < paths.len; i++) {
		mr_buf_putc(w->out, ' ');
		put_quoted(w->out, paths.items[i]);
	}
	mr_buf_puts(w->out,
		"\n"
		"\t\t\tset path \"$longer\"\n"
		"\t\tend\n"
		"\tend\n"
		"\ttest \"$path\" = \"$argv[1]\"\n"
		"end\n");
	for (size_t i = 0; i < paths.len; i++)
		put_candidates(w, paths.items[i], put_fish);
}

void mr_completion_write(struct mr_buf *out, const struct mr_op_table *table, enum mr_shell shell)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct writing w = { arena, out, table };

	switch (shell) {
	case MR_SHELL_BASH:
		write_bash(&w);
		break;
	case MR_SHELL_ZSH:
		write_zsh(&w);
		break;
	case MR_SHELL_FISH:
		write_fish(&w);
		break;
	}
}
