/* tests/unit/text/test_markdown.c */
#include "text/markdown.h"

#include "base/utf8.h"
#include "html_check.h"
#include "test.h"

#include <string.h>

#define REL "\" rel=\"noopener noreferrer nofollow\""

static const char *to_html(struct mr_arena *arena, struct mr_bytes md)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;

	mr_buf_init(&buf, 64 << 20);
	CHECK_OK(mr_markdown_to_html(&buf, md, &err), err);
	CHECK_STR(html_check(mr_buf_text(&buf)), NULL);
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

static void renders(void)
{
	static const struct {
		const char *md;
		const char *html;
	} cases[] = {
		{ "", "" },
		{ "a\nb", "<p>a\nb</p>\n" },
		{ "a  \nb", "<p>a<br>\nb</p>\n" },
		{ "# One\n\n###### Six", "<h1>One</h1>\n<h6>Six</h6>\n" },
		{ "*a* **b** ~~c~~ `d`",
			"<p><em>a</em> <strong>b</strong> <del>c</del> <code>d</code></p>\n" },
		{ "- a\n- b", "<ul><li>a</li>\n<li>b</li>\n</ul>\n" },
		{ "1. a\n2. b", "<ol><li>a</li>\n<li>b</li>\n</ol>\n" },
		{ "7) a", "<ol start=\"7\"><li>a</li>\n</ol>\n" },
		{ "- [ ] a\n- [x] b",
			"<ul><li><span class=\"task-open\">\u2610</span> a</li>\n"
			"<li><span class=\"task-done\">\u2611</span> b</li>\n</ul>\n" },
		{ "> q", "<blockquote><p>q</p>\n</blockquote>\n" },
		{ "---", "<hr>\n" },
		{ "```c\na < b\n```", "<pre><code class=\"language-c\">a &lt; b\n</code></pre>\n" },
		{ "~~~c++ more\nx\n~~~", "<pre><code class=\"language-c++\">x\n</code></pre>\n" },
		{ "```\"><script>\nx\n```", "<pre><code>x\n</code></pre>\n" },
		{ "```a&#34;b\nx\n```", "<pre><code>x\n</code></pre>\n" },
		{ "    indented", "<pre><code>indented\n</code></pre>\n" },
		{ "a|b|c|d\n---|:---|:---:|---:\n1|2",
			"<table><thead><tr><th>a</th>\n<th class=\"align-left\">b</th>\n"
			"<th class=\"align-center\">c</th>\n<th class=\"align-right\">d</th>\n"
			"</tr>\n</thead>\n<tbody><tr><td>1</td>\n<td class=\"align-left\">2</td>\n"
			"<td class=\"align-center\"></td>\n<td class=\"align-right\"></td>\n"
			"</tr>\n</tbody>\n</table>\n" },
		{ "&eacute; &#233; &#xE9; &lt;b&gt; &unknown; & &#0; &#27; &#xD800; &#1114112;",
			"<p>&eacute; \u00e9 \u00e9 &lt;b&gt; &unknown; &amp; \ufffd \ufffd \ufffd "
			"\ufffd</p>\n" },
		{ "<b onclick=x>'\"&", "<p>&lt;b onclick=x&gt;&#39;&quot;&amp;</p>\n" },
		{ "<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n" },
		/* The parser leaves the strike open. */
		{ "~[](~)\n\nb", "<p><del></del></p>\n<p>b</p>\n" },
		{ "<!-- x -->", "<p>&lt;!-- x --&gt;</p>\n" },
		{ "bad \xff\xc3 esc \x1b[1m nel \xc2\x85 del \x7f",
			"<p>bad \ufffd\ufffd esc \ufffd[1m nel \ufffd del \ufffd</p>\n" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(to_html(arena, mr_bytes_text(cases[i].md)), cases[i].html);
}

static void links_only_where_it_may(void)
{
	static const struct {
		const char *md;
		const char *html; /* of the paragraph */
	} cases[] = {
		{ "[a](http://x.y/?a=1&b=2)", "<a href=\"http://x.y/?a=1&amp;b=2" REL ">a</a>" },
		{ "[a](HTTPS://x.y \"t<\\\"&amp;\")",
			"<a href=\"HTTPS://x.y" REL " title=\"t&lt;&quot;&amp;\">a</a>" },
		{ "[a](<http://x.y/a b\"'>)", "<a href=\"http://x.y/a%20b%22&#39;" REL ">a</a>" },
		{ "[a](http://x.y/\u00e9)", "<a href=\"http://x.y/%C3%A9" REL ">a</a>" },
		{ "[a](&#104;ttp://x.y)", "<a href=\"http://x.y" REL ">a</a>" },
		{ "[a](mailto:a@b.c)", "<a href=\"mailto:a@b.c" REL ">a</a>" },
		{ "[a](#b)", "<a href=\"#b" REL ">a</a>" },
		{ "[a](/b/c)", "<a href=\"/b/c" REL ">a</a>" },
		{ "<http://x.y>", "<a href=\"http://x.y" REL ">http://x.y</a>" },
		{ "http://x.y/z www.x.y a@b.c",
			"<a href=\"http://x.y/z" REL ">http://x.y/z</a> "
			"<a href=\"http://www.x.y" REL ">www.x.y</a> "
			"<a href=\"mailto:a@b.c" REL ">a@b.c</a>" },
		{ "[](http://x.y/&)", "<a href=\"http://x.y/&amp;" REL ">http://x.y/&amp;</a>" },
		{ "[a][r]\n\n[r]: http://x.y", "<a href=\"http://x.y" REL ">a</a>" },
		{ "[*a* `b`](/c)", "<a href=\"/c" REL "><em>a</em> <code>b</code></a>" },
		{ "![a](http://x.y/i.png)",
			"<a href=\"http://x.y/i.png" REL " class=\"image\">a</a>" },
		{ "![a](data:image/png;base64,AAAA)", "a" },
		{ "[![a](http://x.y/i)](/b)", "<a href=\"/b" REL ">a</a>" },
		{ "![a [b](/c) d](http://x.y)",
			"<a href=\"http://x.y" REL " class=\"image\">a b d</a>" },
		{ "[a](javascript:alert(1))", "a" },
		{ "[a](JaVaScRiPt:alert(1))", "a" },
		{ "[a](&#106;avascript:alert(1))", "a" },
		{ "[a](&#x6A;avascript&colon;alert(1))", "a" },
		{ "[a](javascript&colon;alert(1))", "a" },
		{ "[a](java&#9;script:alert(1))", "a" },
		{ "[a](java&NewLine;script:alert(1))", "a" },
		{ "[a](&#1;javascript:alert(1))", "a" },
		{ "[a](<  javascript:alert(1)>)", "a" },
		{ "[a](vbscript:x) [b](data:text/html,x) [c](file:///x)", "a b c" },
		{ "<javascript:alert(1)>", "javascript:alert(1)" },
		{ "[a](//x.y) [b](/\\x.y) [c](/&#47;x.y) [d](&sol;/x.y)", "a b c d" },
		{ "[a](/&#9;/x.y)", "a" },
		{ "[a](http:x) [b](relative) [c](?q) [d]() [e](\\\\x.y)", "a b c d e" },
		{ "[r]\n\n[r]: javascript:alert(1)", "r" },
		{ "[a](http://x.y/&quot;onmouseover=&quot;b)",
			"<a href=\"http://x.y/%22onmouseover=%22b" REL ">a</a>" },
		{ "[a](/b \"\\\" onmouseover=\\\"x\")",
			"<a href=\"/b" REL " title=\"&quot; onmouseover=&quot;x\">a</a>" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(to_html(arena, mr_bytes_text(cases[i].md)),
			mr_arena_printf(arena, "<p>%s</p>\n", cases[i].html));
}

static void knows_addresses(void)
{
	static const char *const allowed[] = { "http://a", "https://a", "HtTp://a", "mailto:a", "#",
		"#a", "/", "/a//b" };
	static const char *const refused[] = { "", "//a", "/\\a", "a", "http:/a", "httpx://a",
		"javascript:a", " http://a", "\thttp://a", "http://a\n", "/\t/a", "\\/a", "mailto",
		"data:,a" };

	for (size_t i = 0; i < MR_LEN(allowed); i++)
		CHECK(mr_markdown_url_is_allowed(allowed[i]));
	for (size_t i = 0; i < MR_LEN(refused); i++)
		CHECK(!mr_markdown_url_is_allowed(refused[i]));
}

static void the_second_opinion_can_say_no(void)
{
	static const char *const bad[] = { "<script>", "<p>", "</p>", "<p></em>",
		"<p><em></p></em>", "a < b", "a > b", "a & b", "\"", "<p onclick=\"x\"></p>",
		"<a href=\"javascript:x\"></a>", "<a href=\"&#106;avascript:x\"></a>",
		"<a href=\"//x\"></a>", "<a href=\" /x\"></a>", "<img src=\"/x\">",
		"<p style=\"x\"></p>", "<a href='/x'></a>", "<br/>", "<p title=\"x\"></p>" };

	for (size_t i = 0; i < MR_LEN(bad); i++) {
		if (!html_check(bad[i]))
			test_fail(__FILE__, __LINE__, "accepted: %s", bad[i]);
	}
	CHECK_STR(html_check("<p>a &amp; b<br><a href=\"/x\">c</a></p>"), NULL);
}

static void a_full_buffer_is_an_error(void)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;

	mr_buf_init(&buf, 40);
	mr_buf_puts(&buf, "before");
	CHECK_INT(mr_markdown_to_html(&buf, mr_bytes_text("# a long title, too long for this"),
			  &err),
		MR_ELIMIT);
	CHECK(strstr(err.msg, "the HTML of a message"));
	CHECK_STR(mr_buf_text(&buf), "before");
}

static void appends(void)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;

	mr_buf_init(&buf, 100);
	mr_buf_puts(&buf, "<");
	CHECK_OK(mr_markdown_to_html(&buf, mr_bytes_text("a"), &err), err);
	CHECK_STR(mr_buf_text(&buf), "<<p>a</p>\n");
}

struct hostile {
	const char *before;
	const char *part;
	size_t count;
	const char *middle;
	const char *after;
	size_t after_count;
	bool as_it_stands; /* too costly to parse */
};

static const struct hostile hostile[] = {
	{ "", "![[]()", 20000, "", "", 0, false },
	{ "", "www.a@", 20000, "", "", 0, false },
	{ "", ">", 50000, "a", "", 0, false },
	{ "", "- ", 50000, "a", "", 0, false },
	{ "", "1. ", 50000, "a", "", 0, false },
	{ "", "> - ", 30000, "a", "", 0, false },
	{ "", "*a _b ", 20000, "", "", 0, false },
	{ "", "a**b", 20000, "c ", "* ", 20000, false },
	{ "", "*a ", 30000, "", "b*", 30000, false },
	{ "", "`", 100000, "a", "", 0, false },
	{ "", "`a``b```c````", 10000, "", "", 0, false },
	{ "", "[a](", 20000, "", "", 0, false },
	{ "", "[", 50000, "a", "](/b)", 20000, false },
	{ "", "![", 20000, "a", "](/b)", 20000, false },
	{ "", "<a ", 30000, "", "", 0, false },
	{ "", "<", 100000, "", "", 0, false },
	{ "", "&", 100000, "", "", 0, false },
	{ "", "\\", 100000, "", "", 0, false },
	{ "", "~~a ", 30000, "", "", 0, false },
	{ "a|b\n---|---\n", "|", 100000, "", "", 0, false },
	{ "", "http://a.b", 10000, "", "", 0, false },
	{ "http://a.b/", "(", 100000, "", "", 0, false },
	{ "", "- ```\n", 20000, "", "", 0, false },
	{ "", "a\n", 50000, "===", "", 0, false },
	/* Quadratic in the parser; some seconds each. */
	{ "[a]: /u\n\n", "[", 40000, "", "]", 40000, true },
	{ "[a]: /u\n\n", "[\n", 20000, "", "]\n", 20000, true },
	{ "", "[a](b)\n", 40000, "", "", 0, true },
	{ "", "www.a.b\n", 40000, "", "", 0, true },
	{ "", "- ", 50000, "a\n", "\n", 50000, true },
	/* A short text that would become a long one. */
	{ "|", "a|", 4000, "\n|", "---|", 4000, false },
	{ "", "a", 2000000, "", "", 0, true },
};

static void build(struct mr_buf *md, const struct hostile *shape)
{
	mr_buf_puts(md, shape->before);
	for (size_t i = 0; i < shape->count; i++)
		mr_buf_puts(md, shape->part);
	mr_buf_puts(md, shape->middle);
	for (size_t i = 0; i < shape->after_count; i++)
		mr_buf_puts(md, shape->after);
}

/* Each ends, and with no more than a fixed share of output. */
static void survives_hostile_shapes(void)
{
	for (size_t i = 0; i < MR_LEN(hostile); i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_buf md MR_CLEANUP(mr_buf_release) = { 0 };
		const char *html;

		mr_buf_init(&md, 4 << 20);
		build(&md, &hostile[i]);
		html = to_html(arena, mr_buf_bytes(&md));
		CHECK(strlen(html) < 64 * md.len + 1000);
		if (hostile[i].as_it_stands !=
			(mr_str_starts(html, "<pre>") && !mr_str_starts(html, "<pre><code")))
			test_fail(__FILE__, __LINE__, "shape %zu, %s: %.60s", i, hostile[i].part,
				html);
		CHECK(strlen(mr_markdown_to_text(arena, mr_buf_bytes(&md), 1000)) <= 1000);
		CHECK(strlen(mr_markdown_to_text(arena, mr_buf_bytes(&md), 1 << 20)) <= 1 << 20);
	}
}

/* References and empty cells multiply: given up in the middle, and nothing is left of the attempt.
 */
static void a_short_text_does_not_become_a_long_one(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf md MR_CLEANUP(mr_buf_release) = { 0 };
	const char *html;

	mr_buf_init(&md, 1 << 20);
	mr_buf_puts(&md, "[a]: /");
	mr_buf_pad(&md, 'u', 50000);
	mr_buf_puts(&md, "\n\n");
	for (int i = 0; i < 5000; i++)
		mr_buf_puts(&md, "[a] ");
	html = to_html(arena, mr_buf_bytes(&md));
	CHECK(mr_str_starts(html, "<pre>[a]: /uuu"));
	CHECK(strlen(html) < md.len + 1000);

	mr_buf_clear(&md);
	for (int i = 0; i < 4000; i++)
		mr_buf_puts(&md, "|a");
	mr_buf_puts(&md, "|\n");
	for (int i = 0; i < 4000; i++)
		mr_buf_puts(&md, "|---");
	mr_buf_puts(&md, "|\n");
	for (int i = 0; i < 4000; i++)
		mr_buf_puts(&md, "|b|\n");
	html = to_html(arena, mr_buf_bytes(&md));
	CHECK(mr_str_starts(html, "<pre>|a|a"));
}

static void a_long_honest_text_is_parsed(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf md MR_CLEANUP(mr_buf_release) = { 0 };
	const char *html;

	mr_buf_init(&md, 1 << 20);
	mr_buf_puts(&md, "# Log\n\n```\n");
	for (int i = 0; i < 8000; i++)
		mr_buf_printf(&md, "[%05d] INFO [worker] array[%d]: see https://x.y/%d\n", i, i, i);
	mr_buf_puts(&md, "```\n\n[1]: /u\n");
	for (int i = 0; i < 2000; i++)
		mr_buf_printf(&md, "- item %d with [a link](http://x.y/%d) and [1]\n\n", i, i);
	html = to_html(arena, mr_buf_bytes(&md));
	CHECK(mr_str_starts(html, "<h1>Log</h1>\n<pre><code>[00000]"));
}

/* Plain text */

static void becomes_text(void)
{
	static const struct {
		const char *md;
		const char *text;
	} cases[] = {
		{ "", "" },
		{ "# Title\nText\nmore", "Title\n\nText more" },
		{ "a  \nb", "a\nb" },
		{ "*a* **b** ~~c~~ `d e`", "a b c d e" },
		{ "- a\n- b\n  - c\n- d\n\nend", "- a\n- b\n  - c\n- d\n\nend" },
		{ "- a\n\n- b\n\n  c", "- a\n\n- b\n\n  c" },
		{ "- - a\n- \n- b", "- - a\n- b" },
		{ "-\n\nx", "x" },
		{ "9. a\n1. b\n   - c\n1. d", "9. a\n10. b\n    - c\n11. d" },
		{ "0. a", "0. a" },
		{ "- [ ] a\n- [x] b", "- [ ] a\n- [x] b" },
		{ "> a\n> b\n> > c\n\nd", "> a b\n\n> > c\n\nd" },
		{ "```c\nif (a < b)\n\n  return;\n```\nx", "if (a < b)\n\n  return;\n\nx" },
		{ "- a\n\n      code\n      more", "- a\n\n  code\n  more" },
		{ "a|b\n---|---\n1|2\n3|", "a | b\n1 | 2\n3 |" },
		{ "---\n\nx", "---\n\nx" },
		{ "[a](http://x.y) [http://x.y](http://x.y) http://x.y <a@b.c> www.x.y",
			"a (http://x.y) http://x.y http://x.y a@b.c www.x.y" },
		{ "[a](#b) [c](javascript:x) [](/d) [e](/f)", "a c /d e (/f)" },
		{ "![a](http://x.y)", "a (http://x.y)" },
		{ "&amp; &eacute; &#233; &unknown; &lt;b> <i>",
			"& \u00e9 \u00e9 &unknown; <b> <i>" },
		{ "a\x1b[31m &#27; \xff", "a\ufffd[31m \ufffd \ufffd" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(mr_markdown_to_text(arena, mr_bytes_text(cases[i].md), 1000),
			cases[i].text);
}

static void cuts_text_between_characters(void)
{
	static const struct {
		const char *md;
		size_t max;
		const char *text;
	} cases[] = {
		{ "abcdef", 6, "abcdef" },
		{ "abcdefg", 6, "abc\u2026" },
		{ "ab cdefg", 6, "ab\u2026" },
		{ "\u00e9\u00e9\u00e9\u00e9", 6, "\u00e9\u2026" },
		{ "\u00e9\u00e9\u00e9\u00e9", 7, "\u00e9\u00e9\u2026" },
		{ "# Title\n\nBody", 8, "Title\u2026" },
		{ "abc", 2, "ab" },
		{ "abc", 0, "" },
		{ "", 0, "" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(mr_markdown_to_text(arena, mr_bytes_text(cases[i].md), cases[i].max),
			cases[i].text);
}

static void a_preview_reads_only_the_beginning(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf md MR_CLEANUP(mr_buf_release) = { 0 };
	const char *text;

	mr_buf_init(&md, 1 << 20);
	/* Nothing shows before the cut, which is in the middle of a character. */
	mr_buf_puts(&md, "x");
	for (int i = 0; i < 30000; i++)
		mr_buf_puts(&md, "\u00a0\u2003");
	mr_buf_puts(&md, "end");
	text = mr_markdown_to_text(arena, mr_buf_bytes(&md), 100);
	CHECK(mr_utf8_is_valid(text, strlen(text), NULL));
	CHECK(!strstr(text, "\ufffd"));
	CHECK(mr_str_ends(text, "\u2026"));
}

/* Fences */

static void finds_fences(void)
{
	static const struct {
		const char *md;
		bool found;
		size_t open_line;
		size_t close_line;
		const char *text;
	} cases[] = {
		{ "", false, 0, 0, NULL },
		{ "```x\na\n```", true, 1, 3, "a" },
		{ "t\n\n```x\na\n b \n```\nrest", true, 3, 6, "a\n b" },
		{ "``` x \t\n  a\n```  \n", true, 1, 3, "a" },
		{ "```\u00a0x\u2003\na\n```\u3000", true, 1, 3, "a" },
		{ "```x\n```", true, 1, 2, "" },
		{ "```x\n \n\n```\n```x\nb\n```", true, 1, 4, "" },
		{ "```x\na", true, 1, 0, NULL },
		{ "```x\na\n ```", true, 1, 0, NULL },
		{ "```x\na\n````\n", true, 1, 0, NULL },
		{ "```x\na\n```y\nb\n```", true, 1, 5, "a\n```y\nb" },
		{ " ```x\na\n```", false, 0, 0, NULL },
		{ "~~~x\na\n~~~", false, 0, 0, NULL },
		{ "````x\na\n````", false, 0, 0, NULL },
		{ "```X\na\n```", false, 0, 0, NULL },
		{ "```x y\na\n```", false, 0, 0, NULL },
		{ "```\n```x\na\n```\n```", true, 2, 4, "a" },
		{ "a\r\n```x\r\nb\r\nc\r\n```\r\n", true, 2, 5, "b\nc" },
		{ "a\r```x\rb\r```", true, 2, 4, "b" },
		{ "a\v```x\fb\x1c"
		  "c\x1d"
		  "d\x1e```",
			true, 2, 6, "b\nc\nd" },
		{ "a\xc2\x85```x\u2028b\u2029```", true, 2, 4, "b" },
		{ "```x\na\x1f\n```", true, 1, 3, "a" },
		{ "```x\na\u200b\n```", true, 1, 3, "a\u200b" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_markdown_fence got;

		mr_markdown_fence_find(arena, mr_bytes_text(cases[i].md), "x", &got);
		CHECK_INT(got.found, cases[i].found);
		CHECK_INT(got.open_line, cases[i].open_line);
		CHECK_INT(got.close_line, cases[i].close_line);
		CHECK_INT(got.closed, cases[i].text != NULL);
		CHECK_STR(got.text, cases[i].text);
	}
}

static void knows_what_closes_a_fence(void)
{
	CHECK(mr_markdown_fence_is_closed_by(mr_bytes_text("a\n```  \nb")));
	CHECK(mr_markdown_fence_is_closed_by(mr_bytes_text("```")));
	CHECK(!mr_markdown_fence_is_closed_by(mr_bytes_text("")));
	CHECK(!mr_markdown_fence_is_closed_by(mr_bytes_text("```x\n ```\n````")));
}

static void embeds_foreign_text(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	CHECK_STR(mr_markdown_fence_around(arena, "a", "text"), "```text\na\n```");
	CHECK_STR(mr_markdown_fence_around(arena, "a\n", "text"), "```text\na\n```");
	CHECK_STR(mr_markdown_fence_around(arena, "", "text"), "```text\n```");
	CHECK_STR(mr_markdown_fence_around(arena, "x ````` ``\n```\n", "text"),
		"``````text\nx ````` ``\n```\n``````");
	CHECK_STR(mr_markdown_inline(arena, " a\r\nb\n"), "a  b");
	CHECK_STR(mr_markdown_inline(arena,
			  "Ann Lee <ann@example.com>, <list.example.com>, a < b <"),
		"Ann Lee <ann@example.com>, <list.example.com>, a < b <");
	CHECK_STR(mr_markdown_inline(arena, "<!-- end --> </p><?x <b>x <img src=y><br"),
		"\\<!-- end --> \\</p>\\<?x \\<b>x \\<img src=y>\\<br");
	CHECK_STR(mr_markdown_inline(arena, "![x](http://e) [y] (z)"), "![x\\](http://e) [y] (z)");
	/* What is escaped stays so, and a backslash does not undo it. */
	CHECK_STR(mr_markdown_inline(arena, "\\<b> \\\\<b> [x\\](u) [x\\\\](u)"),
		"\\<b> \\\\\\<b> [x\\](u) [x\\\\\\](u)");
	CHECK_STR(mr_markdown_alt(arena, "a [b]\\\nc"), "a \\[b\\]\\\\ c");
	CHECK_STR(mr_markdown_cell(arena, "a|b\nc"), "a\\|b c");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(renders),
		TEST(links_only_where_it_may),
		TEST(knows_addresses),
		TEST(the_second_opinion_can_say_no),
		TEST(a_full_buffer_is_an_error),
		TEST(appends),
		TEST(survives_hostile_shapes),
		TEST(a_short_text_does_not_become_a_long_one),
		TEST(a_long_honest_text_is_parsed),
		TEST(becomes_text),
		TEST(cuts_text_between_characters),
		TEST(a_preview_reads_only_the_beginning),
		TEST(finds_fences),
		TEST(knows_what_closes_a_fence),
		TEST(embeds_foreign_text),
	};
	return test_main(tests, MR_LEN(tests));
}
