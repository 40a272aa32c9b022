/*
 * surface/http/socket.c - Creates the server's Unix socket under a lock file, and removes it when
 * the server ends.
 */
#include "surface/http/socket.h"

#include "base/fs.h"
#include "base/lock.h"
#include "net/local_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

struct mr_http_socket {
	struct mr_arena *arena;
	const char *path, *name, *lock_name; /* names are inside the directory */
	int dir;
	struct mr_lock lock;
	int fd;
	ino_t inode; /* of the socket's file, while it is ours to remove */
	bool is_bound;
};

static enum mr_code open_directory(struct mr_http_socket *sock, bool is_own, struct mr_err *err)
{
	const char *slash = strrchr(sock->path, '/');
	const char *path = mr_arena_strndup(sock->arena, sock->path, (size_t)(slash - sock->path));
	enum mr_code rc;
	struct stat st;

	path = *path ? path : "/";
	sock->name = slash + 1;
	sock->lock_name = mr_arena_printf(sock->arena, "%s.lock", sock->name);
	rc = mr_fs_make_dirs(AT_FDCWD, path, 0700, err);
	if (!rc)
		rc = mr_fs_open_dir(AT_FDCWD, path, &sock->dir, err);
	if (rc)
		return rc;
	if (fstat(sock->dir, &st) != 0)
		return mr_err_os(err, errno, "%s", path);
	if (st.st_uid != geteuid() && (is_own || st.st_uid != 0))
		return mr_err_set(err, MR_EPERM, "the directory %s belongs to another user", path);
	if (is_own && st.st_mode & 077 && fchmod(sock->dir, 0700) != 0)
		return mr_err_os(err, errno, "cannot make %s private", path);
	if (!is_own && st.st_mode & 022)
		return mr_err_set(err, MR_EPERM,
			"others may write to the directory %s and could put a socket of theirs "
			"there; choose another for http.socket, or chmod go-w it",
			path);
	return MR_OK;
}

/* Under the lock: remove the socket of a server that died, and nothing else. */
static enum mr_code clear_place(struct mr_http_socket *sock, struct mr_err *err)
{
	struct mr_err ignored;
	struct stat st;
	int fd = -1;

	if (fstatat(sock->dir, sock->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? MR_OK : mr_err_os(err, errno, "%s", sock->path);
	if (!S_ISSOCK(st.st_mode))
		return mr_err_set(err, MR_EINVAL, "%s is there and is not a socket", sock->path);
	if (mr_local_socket_connect(sock->path, &fd, &ignored) != MR_ENOTFOUND) {
		mr_fs_closep(&fd);
		return mr_err_set(err, MR_EBUSY, "another program listens on %s", sock->path);
	}
	if (unlinkat(sock->dir, sock->name, 0) != 0)
		return mr_err_os(err, errno, "cannot remove %s", sock->path);
	return MR_OK;
}

static enum mr_code bind_socket(struct mr_http_socket *sock, struct mr_err *err)
{
	struct sockaddr_un address;
	enum mr_code rc = mr_local_socket_address(sock->path, &address, err);
	struct stat st;

	if (rc)
		return rc;
	sock->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* bind() gives the file the mode of the socket, so it never has another one. */
	if (sock->fd < 0 || fchmod(sock->fd, 0600) != 0 ||
		bind(sock->fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
		return mr_err_os(err, errno, "cannot listen on %s", sock->path);
	if (fstatat(sock->dir, sock->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return mr_err_os(err, errno, "cannot listen on %s", sock->path);
	sock->inode = st.st_ino;
	sock->is_bound = true;
	if (fchmodat(sock->dir, sock->name, 0600, 0) != 0 || listen(sock->fd, BACKLOG) != 0)
		return mr_err_os(err, errno, "cannot listen on %s", sock->path);
	return MR_OK;
}

static enum mr_code open_socket(struct mr_http_socket *sock, bool is_own,
	const struct mr_clock *clock, struct mr_err *err)
{
	struct sockaddr_un ignored;
	enum mr_code rc = mr_local_socket_address(sock->path, &ignored, err);

	if (!rc)
		rc = open_directory(sock, is_own, err);
	if (!rc)
		rc = mr_lock_take(sock->dir, sock->lock_name, "mailroom serve", 0, clock,
			&sock->lock, err);
	if (rc == MR_EBUSY)
		return mr_err_set(err, MR_EBUSY, "another Mailroom server listens on %s",
			sock->path);
	if (!rc)
		rc = clear_place(sock, err);
	return rc ? rc : bind_socket(sock, err);
}

static struct mr_http_socket *new_socket(const char *path)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_http_socket *sock = mr_arena_alloc(arena, sizeof(*sock));

	sock->arena = arena;
	sock->path = mr_arena_strdup(arena, path);
	sock->dir = sock->fd = -1;
	sock->lock = MR_LOCK_INIT;
	return sock;
}

enum mr_code mr_http_socket_use(int fd, const char **out_path, struct mr_http_socket **out,
	struct mr_err *err)
{
	struct sockaddr_un address = { 0 };
	socklen_t len = sizeof(address) - 1; /* a name of full length has no NUL */
	struct mr_http_socket *sock;

	if (getsockname(fd, (struct sockaddr *)&address, &len) != 0)
		return mr_err_os(err, errno, "cannot use the socket that was handed over");
	sock = new_socket(address.sun_path);
	sock->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (sock->fd < 0) {
		mr_http_socket_free(sock);
		return mr_err_os(err, errno, "cannot use the socket %s", address.sun_path);
	}
	*out_path = sock->path;
	*out = sock;
	return MR_OK;
}

enum mr_code mr_http_socket_open(const char *path, bool is_own, const struct mr_clock *clock,
	struct mr_http_socket **out, struct mr_err *err)
{
	struct mr_http_socket *sock = new_socket(path);
	enum mr_code rc = open_socket(sock, is_own, clock, err);

	if (rc)
		mr_http_socket_free(sock);
	else
		*out = sock;
	return rc;
}

int mr_http_socket_fd(const struct mr_http_socket *sock)
{
	return sock->fd;
}

void mr_http_socket_end(struct mr_http_socket *sock)
{
	struct stat st;

	if (!sock)
		return;
	if (sock->is_bound) {
		shutdown(sock->fd, SHUT_RDWR);
		if (fstatat(sock->dir, sock->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			st.st_ino == sock->inode)
			unlinkat(sock->dir, sock->name, 0);
		sock->is_bound = false;
	}
	/* Safe while the lock is held: waiting processes check that the file still exists. */
	if (sock->lock.fd >= 0)
		unlinkat(sock->dir, sock->lock_name, 0);
	mr_lock_release(&sock->lock);
}

void mr_http_socket_free(struct mr_http_socket *sock)
{
	if (!sock)
		return;
	mr_http_socket_end(sock);
	mr_fs_closep(&sock->fd);
	mr_fs_closep(&sock->dir);
	mr_arena_free(sock->arena);
}
