/*
 * surface/cli/argv.c - Parses the command line into global options, a command path and the
 * arguments of its operation.
 */
#include "surface/cli/argv.h"

#include "op/command.h"

#include <string.h>

struct parsing {
	struct mr_arena *arena;
	const struct mr_op_table *table;
	int argc;
	const char *const *argv;
	int at;
	struct mr_argv *out;
	struct mr_err *err;
	struct mr_texts *given; /* the texts given for each parameter */
	size_t positionals;     /* how many were taken */
};

/* The value of an option: after '=', or the next word. NULL and an error when there is none. */
static const char *take_value(struct parsing *p, const char *word)
{
	const char *equals = strchr(word, '=');

	if (equals)
		return equals + 1;
	if (p->at < p->argc)
		return p->argv[p->at++];
	mr_err_set(p->err, MR_EINVAL, "%s needs a value", word);
	return NULL;
}

static bool is_option(const char *word, const char *name)
{
	size_t len = strlen(name);

	return strncmp(word, name, len) == 0 && (word[len] == '\0' || word[len] == '=');
}

/* The global option of the command's contract, or of the program's before the command is known;
 * NULL when it is none. */
static const struct mr_global_option *find_global(const struct parsing *p, const char *word)
{
	const struct mr_global_option *g =
		mr_contract_globals(mr_contract_at(p->table, p->out->path));

	for (; g->option; g++) {
		if (is_option(word, g->option) && (g->value_name || !strchr(word, '=')))
			return g;
		if (g->letter && word[1] == g->letter && word[2] == '\0')
			return g;
	}
	return NULL;
}

static void apply_global(struct mr_argv *out, const struct mr_global_option *g, const char *value)
{
	switch (g->effect) {
	case MR_GLOBAL_OWN:
		out->given[out->given_count++] = (struct mr_given){ g->option, value };
		break;
	case MR_GLOBAL_HELP:
		out->help = true;
		break;
	case MR_GLOBAL_VERSION:
		out->version = true;
		break;
	case MR_GLOBAL_FORMAT:
		out->format_name = value ? value : g->option + strspn(g->option, "-");
		break;
	case MR_GLOBAL_YES:
		out->yes = true;
		break;
	case MR_GLOBAL_ABSOLUTE:
		out->absolute = true;
		break;
	case MR_GLOBAL_CONFIG:
		out->config_file = value;
		break;
	case MR_GLOBAL_ENV_FILE:
		out->env_file = value;
		break;
	case MR_GLOBAL_SET:
		out->assignments.items[out->assignments.len++] = value;
		break;
	}
}

/* Take a global option; *taken says whether it was one. */
static enum mr_code take_global(struct parsing *p, const char *word, bool *taken)
{
	const struct mr_global_option *g = find_global(p, word);
	const char *value = g && g->value_name ? take_value(p, word) : NULL;

	*taken = g != NULL;
	if (!g)
		return MR_OK;
	if (g->value_name && !value)
		return MR_EINVAL;
	apply_global(p->out, g, value);
	return MR_OK;
}

/* "--no-color" and "--no_color" are "no_color", "-o" is "o"; without what follows '='. */
static char *option_name(struct mr_arena *arena, const char *word)
{
	const char *start = word + strspn(word, "-");
	char *name = mr_arena_strndup(arena, start, strcspn(start, "="));

	for (char *c = name; *c; c++)
		*c = *c == '-' ? '_' : *c;
	return name;
}

static enum mr_code refuse_option(struct parsing *p, const char *word)
{
	const struct mr_global_option *globals =
		mr_contract_globals(mr_contract_at(p->table, p->out->path));
	size_t count = mr_param_count(p->out->op->params);
	const char **options;
	char *typed = mr_arena_strndup(p->arena, word, strcspn(word, "="));
	size_t global_count = 0;
	size_t len = 0;
	const char *near;

	while (globals[global_count].option)
		global_count++;
	options = mr_arena_array(p->arena, count + global_count, sizeof(*options));
	for (size_t i = 0; i < count; i++)
		options[len++] = mr_command_option(p->arena, &p->out->op->params[i]);
	for (size_t i = 0; i < global_count; i++)
		options[len++] = globals[i].option;
	near = mr_str_nearest(typed, options, len);
	return mr_err_set(p->err, MR_EINVAL, "there is no option %s%s%s%s", typed,
		near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static enum mr_code give(struct parsing *p, const struct mr_param *param, const char *value)
{
	struct mr_texts *given = &p->given[param - p->out->op->params];
	bool is_list = param->type == MR_TYPE_TEXTS || param->type == MR_TYPE_INTS;

	if (given->len && !is_list)
		return mr_err_set(p->err, MR_EINVAL, "%s is given twice",
			mr_command_option(p->arena, param));
	if (!given->items)
		given->items = mr_arena_array(p->arena, (size_t)p->argc + 1, sizeof(*given->items));
	given->items[given->len++] = value;
	return MR_OK;
}

static enum mr_code take_option(struct parsing *p, const char *word)
{
	const struct mr_param *params = p->out->op->params;
	const char *name = option_name(p->arena, word);
	const struct mr_param *param = mr_param_find(params, name);
	const char *value;

	if (!param && mr_str_starts(name, "no_")) {
		param = mr_param_find(params, name + 3);
		if (param && param->type == MR_TYPE_BOOL && !strchr(word, '='))
			return give(p, param, "false");
		param = NULL;
	}
	if (!param)
		return refuse_option(p, word);
	if (param->type == MR_TYPE_BOOL && !strchr(word, '='))
		return give(p, param, "true");
	value = take_value(p, word);
	return value ? give(p, param, value) : MR_EINVAL;
}

/* "-o", where a parameter has that letter for an alias. */
static bool is_letter(const struct parsing *p, const char *word)
{
	return word[1] != '-' && word[1] && !word[2] && mr_param_find(p->out->op->params, word + 1);
}

/* The n-th parameter that stands without its name; a list takes all that follow. */
static const struct mr_param *find_positional(const struct mr_param *params, size_t n)
{
	for (size_t i = 0; params && params[i].name; i++) {
		if (!(params[i].flags & MR_POSITIONAL))
			continue;
		if (n == 0 || params[i].type == MR_TYPE_TEXTS || params[i].type == MR_TYPE_INTS)
			return &params[i];
		n--;
	}
	return NULL;
}

static enum mr_code refuse_word(struct parsing *p, const char *word)
{
	struct mr_texts words = mr_command_words(p->arena, p->table, p->out->path);
	const char *near = mr_str_nearest(word, words.items, words.len);
	const char *what = mr_op_program(p->table);

	if (*p->out->path)
		what = mr_command_join(p->arena, what, p->out->path);
	if (p->out->op && !words.len)
		return mr_err_set(p->err, MR_EINVAL, "'%s' is one argument too many; see %s --help",
			word, what);
	if (near)
		return mr_err_set(p->err, MR_EINVAL, "there is no command '%s'; did you mean '%s'?",
			word, near);
	return mr_err_set(p->err, MR_EINVAL, "there is no command '%s'; see %s --help", word, what);
}

static enum mr_code take_positional(struct parsing *p, const char *word)
{
	const struct mr_param *param =
		p->out->op ? find_positional(p->out->op->params, p->positionals) : NULL;

	if (!param)
		return refuse_word(p, word);
	p->positionals++;
	return give(p, param, word);
}

/* The words that name the command, as many as fit, and global options among them. */
static enum mr_code take_command(struct parsing *p)
{
	while (p->at < p->argc) {
		const char *word = p->argv[p->at];
		const char *longer;
		bool taken;

		if (word[0] == '-') {
			int before = p->at++;

			p->out->op = mr_command_find(p->table, p->out->path);
			if (take_global(p, word, &taken))
				return MR_EINVAL;
			if (taken)
				continue;
			p->at = before;
			break;
		}
		longer = mr_command_join(p->arena, p->out->path, word);
		if (!mr_command_find(p->table, longer) && !mr_command_is_group(p->table, longer))
			break;
		p->out->path = longer;
		p->at++;
	}
	p->out->op = mr_command_find(p->table, p->out->path);
	return MR_OK;
}

static enum mr_code take_rest(struct parsing *p)
{
	bool only_words = false;

	while (p->at < p->argc) {
		const char *word = p->argv[p->at++];
		enum mr_code rc;
		bool taken = false;

		if (only_words || word[0] != '-' || word[1] == '\0') {
			rc = take_positional(p, word);
		} else if (mr_str_eq(word, "--")) {
			only_words = true;
			continue;
		} else {
			rc = take_global(p, word, &taken);
			if (!rc && !taken && p->out->op &&
				(mr_str_starts(word, "--") || is_letter(p, word)))
				rc = take_option(p, word);
			else if (!rc && !taken)
				rc = mr_err_set(p->err, MR_EINVAL, "there is no option %s", word);
		}
		if (rc)
			return rc;
	}
	return MR_OK;
}

static struct mr_value text_value(const char *text)
{
	return (struct mr_value){ .kind = MR_TEXT, .text = text };
}

static const struct mr_value *build_args(struct parsing *p)
{
	struct mr_value *map = mr_arena_alloc(p->arena, sizeof(*map));
	const struct mr_param *params = p->out->op ? p->out->op->params : NULL;
	size_t count = mr_param_count(params);

	map->kind = MR_MAP;
	map->map.pairs = mr_arena_array(p->arena, count, sizeof(*map->map.pairs));
	for (size_t i = 0; i < count; i++) {
		const struct mr_texts *given = &p->given[i];
		struct mr_pair *pair = &map->map.pairs[map->map.len];

		if (!given->len)
			continue;
		map->map.len++;
		pair->key = params[i].name;
		if (params[i].type != MR_TYPE_TEXTS && params[i].type != MR_TYPE_INTS) {
			pair->value = text_value(given->items[0]);
			continue;
		}
		pair->value.kind = MR_LIST;
		pair->value.list.len = given->len;
		pair->value.list.items =
			mr_arena_array(p->arena, given->len, sizeof(struct mr_value));
		for (size_t j = 0; j < given->len; j++)
			pair->value.list.items[j] = text_value(given->items[j]);
	}
	return map;
}

/* Look for options in the whole command line, where the contract wants that: parsing ended at the
 * word that is wrong. */
static void seek_behind(struct parsing *p)
{
	for (int i = 1; i < p->argc && !mr_str_eq(p->argv[i], "--"); i++) {
		const char *word = p->argv[i];
		const struct mr_global_option *g = *word == '-' ? find_global(p, word) : NULL;
		const char *equals = strchr(word, '=');
		const char *next = i + 1 < p->argc ? p->argv[i + 1] : NULL;

		if (!g || !g->counts_behind)
			continue;
		if (!g->value_name || equals || next)
			apply_global(p->out, g, !g->value_name ? NULL : equals ? equals + 1 : next);
	}
}

/* The format that was asked for, or the contract's usual one. `rc` is what came of the rest. */
static enum mr_code choose_format(struct parsing *p, enum mr_code rc)
{
	const struct mr_contract *contract = mr_contract_at(p->table, p->out->path);
	const struct mr_format *formats = mr_contract_formats(contract);
	struct mr_texts names = { NULL, 0 };
	size_t count = 0;

	if (rc)
		seek_behind(p);
	p->out->contract = contract;
	p->out->format = mr_contract_format(contract, p->out->format_name);
	if (p->out->format)
		return rc && (p->out->help || p->out->version) ? MR_OK : rc;
	p->out->format = formats;
	if (rc)
		return rc;
	while (formats[count].name)
		count++;
	names.items = mr_arena_array(p->arena, count + 1, sizeof(*names.items));
	while (names.len < count) {
		names.items[names.len] = formats[names.len].name;
		names.len++;
	}
	return mr_err_set(p->err, MR_EINVAL, "there is no output format '%s'; use one of: %s",
		p->out->format_name, mr_str_join(p->arena, &names, ", "));
}

enum mr_code mr_argv_parse(struct mr_arena *arena, const struct mr_op_table *table, int argc,
	const char *const *argv, struct mr_argv *out, struct mr_err *err)
{
	struct parsing p = {
		.arena = arena,
		.table = table,
		.argc = argc,
		.argv = argv,
		.at = 1,
		.out = out,
		.err = err,
	};
	enum mr_code rc;

	*out = (struct mr_argv){ .path = "" };
	out->assignments.items =
		mr_arena_array(arena, (size_t)argc + 1, sizeof(*out->assignments.items));
	out->given = mr_arena_array(arena, (size_t)argc + 1, sizeof(*out->given));
	rc = take_command(&p);
	p.given = mr_arena_array(arena, mr_param_count(out->op ? out->op->params : NULL) + 1,
		sizeof(*p.given));
	if (!rc)
		rc = take_rest(&p);
	rc = choose_format(&p, rc);
	if (rc)
		return rc;
	out->args = build_args(&p);
	return MR_OK;
}
