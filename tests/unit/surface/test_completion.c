/* tests/unit/surface/test_completion.c - the shells themselves try the scripts in blackbox/. */
#include "surface/cli/completion.h"
#include "table.h"
#include "test.h"

#include <string.h>

static void has(enum mr_shell shell, const char *line)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, 1 << 16);
	mr_completion_write(&text, &table, shell);
	CHECK(!text.failed);
	if (!strstr(mr_buf_text(&text), line))
		test_fail(__FILE__, __LINE__, "no \"%s\" in:\n%s", line, mr_buf_text(&text));
}

static void bash_knows_every_path(void)
{
	has(MR_SHELL_BASH,
		"'team'|'team mail'|'team mail send'|'team inbox'|'health'|"
		"'health ready') path=");
	has(MR_SHELL_BASH, "\t'team') word='mail inbox --help ");
	has(MR_SHELL_BASH, "\t'health ready') word='safe force --help ");
	has(MR_SHELL_BASH, "'team mail send') word='--subject --limit --ack-required --cc --mode ");
}

static void zsh_describes_what_it_offers(void)
{
	has(MR_SHELL_ZSH, "'team') candidates=( 'mail:' 'inbox:Show an inbox' '--help:");
	has(MR_SHELL_ZSH, "'--mode:it'\\''s how'");
}

static void fish_has_a_line_for_each(void)
{
	has(MR_SHELL_FISH,
		"complete -c mailroom -n '__mailroom_at \"team\"' -f -a inbox -d 'Show an "
		"inbox'\n");
	has(MR_SHELL_FISH,
		"complete -c mailroom -n '__mailroom_at \"team mail send\"' -l limit -r -d "
		"'how many'\n");
	has(MR_SHELL_FISH, "-l ack-required -d ");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(bash_knows_every_path),
		TEST(zsh_describes_what_it_offers),
		TEST(fish_has_a_line_for_each),
	};

	return test_main(tests, MR_LEN(tests));
}
