/* tests/unit/text/test_template.c */
#include "text/template.h"

#include "test.h"
#include "text/json.h"

#include <string.h>

static const char context_json[] =
	"{\"name\":\"Ada\",\"n\":7,\"half\":0.5,\"big\":1e21,\"yes\":true,\"nil\":null,"
	"\"html\":\"<b>\\\"it's\\\" & so</b>\",\"list\":[3,1,2],\"words\":[\"b\",\"A\"],"
	"\"map\":{\"k\":\"v\",\"deep\":{\"x\":[1]}},\"wide\":\"Gr\\u00fc\\u00dfe\"}";

struct library {
	struct mr_arena *arena;
	unsigned loads;
};

static enum mr_code load(void *ctx, const char *name, const struct mr_template **out,
	struct mr_err *err)
{
	static const struct {
		const char *name, *source;
	} sources[] = {
		{ "part", "[{{ name }}{% set name = 'changed' %}]" },
		{ "again", "{% include 'again' %}" },
		{ "loop", "{% extends 'loop' %}" },
		{ "broken", "one\n{% if %}" },
		{ "wrong", "one\n\n{{ gone.x }}" },
		{ "lib",
			"{% macro hi(who) %}hi {{ who }}{% endmacro %}{% set x = 1 %}not printed" },
		{ "base", "<{% block a %}A{% endblock %}|{% block b %}B{{ name }}{% endblock %}>" },
		{ "middle", "{% extends 'base' %}{% block a %}m{{ super() }}{% endblock %}" },
	};
	struct library *library = ctx;

	library->loads++;
	for (size_t i = 0; i < MR_LEN(sources); i++)
		if (mr_str_eq(name, sources[i].name))
			return mr_template_parse(library->arena, name,
				mr_bytes_text(sources[i].source), NULL, out, err);
	return mr_err_set(err, MR_ENOTFOUND, "there is no template '%s'", name);
}

/* The output, or the error's text; `*out_rc` gets the code. */
static const char *attempt(struct mr_arena *arena, const char *source,
	const struct mr_template_syntax *syntax, const struct mr_template_options *options,
	enum mr_code *out_rc)
{
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_template *template;
	const struct mr_value *context;
	struct mr_err err;

	CHECK_OK(mr_json_parse(arena, mr_bytes_text(context_json), NULL, &context, &err), err);
	mr_buf_init(&out, 4096);
	*out_rc = mr_template_parse(arena, "t", mr_bytes_text(source), syntax, &template, &err);
	if (!*out_rc)
		*out_rc = mr_template_render(template, context, options, &out, &err);
	return mr_arena_strdup(arena, *out_rc ? err.msg : mr_buf_text(&out));
}

struct pair {
	const char *source, *want;
};

static void check_all(const struct pair *pairs, size_t len, const struct mr_template_syntax *syntax,
	const struct mr_template_options *options, enum mr_code want)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < len; i++) {
		enum mr_code rc;
		const char *shown = attempt(arena, pairs[i].source, syntax, options, &rc);

		if (!mr_str_eq(shown, pairs[i].want) || rc != want)
			test_fail(__FILE__, __LINE__, "%s\n  gave %d %s\n  not  %d %s",
				pairs[i].source, (int)rc, shown, (int)want, pairs[i].want);
	}
}

static void values_print_as_minijinja_prints_them(void)
{
	static const struct pair pairs[] = {
		{ "", "" },
		{ "no tags { } {", "no tags { } {" },
		{ "{{ nil }} {{ yes }} {{ not yes }} {{ n }} {{ half }} {{ 1.0 }} {{ big }}",
			"none true false 7 0.5 1.0 1000000000000000000000.0" },
		{ "{{ 0.1 + 0.2 }} {{ 1 / 3 }} {{ 0.00001 }} {{ -0.0 }} {{ 123456.75 }}",
			"0.30000000000000004 0.3333333333333333 0.00001 -0.0 123456.75" },
		{ "{{ list }} {{ map }} {{ ['a\\n\"', none, gone] }}",
			"[3, 1, 2] {\"k\": \"v\", \"deep\": {\"x\": [1]}} "
			"[\"a\\n\\\"\", none, undefined]" },
		{ "{{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 7 // -3 }} {{ 2 ** -1 "
		  "}}",
			"3 -4 2 1 -2 0.5" },
		{ "{{ map|tojson }} {{ html|tojson }}",
			"{\"k\":\"v\",\"deep\":{\"x\":[1]}} "
			"\"\\u003cb\\u003e\\\"it\\u0027s\\\" \\u0026 so\\u003c/b\\u003e\"" },
		{ "{{ wide|upper }} {{ wide|length }} {{ wide[::-1] }} {{ wide[2] }}",
			"GR\xc3\x9cSSE 5 e\xc3\x9f\xc3\xbcrG \xc3\xbc" },
		{ "{{ \"\\n\\t\\u00fc\\ud83d\\ude00\" }}", "\n\t\xc3\xbc\xf0\x9f\x98\x80" },
	};

	check_all(pairs, MR_LEN(pairs), NULL, NULL, MR_OK);
}

static void what_is_undefined_is_empty(void)
{
	static const struct pair pairs[] = {
		{ "[{{ gone }}{{ map.gone }}{{ list[9] }}{{ nil.x }}]", "[]" },
		{ "{% if gone %}a{% else %}b{% endif %}", "b" },
		{ "{% for x in gone %}a{% else %}none{% endfor %}", "none" },
		{ "{{ gone|default('d') }}{{ nil|default('d') }}{{ nil|default('d', true) }}",
			"dnoned" },
		{ "{{ gone|length }}{{ gone|join(',') }}", "0" },
		{ "{{ gone is defined }} {{ gone == gone }} {{ gone == nil }}",
			"false true false" },
		{ "{{ 'a' if false }}", "" },
	};

	check_all(pairs, MR_LEN(pairs), NULL, NULL, MR_OK);
}

static void strict_refuses_what_is_undefined(void)
{
	static const struct mr_template_options strict = { .strict = true };
	static const struct pair pairs[] = {
		{ "\n{{ gone }}", "t:2: an undefined value is printed" },
		{ "{% if gone %}{% endif %}", "t:1: an undefined value is tested" },
		{ "{% for x in gone %}{% endfor %}", "t:1: an undefined value is iterated over" },
		{ "{{ gone|length }}", "t:1: an undefined value has no length" },
	};
	static const struct pair good[] = { { "{{ gone is defined }}{{ gone|default(1) }}",
		"false1" } };

	check_all(pairs, MR_LEN(pairs), NULL, &strict, MR_EINVAL);
	check_all(good, MR_LEN(good), NULL, &strict, MR_OK);
}

static void white_space_is_as_the_delimiters_say(void)
{
	static const struct mr_template_syntax both = { .trim_blocks = true,
		.lstrip_blocks = true };
	static const struct mr_template_syntax keep = { .keep_trailing_newline = true };
	static const struct pair plain[] = {
		{ "USER {{ name }}\n", "USER Ada" },
		{ "x\n\n", "x\n" },
		{ "x\r\n", "x" },
		{ "a  {%- if yes -%}  b  {%- endif -%}  c", "abc" },
		{ " {{- n -}} ", "7" },
		{ "a{# x #}b {#- y -#} c", "abc" },
		{ "  {% if yes %}\n  b\n  {% endif %}\n", "  \n  b\n  " },
		{ "{% raw %}{{ x }}{% if %}{% endraw %}", "{{ x }}{% if %}" },
		{ "a {%- raw -%} {{ {%- endraw -%} b", "a{{b" },
	};
	static const struct pair trimmed[] = {
		{ "  {% if yes %}\n  b\n  {% endif %}\nc", "  b\nc" },
		{ "  {%+ if yes +%}\n  b\n  {% endif %}\nc", "  \n  b\nc" },
		{ "x {% if yes %}\ny{% endif %}", "x y" },
		{ "  {# c #}\n  {{ n }}\n", "  7" },
	};
	static const struct pair kept[] = { { "x\n", "x\n" } };

	check_all(plain, MR_LEN(plain), NULL, NULL, MR_OK);
	check_all(trimmed, MR_LEN(trimmed), &both, NULL, MR_OK);
	check_all(kept, MR_LEN(kept), &keep, NULL, MR_OK);
}

static void html_is_escaped_once(void)
{
	static const struct mr_template_options html = { .escape_html = true };
	static const struct pair pairs[] = {
		{ "{{ html }}", "&lt;b&gt;&#34;it&#39;s&#34; &amp; so&lt;/b&gt;" },
		{ "<i>{{ html|safe }}</i>", "<i><b>\"it's\" & so</b></i>" },
		{ "{{ html|escape|upper|lower }}",
			"&lt;b&gt;&#34;it&#39;s&#34; &amp; so&lt;/b&gt;" },
		{ "{% macro m(x) %}<i>{{ x }}</i>{% endmacro %}{{ m('<') }}", "<i>&lt;</i>" },
		{ "{% set x %}<i>{{ '<' }}</i>{% endset %}{{ x }}{{ x ~ '<' }}",
			"<i>&lt;</i><i>&lt;</i>&lt;" },
		{ "{{ ['<', '<'|safe]|join('>') }}", "&lt;&gt;<" },
		{ "{% autoescape false %}{{ '<' }}{% endautoescape %}{{ '<' }}", "<&lt;" },
		{ "{{ ['<'] }}", "[&#34;&lt;&#34;]" },
		{ "{{ '<b>x</b> &lt; <!-- > y -->z'|striptags }}", "x &lt; z" },
	};
	static const struct pair plain[] = { { "{{ '<' }}{{ '<'|e }}{{ '<'|e|e }}", "<&lt;&lt;" } };

	check_all(pairs, MR_LEN(pairs), NULL, &html, MR_OK);
	check_all(plain, MR_LEN(plain), NULL, NULL, MR_OK);
}

static void templates_use_each_other(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct library library = { arena, 0 };
	const struct mr_template_options options = { .loader = load, .loader_ctx = &library };
	static const struct pair pairs[] = {
		{ "{% include 'part' %}{{ name }}", "[Ada]Ada" },
		{ "{% set name = 'Eve' %}{% include ['gone', 'part'] %}", "[Eve]" },
		{ "a{% include 'gone' ignore missing %}b", "ab" },
		{ "{% import 'lib' as l %}{{ l.hi('x') }}{{ l.x }}", "hi x1" },
		{ "{% from 'lib' import hi as h, x %}{{ h('y') }}{{ x }}", "hi y1" },
		{ "{% extends 'base' %}gone{% block b %}[{{ super() }}]{% endblock %}",
			"<A|[BAda]>" },
		{ "{% extends 'middle' %}{% block a %}t{{ super() }}{% endblock %}", "<tmA|BAda>" },
		{ "{% extends 'base' %}{% set z = 1 %}{% macro m() %}M{% endmacro %}"
		  "{% block a %}{{ m() }}{{ z }}{% endblock %}",
			"<M1|BAda>" },
	};
	static const struct pair missing[] = {
		{ "\n{% include 'gone' %}", "t:2: there is no template 'gone'" },
		{ "{% extends 'gone' %}", "t:1: there is no template 'gone'" },
		{ "{% include [] %}", "t:1: the list of templates is empty" },
	};
	static const struct pair wrong[] = {
		{ "{% include 'wrong' %}", "wrong:3: 'x' of an undefined value" },
		{ "{% include 5 %}", "t:1: the name of a template is a text, not a number" },
		{ "{% from 'lib' import nope %}", "t:1: template 'lib' has no 'nope' to import" },
		{ "{% extends 'base' %}{% extends 'base' %}",
			"t:1: a template extends one other only" },
		{ "{% import 'lib' as l %}{% set l.x = 2 %}",
			"t:1: members can be set of a namespace only, and 'l' is a namespace" },
		{ "{% extends 'base' %}{% block c %}{% endblock %}{% block a %}{{ super(1) }}{% "
		  "endblock %}",
			"t:1: super() is called in a block, without arguments" },
		{ "{% block x %}{{ super() }}{% endblock %}", "t:1: no parent has a block 'x'" },
	};
	static const struct pair deep[] = {
		{ "{% include 'again' %}", "again:1: templates and macros are nested too deeply" },
		{ "{% extends 'loop' %}", "loop:1: templates extend each other too deeply" },
	};
	static const struct pair broken[] = { { "{% include 'broken' %}",
		"t:1: broken:2: expected a value, found '%}'" } };
	static const struct pair alone[] = { { "{% include 'part' %}",
		"t:1: template 'part' cannot be used here: no other templates are available" } };

	check_all(pairs, MR_LEN(pairs), NULL, &options, MR_OK);
	check_all(missing, MR_LEN(missing), NULL, &options, MR_ENOTFOUND);
	check_all(wrong, MR_LEN(wrong), NULL, &options, MR_EINVAL);
	check_all(deep, MR_LEN(deep), NULL, &options, MR_ELIMIT);
	check_all(broken, MR_LEN(broken), NULL, &options, MR_EFORMAT);
	check_all(alone, MR_LEN(alone), NULL, NULL, MR_ENOTFOUND);
}

static void the_parser_says_what_is_wrong(void)
{
	static const struct pair pairs[] = {
		{ "a\n{{ x", "t:2: the {{ that begins here has no }}" },
		{ "\n\n{% if x", "t:3: the {% that begins here has no %}" },
		{ "{# x", "t:1: the comment that begins here does not end" },
		{ "{% raw %}{{", "t:1: raw without endraw" },
		{ "{{ 'x }}", "t:1: a text in quotes does not end" },
		{ "{{ '\\q' }}", "t:1: a backslash in a text is followed by something unknown" },
		{ "{{ '\\u0000' }}",
			"t:1: a backslash in a text is followed by something unknown" },
		{ "{{ 99999999999999999999 }}", "t:1: a number is out of range" },
		{ "{{ 1e999 }}", "t:1: a number is out of range" },
		{ "{{ 1a }}", "t:1: a letter directly follows a number" },
		{ "{{ ? }}", "t:1: '?' has no meaning in a template" },
		{ "{{ \x01 }}", "t:1: the byte 0x01 has no meaning in a template" },
		{ "{{ }}", "t:1: expected a value, found '}}'" },
		{ "{{ 1 2 }}", "t:1: expected '}}', found '2'" },
		{ "{{ (1 }}", "t:1: expected ')', found '}}'" },
		{ "{{ a. }}", "t:1: expected a name, found '}}'" },
		{ "{{ a[] }}", "t:1: expected an index, found ']'" },
		{ "{{ a not b }}", "t:1: expected 'in', found 'b'" },
		{ "{{ {1} }}", "t:1: expected ':', found '}'" },
		{ "{{ 'x'|upppr }}", "t:1: there is no filter 'upppr'; did you mean 'upper'?" },
		{ "{{ 'x'|zzzzzz }}", "t:1: there is no filter 'zzzzzz'" },
		{ "{{ x is defind }}", "t:1: there is no test 'defind'; did you mean 'defined'?" },
		{ "{{ f(a=1, 2) }}", "t:1: an argument without a name follows one with a name" },
		{ "{% unless x %}", "t:1: expected a statement, found 'unless'" },
		{ "{% endif %}", "t:1: expected a statement, found 'endif'" },
		{ "{% if x %}\n\n", "t:2: the statement of line 1 has no 'endif'" },
		{ "{% for x in y %}{% endif %}", "t:1: expected a statement, found 'endif'" },
		{ "{% for x of y %}", "t:1: expected 'in', found 'of'" },
		{ "{% set x %}", "t:1: the statement of line 1 has no 'endset'" },
		{ "{% call x %}{% endcall %}", "t:1: a call block needs the call of a macro" },
		{ "{% block a %}{% endblock %}\n{% block a %}{% endblock %}",
			"t:2: there are two blocks 'a'" },
		{ "{% include 'x' ignore it %}", "t:1: expected 'missing', found 'it'" },
		{ "{% import 'x' %}", "t:1: expected 'as', found '%}'" },
		{ "{% from 'x' %}", "t:1: expected 'import', found '%}'" },
		{ "{% if x } %}", "t:1: expected '%}', found '}'" },
		{ "{{ 1 if 'x' 'y' 3 }}", "t:1: expected '}}', found '3'" },
		{ "{{ 1 + 'x' }}{% set 'x' %}", "t:1: expected a name, found a text in quotes" },
		{ "\xff", "t:1: the template is not UTF-8 text" },
	};

	check_all(pairs, MR_LEN(pairs), NULL, NULL, MR_EFORMAT);
}

static void a_render_says_what_is_wrong(void)
{
	static const struct pair pairs[] = {
		{ "x\n{{ gone.x }}", "t:2: 'x' of an undefined value" },
		{ "{{ gone[0] }}", "t:1: an item of an undefined value" },
		{ "{{ 1 / 0 }}", "t:1: division by zero" },
		{ "{{ 1 % 0 }}", "t:1: division by zero" },
		{ "{{ 9223372036854775807 + 1 }}", "t:1: a number is out of range" },
		{ "{{ 1 + 'x' }}", "t:1: '+' does not work between a number and a text" },
		{ "{{ list ** 2 }}", "t:1: '**' does not work between a list and a number" },
		{ "{{ -'x' }}", "t:1: '-' does not work with a text" },
		{ "{{ 1 < 'x' }}", "t:1: a number and a text have no order" },
		{ "{{ 1 in 2 }}", "t:1: a number cannot contain a number" },
		{ "{% for x in 5 %}{% endfor %}", "t:1: a number cannot be iterated over" },
		{ "{% for a, b in list %}{% endfor %}", "t:1: a number cannot be iterated over" },
		{ "{% for a, b in [[1]] %}{% endfor %}", "t:1: 1 values for 2 names" },
		{ "{{ name() }}", "t:1: 'name' is a text and cannot be called" },
		{ "{{ gone() }}", "t:1: 'gone' is an undefined value and cannot be called" },
		{ "{{ map.items() }}", "t:1: 'items' is an undefined value and cannot be called" },
		{ "{{ (1)() }}", "t:1: a number cannot be called" },
		{ "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}",
			"t:1: macro 'm' takes 1 arguments, not 2" },
		{ "{% macro m(a) %}{% endmacro %}{{ m(b=2) }}",
			"t:1: macro 'm' has no argument 'b'" },
		{ "{{ 'x'|upper(1) }}", "t:1: 'upper' takes 0 arguments at most" },
		{ "{{ 'x'|trim(char='y') }}", "t:1: 'trim' has no argument 'char'" },
		{ "{{ 'x'|indent('y') }}", "t:1: the argument 'width' is a number from 0 to 1000" },
		{ "{{ 'x'|replace('x') }}",
			"t:1: 'replace' takes what to find, and what to put there" },
		{ "{{ 'xxxxxxxxx'|truncate(1) }}", "t:1: 'truncate' leaves no room for its end" },
		{ "{{ 'x'|abs }}", "t:1: 'abs' does not work with a text" },
		{ "{{ 'x'|round }}", "t:1: 'round' does not work with a text" },
		{ "{{ 5|length }}", "t:1: a number has no length" },
		{ "{{ words|sum }}", "t:1: 'sum' does not work with a text" },
		{ "{{ list|items }}", "t:1: 'items' does not work with a list" },
		{ "{{ list|groupby }}", "t:1: 'groupby' takes the name of a member" },
		{ "{{ list|batch }}", "t:1: 'batch' needs a number" },
		{ "{{ 'x'|split('') }}", "t:1: 'split' needs a separator that is not empty" },
		{ "{{ list|map }}", "t:1: 'map' takes attribute= or the name of a filter" },
		{ "{{ list|selectattr }}", "t:1: the name of a member is missing" },
		{ "{{ list|select('oddd') }}", "t:1: there is no test 'oddd'" },
		{ "{{ list|attr }}", "t:1: 'attr' takes the name of a member" },
		{ "{{ [1, 'x']|sort }}", "t:1: a number and a text have no order" },
		{ "{{ range|tojson }}", "t:1: a function has no JSON" },
		{ "{{ 1 is eq }}", "t:1: this test needs an argument" },
		{ "{{ 1 is startingwith 'x' }}", "t:1: this test compares texts" },
		{ "{{ 'x' is divisibleby 2 }}", "t:1: 'divisibleby' works with whole numbers" },
		{ "{{ list['a':] }}", "t:1: a slice needs whole numbers, not a text" },
		{ "{{ list[::0] }}", "t:1: the step of a slice is a whole number but 0" },
		{ "{{ range() }}", "t:1: range() takes one to three numbers" },
		{ "{{ range('x') }}", "t:1: range() takes whole numbers, not a text" },
		{ "{{ range(1, 2, 0) }}", "t:1: the step of range() is 0" },
		{ "{{ dict(1) }}", "t:1: dict() takes arguments with names only" },
		{ "{{ namespace(1) }}", "t:1: namespace() takes arguments with names only" },
		{ "{% set map.k = 2 %}",
			"t:1: members can be set of a namespace only, and 'map' is a map" },
		{ "{% for x in list %}{{ loop(x) }}{% endfor %}",
			"t:1: only a loop that is 'recursive' can be called" },
		{ "{% for x in list recursive %}{{ loop() }}{% endfor %}",
			"t:1: loop() takes one argument" },
		{ "{% for x in list %}{{ loop.cycle() }}{% endfor %}",
			"t:1: loop.cycle() needs something to choose from" },
	};

	check_all(pairs, MR_LEN(pairs), NULL, NULL, MR_EINVAL);
}

static void limits_hold(void)
{
	static const struct mr_template_options small = { .fuel = 1000,
		.memory_bytes = 100000,
		.depth = 5 };
	static const struct pair pairs[] = {
		{ "{% for x in range(1000) %}{{ x }}{% endfor %}",
			"t:1: rendering takes too many steps" },
		{ "{{ 'x' * 1000000 }}", "t:1: rendering takes too much memory" },
		{ "{% macro m(n) %}{{ m(n) }}{% endmacro %}{{ m(1) }}",
			"t:1: templates and macros are nested too deeply" },
		{ "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
			"t:1: templates and macros are nested too deeply" },
	};
	static const struct pair standard[] = {
		{ "{{ 'x' * 5000 }}", "t:1: the output is larger than 4096 bytes" },
		{ "{{ range(1000000) }}", "t:1: range() makes more than 100000 numbers" },
		{ "{% set ns = namespace(a=0) %}{% for i in range(200) %}{% set ns.a = [ns.a] %}{% "
		  "endfor %}"
		  "{{ ns.a|length }}{{ ns.a }}",
			"t:1: a value is nested more than 100 deep" },
		{ "{% set ns = namespace(a=0) %}{% for i in range(200) %}{% set ns.a = [ns.a] %}{% "
		  "endfor %}"
		  "{{ ns.a == [ns.a] }}",
			"t:1: a value is nested more than 100 deep" },
		{ "{% macro m() %}{{ 'x' * 9999999 }}{{ m() }}{% endmacro %}{{ m() }}",
			"t:1: rendering takes too much memory" },
	};

	check_all(pairs, MR_LEN(pairs), NULL, &small, MR_ELIMIT);
	check_all(standard, MR_LEN(standard), NULL, NULL, MR_ELIMIT);
}

static void sources_have_limits(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const struct {
		const char *open, *close;
	} kinds[] = { { "(", ")" }, { "[", "]" }, { "-", "" }, { "not ", "" }, { "1+", "" },
		{ "1 if ", "" }, { "", "|abs" }, { "", ".x" }, { "{1:", "}" } };
	enum mr_code rc;

	for (size_t i = 0; i < MR_LEN(kinds) + 1; i++) {
		struct mr_buf source MR_CLEANUP(mr_buf_release) = { 0 };

		mr_buf_init(&source, 1 << 20);
		if (i < MR_LEN(kinds))
			mr_buf_puts(&source, "{{ ");
		for (size_t j = 0; j < 5000; j++)
			mr_buf_puts(&source, i < MR_LEN(kinds) ? kinds[i].open : "{% if 1 %}");
		if (i < MR_LEN(kinds))
			mr_buf_puts(&source, "1");
		for (size_t j = 0; i < MR_LEN(kinds) && j < 5000; j++)
			mr_buf_puts(&source, kinds[i].close);
		if (i < MR_LEN(kinds))
			mr_buf_puts(&source, " }}");
		CHECK_STR(attempt(arena, mr_buf_text(&source), NULL, NULL, &rc),
			"t:1: nested more than 150 deep");
		CHECK_INT(rc, MR_ELIMIT);
	}
	char *large = mr_arena_alloc(arena, MR_TEMPLATE_SOURCE_BYTES + 2);

	memset(large, 'x', MR_TEMPLATE_SOURCE_BYTES + 1);
	CHECK_STR(attempt(arena, large, NULL, NULL, &rc),
		"t:1: the template is larger than 1048576 bytes");
	CHECK_INT(rc, MR_ELIMIT);
}

/* Jinja2 compares the rest: tests/blackbox/template_jinja.py. */
static void filters_that_jinja2_lacks(void)
{
	static const struct pair pairs[] = {
		{ "{{ 'a b  c'|split|join('-') }} {{ 'a,b,c'|split(',', 1)|join('-') }}",
			"a-b-c a-b,c" },
		{ "{{ 'a\\r\\nb\\n\\nc'|lines|join('|') }}", "a|b||c" },
		{ "{{ 'x'|pprint }}{{ list|pprint }}{{ 1|bool }}", "\"x\"[3, 1, 2]true" },
		{ "{{ 'abc' is startingwith 'ab' }}{{ 'abc' is endingwith('ab') }}", "truefalse" },
		{ "{{ map.deep.x.0 }}{{ {'a': 1, 'a': 2} }}", "1{\"a\": 2}" },
		{ "{{ map|tojson(true) }}",
			"{\n  \"k\": \"v\",\n  \"deep\": {\n    \"x\": [\n      1\n    ]\n  }\n}" },
		{ "{% do list|sort %}{{ 'n' is test }}{{ 'upper' is filter }}", "falsetrue" },
	};

	check_all(pairs, MR_LEN(pairs), NULL, NULL, MR_OK);
}

static void a_template_is_parsed_once_and_rendered_often(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
	char source[] = "{% set x = x ~ '!' %}{{ x }};";
	const struct mr_template *template;
	const struct mr_value *context;
	struct mr_err err;

	CHECK_OK(mr_json_parse(arena, mr_bytes_text("{\"x\":\"a\"}"), NULL, &context, &err), err);
	CHECK_OK(mr_template_parse(arena, "name", mr_bytes_text(source), NULL, &template, &err),
		err);
	memset(source, 'z', strlen(source)); /* nothing points there */
	CHECK_STR(mr_template_name(template), "name");
	mr_buf_init(&out, 100);
	for (int i = 0; i < 3; i++)
		CHECK_OK(mr_template_render(template, context, NULL, &out, &err), err);
	CHECK_OK(mr_template_render(template, NULL, NULL, &out, &err), err);
	CHECK_STR(mr_buf_text(&out), "a!;a!;a!;!;");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(values_print_as_minijinja_prints_them),
		TEST(what_is_undefined_is_empty),
		TEST(strict_refuses_what_is_undefined),
		TEST(white_space_is_as_the_delimiters_say),
		TEST(html_is_escaped_once),
		TEST(templates_use_each_other),
		TEST(the_parser_says_what_is_wrong),
		TEST(a_render_says_what_is_wrong),
		TEST(limits_hold),
		TEST(sources_have_limits),
		TEST(filters_that_jinja2_lacks),
		TEST(a_template_is_parsed_once_and_rendered_often),
	};

	return test_main(tests, MR_LEN(tests));
}
