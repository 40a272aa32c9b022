/* tests/unit/net/test_local_socket.c */
#include "net/local_socket.h"

#include "base/arena.h"
#include "files.h"
#include "test.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct mr_arena *arena;
static struct mr_err err;

static const char *path_of(const char *name)
{
	return mr_arena_printf(arena, "%s/%s", test_dir(), name);
}

static int listen_at(const char *path)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK_OK(mr_local_socket_address(path, &address, &err), err);
	CHECK(bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0);
	CHECK(listen(fd, 1) == 0);
	return fd;
}

static void addresses_have_a_length(void)
{
	struct sockaddr_un address;
	char path[200];

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[107] = '\0';
	CHECK_OK(mr_local_socket_address(path, &address, &err), err);
	CHECK_STR(address.sun_path, path);
	path[107] = 'x';
	path[108] = '\0';
	CHECK_INT(mr_local_socket_address(path, &address, &err), MR_EINVAL);
	CHECK(strstr(err.msg, "has 108 bytes, and 107 are allowed"));
	CHECK_ERR(mr_local_socket_address("a/b", &address, &err), err, MR_EINVAL,
		"the path of a socket must begin with /");
}

static void a_server_of_ours_is_found(void)
{
	size_t before;
	const char *path;
	int listener, fd = -1;

	arena = mr_arena_new();
	path = path_of("s");
	before = files_open();
	CHECK_ERR(mr_local_socket_connect(path, &fd, &err), err, MR_ENOTFOUND,
		mr_arena_printf(arena, "nobody listens on %s", path));
	CHECK_INT(mr_local_socket_connect(path_of("s/t"), &fd, &err), MR_ENOTFOUND);
	listener = listen_at(path);
	CHECK_INT(mr_local_socket_connect(path_of("s/t"), &fd, &err), MR_ENOTFOUND);
	CHECK_OK(mr_local_socket_connect(path, &fd, &err), err);
	CHECK(mr_local_socket_is_ours(fd));
	close(fd);
	/* Whose server is gone. */
	close(listener);
	CHECK_INT(mr_local_socket_connect(path, &fd, &err), MR_ENOTFOUND);
	CHECK_INT(files_open(), before);
	mr_arena_free(arena);
}

/* It does not wait for a server that accepts nobody. */
static void a_full_queue_is_busy(void)
{
	int listener, fd;
	enum mr_code rc = MR_OK;

	arena = mr_arena_new();
	listener = listen_at(path_of("s"));
	for (int i = 0; i < 100 && !rc; i++)
		rc = mr_local_socket_connect(path_of("s"), &fd, &err);
	CHECK_ERR(rc, err, MR_EBUSY,
		mr_arena_printf(arena, "%s accepts nobody just now", path_of("s")));
	close(listener);
	mr_arena_free(arena);
}

static void what_is_no_socket_has_no_peer(void)
{
	int ends[2];

	CHECK(!mr_local_socket_is_ours(-1));
	CHECK(pipe(ends) == 0);
	CHECK(!mr_local_socket_is_ours(ends[0]));
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	CHECK(mr_local_socket_is_ours(ends[0]));
}

/* As root: who became somebody else believes root, and nobody else. */
static void another_users_server_is_not_believed(void)
{
	int ours, fd = -1;
	const char *path;

	arena = mr_arena_new();
	path = path_of("s");
	ours = listen_at(path);
	CHECK(chmod(test_dir(), 0777) == 0 && chmod(path, 0666) == 0);
	if (geteuid() == 0) {
		CHECK(files_become_nobody());
		CHECK_OK(mr_local_socket_connect(path, &fd, &err), err);
		close(fd);
		/* Now the server is nobody's. */
		CHECK(listen(ours, 1) == 0);
		CHECK(seteuid(0) == 0 && seteuid(65533) == 0);
		CHECK_ERR(mr_local_socket_connect(path, &fd, &err), err, MR_EPERM,
			mr_arena_printf(arena,
				"the server on %s belongs to another user; nothing was sent to it",
				path));
		CHECK(seteuid(0) == 0);
	} else {
		/* Without the right to write to it. */
		CHECK(chmod(path, 0) == 0);
		CHECK_INT(mr_local_socket_connect(path, &fd, &err), MR_EPERM);
	}
	close(ours);
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(addresses_have_a_length),
		TEST(a_server_of_ours_is_found),
		TEST(a_full_queue_is_busy),
		TEST(what_is_no_socket_has_no_peer),
		TEST(another_users_server_is_not_believed),
	};

	return test_main(tests, MR_LEN(tests));
}
