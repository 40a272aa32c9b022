/* workspace/doctor_people.c - examines contacts and personas. */
#include "workspace/contact.h"
#include "workspace/doctor_private.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/persona.h"

enum mr_code mr_work_exam_contacts(struct mr_work_exam *exam)
{
	const struct mr_work_contacts *contacts = NULL;
	enum mr_code rc = mr_work_contacts_get(exam->cx, exam->work, &contacts);

	if (rc)
		return rc;
	for (size_t i = 0; i < contacts->invalid_paths.len; i++)
		mr_work_exam_tell(exam, "contact_invalid", MR_WORK_BY_HAND,
			contacts->invalid_paths.items[i], NULL,
			"%s. Correct the card, or move it away.",
			contacts->invalid_messages.items[i]);
	/* Both lists are sorted: what belongs together stands together. */
	for (size_t i = 1; i < contacts->len; i++) {
		const struct mr_work_contact *one = &contacts->items[i - 1];
		const struct mr_work_contact *other = &contacts->items[i];

		if (mr_str_eq(one->contact_uid, other->contact_uid))
			mr_work_exam_tell(exam, "duplicate_contact_uid", MR_WORK_BY_HAND,
				other->contact_path, MR_WORK_REFS(other->contact_uid),
				"The card %s has the same uid. Give one of the two another one, in "
				"its name and in its head.",
				one->contact_path);
	}
	for (size_t i = 1; i < contacts->address_count; i++) {
		const struct mr_work_contact_address *one = &contacts->addresses[i - 1];
		const struct mr_work_contact_address *other = &contacts->addresses[i];

		if (mr_str_eq(one->email, other->email))
			mr_work_exam_tell(exam, "contact_email_duplicate", MR_WORK_BY_HAND,
				other->contact->contact_path,
				MR_WORK_REFS(one->contact->contact_uid,
					other->contact->contact_uid),
				"The address %s is on %s too. Remove it from one of the two.",
				other->email, one->contact->contact_path);
	}
	return MR_OK;
}

static void tell(struct mr_work_exam *exam, const char *path, const char *what)
{
	mr_work_exam_tell(exam, "identity_file_invalid", MR_WORK_BY_HAND, path, NULL,
		"%s. The identity goes without what the file says, and sends no mail.", what);
}

/* Without a configuration nobody knows which identities there are: the files are only read. */
static enum mr_code read_personas(struct mr_work_exam *exam)
{
	struct mr_ctx *cx = exam->cx;
	struct mr_texts names = { 0 };
	enum mr_code rc = mr_work_list(cx, exam->work, MR_WORK_IDENTITIES, &names);

	for (size_t i = 0; !rc && i < names.len; i++) {
		const char *path = mr_work_join(cx->arena, MR_WORK_IDENTITIES, names.items[i]);
		struct mr_work_persona persona = { 0 };
		struct mr_bytes file = { 0 };

		if (!mr_work_stem(cx->arena, names.items[i], ".md"))
			continue;
		if (mr_work_read(cx, exam->work, path, &file) ||
			mr_work_persona_read(cx->arena, file, &persona, &cx->err))
			tell(exam, path, cx->err.msg);
		cx->err = (struct mr_err){ 0 };
	}
	return rc;
}

enum mr_code mr_work_exam_personas(struct mr_work_exam *exam)
{
	const struct mr_work_config *config = exam->config;

	if (!config)
		return read_personas(exam);
	for (size_t i = 0; i < config->persona_trouble_count; i++)
		tell(exam, config->persona_troubles[i].path, config->persona_troubles[i].what);
	return MR_OK;
}
