/* tests/unit/surface/test_handed.c */
#include "surface/http/handed.h"

#include "base/fs.h"
#include "base/str.h"
#include "files.h"
#include "surface/http/listen.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void put_at(int fd, int at)
{
	CHECK(fd >= 0 && (fd == at || dup2(fd, at) == at));
	if (fd != at)
		close(fd);
}

static int tcp_socket(void)
{
	struct mr_err err;
	int fd = -1;

	CHECK_OK(mr_http_listen_open("127.0.0.1", 0, &fd, &err), err);
	return fd;
}

static int local_socket(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "s" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	CHECK(fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0);
	CHECK_INT(listen(fd, 1), 0);
	return fd;
}

static enum mr_code take(long pid, const char *count, struct mr_http_handed *out,
	struct mr_err *err)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", pid);
	setenv("LISTEN_PID", text, 1);
	setenv("LISTEN_FDS", count, 1);
	return mr_http_handed_take(out, err);
}

static void both_kinds_are_taken(void)
{
	struct mr_http_handed handed MR_CLEANUP(mr_http_handed_close) = MR_HTTP_HANDED_INIT;
	struct mr_err err;

	files_enter();
	put_at(tcp_socket(), 4);
	put_at(local_socket(), 3);
	CHECK_OK(take(getpid(), "2", &handed, &err), err);
	CHECK_INT(handed.local, 3);
	CHECK_INT(handed.tcp, 4);
	CHECK(fcntl(3, F_GETFD) & FD_CLOEXEC);
	CHECK(fcntl(3, F_GETFL) & O_NONBLOCK);
	CHECK(!getenv("LISTEN_FDS") && !getenv("LISTEN_PID"));
}

static void those_of_another_process_are_not_ours(void)
{
	struct mr_http_handed handed MR_CLEANUP(mr_http_handed_close) = MR_HTTP_HANDED_INIT;
	struct mr_err err;

	files_enter();
	put_at(tcp_socket(), 3);
	CHECK_OK(take(getppid(), "1", &handed, &err), err);
	CHECK(handed.tcp < 0 && handed.local < 0);
	CHECK(!getenv("LISTEN_FDS"));
	CHECK_OK(mr_http_handed_take(&handed, &err), err);
	CHECK(handed.tcp < 0);
	CHECK(fcntl(3, F_GETFD) >= 0);
}

static void what_is_no_socket_is_told(void)
{
	struct mr_http_handed handed = MR_HTTP_HANDED_INIT;
	struct mr_err err;

	files_enter();
	put_at(open("/dev/null", O_RDONLY), 3);
	CHECK_ERR(take(getpid(), "1", &handed, &err), err, MR_EINVAL,
		"descriptor 3, which LISTEN_FDS hands over, is no listening socket");
	CHECK(fcntl(3, F_GETFD) < 0);
}

static void a_second_of_a_kind_is_told(void)
{
	struct mr_http_handed handed = MR_HTTP_HANDED_INIT;
	struct mr_err err;

	files_enter();
	put_at(tcp_socket(), 4);
	put_at(tcp_socket(), 3);
	CHECK_ERR(take(getpid(), "2", &handed, &err), err, MR_EINVAL,
		"descriptor 4, which LISTEN_FDS hands over, is a second TCP socket: one TCP port "
		"and one Unix socket can be served");
	CHECK(handed.tcp < 0 && fcntl(3, F_GETFD) < 0 && fcntl(4, F_GETFD) < 0);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(both_kinds_are_taken),
		TEST(those_of_another_process_are_not_ours),
		TEST(what_is_no_socket_is_told),
		TEST(a_second_of_a_kind_is_told),
	};

	return test_main(tests, MR_LEN(tests));
}
