/* tests/unit/team/test_team_model.c */
#include "team/model.h"

#include "base/attr.h"
#include "test.h"

static void words_come_back(void)
{
	for (int i = MR_TEAM_LOW; i <= MR_TEAM_URGENT; i++) {
		enum mr_team_importance out = MR_TEAM_LOW;

		CHECK(mr_team_importance_of(mr_team_importance_name((enum mr_team_importance)i),
			&out));
		CHECK_INT(out, i);
	}
	for (int i = MR_TEAM_TO; i <= MR_TEAM_BCC; i++) {
		enum mr_team_recipient_kind out = MR_TEAM_TO;

		CHECK(mr_team_kind_of(mr_team_kind_name((enum mr_team_recipient_kind)i), &out));
		CHECK_INT(out, i);
	}
	for (int i = MR_TEAM_OPEN; i <= MR_TEAM_BLOCK_ALL; i++) {
		enum mr_team_contact_policy out = MR_TEAM_OPEN;

		CHECK(mr_team_contact_policy_of(mr_team_contact_policy_name(
							(enum mr_team_contact_policy)i),
			&out));
		CHECK_INT(out, i);
	}
	for (int i = MR_TEAM_ATTACH_AUTO; i <= MR_TEAM_ATTACH_DENY; i++) {
		enum mr_team_attachments_policy out = MR_TEAM_ATTACH_AUTO;

		CHECK(mr_team_attachments_policy_of(mr_team_attachments_policy_name(
							    (enum mr_team_attachments_policy)i),
			&out));
		CHECK_INT(out, i);
	}
	for (int i = MR_TEAM_PENDING; i <= MR_TEAM_BLOCKED; i++) {
		enum mr_team_link_status out = MR_TEAM_PENDING;

		CHECK(mr_team_link_status_of(mr_team_link_status_name((enum mr_team_link_status)i),
			&out));
		CHECK_INT(out, i);
	}
}

static void the_contracts_words_are_used(void)
{
	CHECK_STR(mr_team_importance_name(MR_TEAM_URGENT), "urgent");
	CHECK_STR(mr_team_kind_name(MR_TEAM_BCC), "bcc");
	CHECK_STR(mr_team_contact_policy_name(MR_TEAM_CONTACTS_ONLY), "contacts_only");
	CHECK_STR(mr_team_attachments_policy_name(MR_TEAM_ATTACH_FILE), "attach");
	CHECK_STR(mr_team_link_status_name(MR_TEAM_APPROVED), "approved");
}

static void words_of_the_peers_are_known(void)
{
	enum mr_team_attachments_policy policy = MR_TEAM_ATTACH_AUTO;
	enum mr_team_contact_policy contact = MR_TEAM_OPEN;
	enum mr_team_importance importance = MR_TEAM_HIGH;
	enum mr_team_link_status status = MR_TEAM_PENDING;

	CHECK(mr_team_attachments_policy_of("File", &policy));
	CHECK_INT(policy, MR_TEAM_ATTACH_FILE);
	CHECK(mr_team_attachments_policy_of("reject", &policy));
	CHECK_INT(policy, MR_TEAM_ATTACH_DENY);
	CHECK(mr_team_contact_policy_of("DENY", &contact));
	CHECK_INT(contact, MR_TEAM_BLOCK_ALL);
	CHECK(mr_team_link_status_of("accepted", &status));
	CHECK_INT(status, MR_TEAM_APPROVED);
	/* Others leave what was there. */
	CHECK(!mr_team_importance_of("very", &importance));
	CHECK_INT(importance, MR_TEAM_HIGH);
	CHECK(!mr_team_importance_of(NULL, &importance));
	CHECK(!mr_team_importance_of("", &importance));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(words_come_back),
		TEST(the_contracts_words_are_used),
		TEST(words_of_the_peers_are_known),
	};

	return test_main(tests, MR_LEN(tests));
}
