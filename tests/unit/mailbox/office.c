/* tests/unit/mailbox/office.c - three agents in one root, and their verbs in one line. */
#include "office.h"

#include "mailbox/mail_fs.h"
#include "mailbox/repair.h"
#include "test.h"
#include "text/time.h"

static struct mr_mail open_mail(struct post *post, const char *name)
{
	struct mr_mail mail;

	CHECK_OK(mr_mail_fs_open(&post->cx, "root", post_address(post, name), false, &mail),
		post->cx.err);
	return mail;
}

void office_open(struct office *o)
{
	post_open(&o->post);
	post_account(&o->post, "alice");
	post_account(&o->post, "bob");
	post_account(&o->post, "carol");
	o->cx = &o->post.cx;
	o->alice = open_mail(&o->post, "alice");
	o->bob = open_mail(&o->post, "bob");
	o->carol = open_mail(&o->post, "carol");
}

void office_close(struct office *o)
{
	struct mr_mailbox_check_result result;

	/* Whatever a test does with verbs, the root is well afterwards. */
	CHECK_OK(mr_mailbox_check(o->cx, "root", &result), o->cx->err);
	if (result.problem_count)
		test_fail(__FILE__, __LINE__, "%s %s", result.problems[0].what,
			result.problems[0].path);
	mr_mail_close(&o->alice);
	mr_mail_close(&o->bob);
	mr_mail_close(&o->carol);
	post_close(&o->post);
}

struct mr_mail_draft office_draft(struct office *o, const char *to, const char *subject,
	const char *body)
{
	return (struct mr_mail_draft){
		.to = mr_str_split(o->cx->arena, to, ','),
		.subject = subject,
		.body = mr_bytes_text(body),
	};
}

/* Each a second after the one before. */
struct mr_mail_message office_send(struct office *o, const struct mr_mail *from, const char *to,
	const char *subject, const char *body)
{
	struct mr_mail_draft d = office_draft(o, to, subject, body);
	struct mr_mail_message sent;

	o->post.clock.now_us += MR_TIME_S;
	CHECK_OK(mr_mail_send(o->cx, from, &d, &sent), o->cx->err);
	return sent;
}

struct mr_mail_message office_peek(struct office *o, const struct mr_mail *mail, const char *ref)
{
	struct mr_mail_message message;

	CHECK_OK(mr_mail_peek(o->cx, mail, ref, NULL, &message), o->cx->err);
	return message;
}

const char *office_body(struct office *o, const struct mr_mail_message *message)
{
	return mr_arena_strndup(o->cx->arena, (const char *)message->content.body.data,
		message->content.body.len);
}

void office_check_view(const struct mr_mail_message *message, const char *flags, const char *box)
{
	const char got[] = { message->view.read ? 'r' : '-', message->view.answered ? 'a' : '-',
		message->view.archived ? 'x' : '-', '\0' };

	CHECK_STR(got, flags);
	CHECK_STR(message->view.box, box);
}

/* What is in a box: the subjects, newest first. */
const char *office_subjects(struct office *o, const struct mr_mail *mail,
	const struct mr_mail_query *query)
{
	struct mr_mail_list list;
	const char *text = "";

	CHECK_OK(mr_mail_list(o->cx, mail, query, &list), o->cx->err);
	for (size_t i = 0; i < list.messages.len; i++)
		text = mr_arena_printf(o->cx->arena, "%s%s%s", text, i ? " " : "",
			list.messages.items[i].content.subject);
	return text;
}

const char *office_in_box(struct office *o, const struct mr_mail *mail, const char *box)
{
	struct mr_mail_query query = MR_MAIL_QUERY_INIT;

	query.box = box;
	return office_subjects(o, mail, &query);
}
