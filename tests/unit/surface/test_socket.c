/* tests/unit/surface/test_socket.c - the Unix socket; what the server does with it: see
 * tests/blackbox/local_socket.py */
#include "surface/http/socket.h"

#include "base/arena.h"
#include "files.h"
#include "net/local_socket.h"
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

static struct mr_arena *arena;
static struct mr_err err;

static const char *path_of(const char *name)
{
	return mr_arena_printf(arena, "%s/%s", test_dir(), name);
}

static enum mr_code start(const char *path, bool is_own, struct mr_http_socket **out)
{
	return mr_http_socket_open(path, is_own, mr_clock_system(), out, &err);
}

/* Who connects to the path is accepted by this socket. */
static void check_accepts(const struct mr_http_socket *sock, const char *path)
{
	int fd = -1, got;

	CHECK(accept(mr_http_socket_fd(sock), NULL, NULL) < 0);
	CHECK_OK(mr_local_socket_connect(path, &fd, &err), err);
	got = accept(mr_http_socket_fd(sock), NULL, NULL);
	CHECK(got >= 0 && mr_local_socket_is_ours(got));
	close(got);
	close(fd);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	CHECK(lstat(path, &st) == 0);
	return st.st_mode;
}

static void connections_are_accepted(void)
{
	struct mr_http_socket *sock;
	const char *path;
	size_t before;

	arena = mr_arena_new();
	path = path_of("a/b/s");
	before = files_open();
	CHECK_OK(start(path, true, &sock), err);
	CHECK_INT(mode_of(path), S_IFSOCK | 0600);
	CHECK_INT(mode_of(path_of("a/b")), S_IFDIR | 0700);
	for (int i = 0; i < 20; i++)
		check_accepts(sock, path);
	/* What remains is the descriptor. */
	mr_http_socket_end(sock);
	CHECK_INT(files_count(path_of("a/b")), 0);
	mr_http_socket_end(sock);
	mr_http_socket_free(sock);
	CHECK_INT(files_open(), before);
	mr_http_socket_free(NULL);
	mr_arena_free(arena);
}

/* The umask takes nothing away that is not to be there, and gives nothing. */
static void the_mode_does_not_depend_on_the_umask(void)
{
	static const mode_t masks[] = { 0, 022, 077 };
	struct mr_http_socket *sock;

	arena = mr_arena_new();
	for (size_t i = 0; i < MR_LEN(masks); i++) {
		umask(masks[i]);
		CHECK_OK(start(path_of("d/s"), true, &sock), err);
		CHECK_INT(mode_of(path_of("d/s")), S_IFSOCK | 0600);
		CHECK_INT(mode_of(path_of("d")), S_IFDIR | 0700);
		mr_http_socket_free(sock);
	}
	mr_arena_free(arena);
}

static void one_has_it(void)
{
	struct mr_http_socket *one, *two;
	const char *path;

	arena = mr_arena_new();
	path = path_of("d/s");
	CHECK_OK(start(path, true, &one), err);
	CHECK_ERR(start(path, true, &two), err, MR_EBUSY,
		mr_arena_printf(arena, "another Mailroom server listens on %s", path));
	check_accepts(one, path);
	/* Somebody has removed it: the next may have the path, and we do not take it away. */
	CHECK(unlink(path) == 0 && unlink(path_of("d/s.lock")) == 0);
	CHECK_OK(start(path, true, &two), err);
	mr_http_socket_free(one);
	check_accepts(two, path);
	mr_http_socket_free(two);
	CHECK(access(path, F_OK) != 0);
	mr_arena_free(arena);
}

static void what_stays_of_the_dead_is_replaced(void)
{
	struct mr_http_socket *sock;
	struct sockaddr_un address;
	const char *path;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	arena = mr_arena_new();
	path = path_of("s");
	CHECK_OK(mr_local_socket_address(path, &address, &err), err);
	CHECK(bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0);
	close(fd);
	files_put(path_of("s.lock"), "pid=1 what=mailroom serve\n");
	CHECK_OK(start(path, false, &sock), err);
	check_accepts(sock, path);
	mr_http_socket_free(sock);
	mr_arena_free(arena);
}

static void a_directory_of_others_is_refused(void)
{
	struct mr_http_socket *sock;

	arena = mr_arena_new();
	CHECK(mkdir(path_of("d"), 0700) == 0 && chmod(path_of("d"), 0770) == 0);
	CHECK_ERR(start(path_of("d/s"), false, &sock), err, MR_EPERM,
		mr_arena_printf(arena,
			"others may write to the directory %s and could put a socket of theirs "
			"there; choose another for http.socket, or chmod go-w it",
			path_of("d")));
	/* Our own becomes what it should be. */
	CHECK_OK(start(path_of("d/s"), true, &sock), err);
	CHECK_INT(mode_of(path_of("d")), S_IFDIR | 0700);
	mr_http_socket_free(sock);
	if (geteuid() == 0) {
		CHECK(chown(path_of("d"), 65534, 65534) == 0);
		for (int i = 0; i < 2; i++)
			CHECK_ERR(start(path_of("d/s"), i, &sock), err, MR_EPERM,
				mr_arena_printf(arena, "the directory %s belongs to another user",
					path_of("d")));
	}
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(connections_are_accepted),
		TEST(the_mode_does_not_depend_on_the_umask),
		TEST(one_has_it),
		TEST(what_stays_of_the_dead_is_replaced),
		TEST(a_directory_of_others_is_refused),
	};

	return test_main(tests, MR_LEN(tests));
}
