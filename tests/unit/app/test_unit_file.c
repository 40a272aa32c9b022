/* tests/unit/app/test_unit_file.c - systemd itself reads the units in blackbox/service.py. */
#include "app/unit_file.h"

#include "files.h"
#include "test.h"

#include <string.h>

static const struct mr_unit_request plain = {
	.program = "/opt/mail room/100%/mailroom",
	.host = "localhost",
	.port = 8765,
	.socket = "/run/user/7/mailroom/mailroom-8765.sock",
	.runtime_dir = "/run/user/7",
	.config_file = "/etc/my \"own\".yaml",
};

static void has(const char *text, const char *line)
{
	if (!strstr(text, line))
		test_fail(__FILE__, __LINE__, "no \"%s\" in:\n%s", line, text);
}

static const char *socket_of(struct mr_arena *arena, struct mr_unit_request request)
{
	const char *text = NULL;
	struct mr_err err;

	CHECK_OK(mr_unit_socket(arena, &request, &text, &err), err);
	return text;
}

static void it_listens_where_the_settings_say(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_unit_request request = plain;

	has(socket_of(arena, request),
		"\n[Socket]\nListenStream=127.0.0.1:8765\n"
		"ListenStream=%t/mailroom/mailroom-8765.sock\nSocketMode=0600\n");
	request.host = "::1";
	request.socket = "/var/100%/s";
	has(socket_of(arena, request), "ListenStream=[::1]:8765\nListenStream=/var/100%%/s\n");
	request.socket = NULL;
	has(socket_of(arena, request), "ListenStream=[::1]:8765\nSocketMode");
}

static void what_no_service_can_listen_on_is_told(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_unit_request request = plain;
	const char *text;
	struct mr_err err;

	request.host = "box.example";
	CHECK_ERR(mr_unit_socket(arena, &request, &text, &err), err, MR_EINVAL,
		"a service listens on a numeric address, and http.host is box.example: set it to "
		"127.0.0.1");
	request = plain;
	request.port = 0;
	CHECK_ERR(mr_unit_socket(arena, &request, &text, &err), err, MR_EINVAL,
		"a service needs a port of its own: set http.port, which is 0");
}

static void words_are_quoted(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	has(mr_unit_service(arena, &plain),
		"\nExecStart=\"/opt/mail room/100%%/mailroom\" serve --config \"/etc/my "
		"\\\"own\\\".yaml\"\n");
}

static void our_own_is_known_again(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *text = mr_unit_service(arena, &plain);
	struct mr_unit_request other = plain;
	const char *newer;

	other.program = "/usr/bin/mailroom";
	newer = mr_unit_service(arena, &other);
	CHECK_INT(mr_unit_compare(arena, NULL, text), MR_UNIT_MISSING);
	CHECK_INT(mr_unit_compare(arena, text, text), MR_UNIT_CURRENT);
	CHECK_INT(mr_unit_compare(arena, text, NULL), MR_UNIT_CURRENT);
	CHECK_INT(mr_unit_compare(arena, text, newer), MR_UNIT_OUTDATED);
	CHECK_INT(mr_unit_compare(arena, mr_arena_printf(arena, "%s\n# mine\n", text), text),
		MR_UNIT_EDITED);
	CHECK_INT(mr_unit_compare(arena, "[Service]\n", text), MR_UNIT_FOREIGN);
	CHECK_INT(mr_unit_compare(arena, "", text), MR_UNIT_FOREIGN);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(it_listens_where_the_settings_say),
		TEST(what_no_service_can_listen_on_is_told),
		TEST(words_are_quoted),
		TEST(our_own_is_known_again),
	};

	return test_main(tests, MR_LEN(tests));
}
