/* tests/unit/text/test_html.c */
#include "text/html.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "test.h"

#include <string.h>

enum { MAX = 1 << 20 };

struct sample {
	const char *html;
	const char *text;
};

static void becomes_text(void)
{
	static const struct sample cases[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "<html><head><style>p{color:red}</style><script>alert(1)</script></head><body>"
		  "<h1>Order 5</h1><p>Two &amp; three<br>lines &lt;here&gt;</p><ul><li>one</li>"
		  "<li>two</li></ul><table><tr><td>a</td><td>b</td></tr></table>"
		  "<a href=\"https://shop.example.com/t?x=1\">Track it</a></body></html>",
			"Order 5\nTwo & three\nlines <here>\none\ntwo\na\tb\n"
			"Track it <https://shop.example.com/t?x=1>" },
		{ "<title>t</title><!-- c --><p>a</p><template>x</template>", "a" },
		{ "a  b\n\tc&nbsp;&nbsp;d", "a b c d" },
		{ "a<br>b<br><br>c<br><br><br><br>d", "a\nb\n\nc\n\nd" },
		{ "<p>one<p>two<div>three<div>four</div></div>five",
			"one\ntwo\nthree\nfour\nfive" },
		{ "<b>b</b><i>i</i> <u>u</u>", "bi u" },
		{ "<pre>a\n  b\n\nc</pre>d", "a\n  b\n\nc\nd" },
		{ "caf&eacute; &euro; &#x1F680; &#8217; &unknown;",
			"caf\u00e9 \u20ac \U0001f680 \u2019 &unknown;" },
		{ "<table><tr><td><p>a</p></td><td><div>b</div></td></tr><tr><th>c<th>d</table>",
			"a\nb\nc\td" },
		{ "a<hr>b", "a\nb" },
		{ "<p>broken <b>tag <a href='http://x.y/'>link", "broken tag link <http://x.y/>" },
		{ "<img alt='A cat' src=x><img alt='' src=y><img src=z>", "[image: A cat]" },
		{ "<meta charset=gb2312><p>caf\u00e9</p>", "caf\u00e9" },
		{ "1 < 2 <<b>3</b> </ 4", "1 < 2 <3 4" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(mr_html_to_text(arena, cases[i].html, MAX), cases[i].text);
}

static void keeps_link_targets(void)
{
	static const struct sample cases[] = {
		{ "<a href='https://a.b/c'>https://a.b/c</a>", "https://a.b/c" },
		{ "<a href='https://a.b/c'>a.b/c</a>", "a.b/c" },
		{ "<a href='mailto:a@b.c'>a@b.c</a>", "a@b.c" },
		{ "<a href='mailto:a@b.c'>Write</a>", "Write <mailto:a@b.c>" },
		{ "<a href='HTTP://evil.example/'>https://bank.example/</a>",
			"https://bank.example/ <HTTP://evil.example/>" },
		{ "<a href='javascript:alert(1)'>x</a> <a href='data:text/html,y'>y</a> "
		  "<a href='#top'>z</a> <a href='/rel'>r</a> <a>n</a>",
			"x y z r n" },
		{ "<a href=' java\tscript:x'>x</a>", "x" },
		{ "<a href='http://a/ b<c>\"\\'>x</a>", "x <http://a/%20b%3Cc%3E%22%5C>" },
		{ "<a href='http://a/\r\nb'>x</a>", "x <http://a/b>" },
		{ "<a href='http://a/'><img src=x></a>", "<http://a/>" },
		{ "<a href='http://a/'><p>block</p></a>next", "block <http://a/>\nnext" },
		{ "<a href='http://a/'>one<a href='http://b/'>two</a>",
			"one <http://a/>two <http://b/>" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(mr_html_to_text(arena, cases[i].html, MAX), cases[i].text);
}

static void becomes_markdown(void)
{
	static const struct sample cases[] = {
		{ "<h1>Order 5</h1><p>Two &amp; three<br>lines &lt;here&gt;</p><ul><li>one</li>"
		  "<li>two</li></ul><a href='https://a.b/t?x=1'>Track it</a>",
			"# Order 5\n\nTwo \\& three\nlines \\<here\\>\n\n- one\n- two\n\n"
			"[Track it](https://a.b/t?x=1)" },
		{ "<ol><li>a<ul><li>b</ul><li>c</ol>d", "1. a\n    - b\n2. c\n\nd" },
		{ "<blockquote>q<blockquote>r</blockquote></blockquote>s", "> q\n>\n> > r\n\ns" },
		{ "# no heading", "\\# no heading" },
		{ "- no item", "\\- no item" },
		{ "1. no item", "1\\. no item" },
		{ "1.5 and -2", "1\\.5 and -2" },
		{ "*a* _b_ `c` [d](e) ~f~ |g|",
			"\\*a\\* \\_b\\_ \\`c\\` \\[d\\](e) \\~f\\~ \\|g\\|" },
		{ "&lt;script&gt;", "\\<script\\>" },
		{ "a<hr>b", "a\n\n---\n\nb" },
		{ "<a href='http://a/(b)'>x]y</a>", "[x\\]y](http://a/%28b%29)" },
		{ "<a href='http://a/'><p>a</p><p>b</p></a>", "[a b](http://a/)" },
		{ "<a href='http://a/'></a>", "[link](http://a/)" },
		{ "<table><tr><td>a<td>b</table>", "a \\| b" },
		{ "<li>no list", "no list" },
		{ "<a href='http://a/'>", "[link](http://a/)" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(mr_html_to_markdown(arena, cases[i].html, MAX), cases[i].text);
}

static const char *repeat(struct mr_arena *arena, const char *head, const char *text, size_t bytes)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, bytes + 1024);
	mr_buf_puts(&buf, head);
	while (buf.len < bytes)
		mr_buf_puts(&buf, text);
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

static void survives_hostile_html(void)
{
	static const char *const texts[] = { "<div>", "<b>x", "</p>", "<a href=http://x/>", "<",
		"&", "&#", "<!--", "<table><tr><td>", "<ul><li>", "<blockquote>x", "<pre>\n", "<p",
		"<html a=b>", "<script>", "<![CDATA[", "<?", "</", "<a x=\"", "<br>", "<p>a</p>" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(texts); i++) {
		const char *html = repeat(arena, "seen ", texts[i], 200000);
		const char *text = mr_html_to_text(arena, html, 1000);
		const char *md = mr_html_to_markdown(arena, html, 1000);

		CHECK_STR(mr_arena_strndup(arena, text, 4), "seen");
		CHECK_STR(mr_arena_strndup(arena, md, 4), "seen");
		CHECK(strlen(text) <= 1000 && strlen(md) <= 1000);
	}
}

static void refuses_a_tag_of_many_attributes(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	const char *image;

	mr_buf_init(&buf, 4 << 20);
	mr_buf_puts(&buf, "<p>before<p");
	for (int i = 0; i < 300000; i++)
		mr_buf_printf(&buf, " a%d", i);
	CHECK_STR(mr_html_to_text(arena, mr_buf_text(&buf), MAX),
		"before\n[HTML that cannot be shown]");
	/* A picture in an attribute and a long comment are none. */
	image = repeat(arena, "<!-- ", "a b ", 20000);
	image = mr_arena_printf(arena, "%s--><img src=\"data:%s\" alt=\"x\"><p>ok</p>", image,
		repeat(arena, "", "/+A", 200000));
	CHECK_STR(mr_html_to_text(arena, image, MAX), "[image: x]\nok");
}

static void cuts_between_characters(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	CHECK_STR(mr_html_to_text(arena, "\u00e9\u00e9\u00e9", 5), "\u00e9\u00e9");
	CHECK_STR(mr_html_to_text(arena, "abc def", 4), "abc");
	CHECK_STR(mr_html_to_text(arena, "abc", 0), "");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(becomes_text),
		TEST(keeps_link_targets),
		TEST(becomes_markdown),
		TEST(survives_hostile_html),
		TEST(refuses_a_tag_of_many_attributes),
		TEST(cuts_between_characters),
	};

	return test_main(tests, MR_LEN(tests));
}
