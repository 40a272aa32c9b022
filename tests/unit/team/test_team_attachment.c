/* test_team_attachment.c - what goes with a message: read where it may be, stored once. */
#include "team/attachment.h"

#include "base/fs.h"
#include "base/reach.h"
#include "files.h"
#include "team/attachment_private.h"
#include "team/error.h"
#include "team/limits.h"
#include "test.h"
#include "text/json.h"
#include "world.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct fixture {
	struct world world;
	const char *here; /* the test's directory */
	struct mr_team_project project;
	struct mr_team_agent sender;
	struct mr_team_attached out;
};

/* A project whose workspace is "work". */
static void open_fixture(struct fixture *f)
{
	char here[4096];

	world_open(&f->world);
	CHECK(getcwd(here, sizeof(here)));
	f->here = mr_arena_strdup(f->world.cx.arena, here);
	CHECK(mkdir("work", 0700) == 0);
	f->project =
		world_project(&f->world, mr_arena_printf(f->world.cx.arena, "%s/work", f->here));
	f->sender = world_agent(&f->world, &f->project, "GreenLake");
}

static struct mr_bytes corpus(struct fixture *f, const char *name)
{
	struct mr_bytes bytes = { 0 };
	struct mr_arena *arena = f->world.cx.arena;

	CHECK_OK(mr_fs_read(arena, AT_FDCWD, mr_arena_printf(arena, TEST_CORPUS "/image/%s", name),
			 1 << 20, &bytes, &f->world.cx.err),
		f->world.cx.err);
	return bytes;
}

/* A picture of the corpus in the workspace, or elsewhere. */
static void put_picture(struct fixture *f, const char *name, const char *path)
{
	CHECK_OK(mr_fs_write(AT_FDCWD, path, corpus(f, name), MR_FS_REPLACE, 0600,
			 &f->world.cx.err),
		f->world.cx.err);
}

static enum mr_code attach(struct fixture *f, const char *body, const char *path)
{
	static const char *paths[2];
	struct mr_team_attach_request request = { .project = &f->project,
		.sender = &f->sender,
		.body_md = body,
		.convert = -1 };

	paths[0] = path;
	request.paths = (struct mr_texts){ paths, path ? 1 : 0 };
	return mr_team_attach(&f->world.cx, f->world.team, &request, &f->out);
}

static const char *project_path(struct fixture *f, const char *path)
{
	return mr_arena_printf(f->world.cx.arena, "root/projects/%s/%s", f->project.slug, path);
}

static const struct mr_value *item(struct fixture *f, size_t index)
{
	const struct mr_value *list = NULL;

	CHECK_OK(mr_json_parse(f->world.cx.arena, mr_bytes_text(f->out.json), NULL, &list,
			 &f->world.cx.err),
		f->world.cx.err);
	CHECK(list->kind == MR_LIST && list->list.len > index);
	return &list->list.items[index];
}

static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static int64_t int_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_INT ? value->integer : -1;
}

static void nothing_to_attach(void)
{
	struct fixture f;

	open_fixture(&f);
	CHECK_OK(attach(&f, "plain ![x](gone.png) ![y](https://a.b/c.png)\r\n", NULL),
		f.world.cx.err);
	CHECK_STR(f.out.body_md, "plain ![x](gone.png) ![y](https://a.b/c.png)\r\n");
	CHECK_STR(f.out.json, "[]");
	CHECK_INT(f.out.bytes, 0);
	CHECK(!mr_fs_exists(AT_FDCWD, project_path(&f, "attachments")));
	world_close(&f.world);
}

static void small_pictures_go_inline(void)
{
	struct fixture f;
	const struct mr_value *meta;

	open_fixture(&f);
	put_picture(&f, "png_rgb", "work/a.png");
	CHECK_OK(attach(&f, "see ![a](a.png \"t\") and ![again](./a.png).", NULL), f.world.cx.err);
	meta = item(&f, 0);
	CHECK_STR(text_of(meta, "type"), "inline");
	CHECK_STR(text_of(meta, "media_type"), "image/webp");
	CHECK_STR(text_of(meta, "filename"), "a.png");
	CHECK_INT(int_of(meta, "width"), 8);
	CHECK_INT(int_of(meta, "height"), 8);
	CHECK_INT(strlen(text_of(meta, "sha1")), 40);
	CHECK_STR(f.out.body_md,
		mr_arena_printf(f.world.cx.arena,
			"see ![a](data:image/webp;base64,%s \"t\") and"
			" ![again](data:image/webp;base64,%s).",
			text_of(meta, "data_base64"), text_of(meta, "data_base64")));
	CHECK_INT(f.out.bytes, int_of(meta, "bytes"));
	/* One object for both, and the file is stored all the same. */
	CHECK_INT(files_count(project_path(&f, "attachments/_manifests")), 1);
	world_close(&f.world);
}

static void others_become_files(void)
{
	struct fixture f;
	struct mr_texts names;
	const char *sha1;

	open_fixture(&f);
	f.world.config.inline_image_bytes = 1;
	f.world.config.keep_originals = true;
	world_reopen(&f.world);
	put_picture(&f, "jpeg_rgb", "work/a b.jpg");
	CHECK_OK(attach(&f, "![a](a%20b.jpg)", NULL), f.world.cx.err);
	CHECK_STR(text_of(item(&f, 0), "type"), "file");
	sha1 = text_of(item(&f, 0), "sha1");
	CHECK_STR(text_of(item(&f, 0), "path"),
		mr_arena_printf(f.world.cx.arena, "attachments/%.2s/%s.webp", sha1, sha1));
	CHECK_STR(text_of(item(&f, 0), "data_base64"), NULL);
	CHECK_STR(f.out.body_md,
		mr_arena_printf(f.world.cx.arena, "![a](%s)", text_of(item(&f, 0), "path")));
	CHECK_OK(mr_team_attachment_files(&f.world.cx, f.out.json, &names), f.world.cx.err);
	CHECK_STR(mr_str_join(f.world.cx.arena, &names, " "),
		mr_arena_printf(f.world.cx.arena,
			"attachments/%.2s/%s.webp attachments/originals/%.2s/%s.jpg "
			"attachments/_manifests/%s.json attachments/_audit/%s.log",
			sha1, sha1, sha1, sha1, sha1, sha1));
	for (size_t i = 0; i < names.len; i++)
		CHECK(mr_fs_exists(AT_FDCWD, project_path(&f, names.items[i])));
	files_hold(project_path(&f, names.items[2]),
		mr_arena_printf(f.world.cx.arena,
			"{\n  \"sha1\": \"%s\",\n  \"webp_path\": \"%s\",\n  \"bytes_webp\": "
			"%lld,\n"
			"  \"width\": 16,\n  \"height\": 16,\n  \"original_path\": \"%s\",\n"
			"  \"bytes_original\": 180,\n  \"original_ext\": \"jpg\"\n}\n",
			sha1, names.items[0], (long long)int_of(item(&f, 0), "bytes"),
			names.items[1]));
	files_hold(project_path(&f, names.items[3]),
		mr_arena_printf(f.world.cx.arena,
			"{\"event\": \"stored\", \"ts\": \"2026-03-11T04:15:00Z\", \"webp_path\": "
			"\"%s\", \"bytes_webp\": %lld, \"original_path\": \"%s\", "
			"\"bytes_original\": 180, \"ext\": \"jpg\"}\n",
			names.items[0], (long long)int_of(item(&f, 0), "bytes"), names.items[1]));
	world_close(&f.world);
}

static void a_quoted_picture_stays_where_it_is(void)
{
	struct fixture f;
	const char *body;

	open_fixture(&f);
	f.sender.attachments_policy = MR_TEAM_ATTACH_FILE;
	put_picture(&f, "png_rgb", "work/a.png");
	CHECK_OK(attach(&f, "![a](a.png)", NULL), f.world.cx.err);
	body = f.out.body_md;
	CHECK_OK(attach(&f, body, NULL), f.world.cx.err);
	CHECK_STR(f.out.body_md, body);
	CHECK_STR(text_of(item(&f, 0), "type"), "file");
	CHECK_INT(files_count(project_path(&f, "attachments/_manifests")), 1);
	world_close(&f.world);
}

static void policies(void)
{
	struct fixture f;

	open_fixture(&f);
	f.world.config.inline_image_bytes = 1;
	f.world.config.convert_images = false;
	world_reopen(&f.world);
	put_picture(&f, "png_rgb", "work/a.png");
	CHECK_OK(attach(&f, "![a](a.png) ![b](data:image/png,x)", NULL), f.world.cx.err);
	CHECK_STR(f.out.body_md, "![a](a.png) ![b](data:image/png,x)");
	CHECK_STR(f.out.json, "[{\"type\":\"inline\",\"media_type\":\"image/png\"}]");
	/* What is attached by name is converted all the same. */
	CHECK_OK(attach(&f, "x", "a.png"), f.world.cx.err);
	CHECK_STR(text_of(item(&f, 0), "media_type"), "image/webp");
	f.sender.attachments_policy = MR_TEAM_ATTACH_INLINE;
	CHECK_OK(attach(&f, "![a](a.png)", NULL), f.world.cx.err);
	CHECK_STR(text_of(item(&f, 0), "type"), "inline");
	f.sender.attachments_policy = MR_TEAM_ATTACH_FILE;
	CHECK_OK(attach(&f, "![a](a.png)", NULL), f.world.cx.err);
	CHECK_STR(text_of(item(&f, 0), "type"), "file");
	f.sender.attachments_policy = MR_TEAM_ATTACH_DENY;
	CHECK_OK(attach(&f, "![a](a.png)", NULL), f.world.cx.err);
	CHECK_STR(f.out.body_md, "![a](a.png)");
	CHECK_STR(f.out.json, "[]");
	world_check_fail(&f.world, attach(&f, "x", "a.png"), MR_TEAM_ATTACHMENT_REJECTED,
		"GreenLake attaches nothing: its attachments policy is deny");
	CHECK_STR(text_of(mr_team_fail_data(&f.world.cx.err), "path"), "a.png");
	world_close(&f.world);
}

static void files_that_are_no_pictures(void)
{
	static const struct {
		const char *name, *content, *media_type, *extension;
	} rows[] = {
		{ "notes.MD", "# hello\n", "text/markdown", "md" },
		{ "log", "hello\n", "text/plain", "bin" },
		{ "a.tar.gz", "\x1f\x8b\x08", "application/gzip", "gz" },
		{ "page.txt", " <!DOCTYPE html><p>", "text/html", "html" },
		{ "pic.png", "<svg xmlns=''/>", "image/svg+xml", "svg" },
		{ "x.pdf", "%PDF-1.7", "application/pdf", "pdf" },
		{ "odd.%$!", "\x01\x02", "application/octet-stream", "bin" },
		{ "data.json", "{}", "application/json", "json" },
	};
	struct fixture f;

	open_fixture(&f);
	for (size_t i = 0; i < MR_LEN(rows); i++) {
		const char *sha256;

		files_put(mr_arena_printf(f.world.cx.arena, "work/%s", rows[i].name),
			rows[i].content);
		CHECK_OK(attach(&f, "x", rows[i].name), f.world.cx.err);
		CHECK_STR(text_of(item(&f, 0), "type"), "file");
		CHECK_STR(text_of(item(&f, 0), "media_type"), rows[i].media_type);
		CHECK_STR(text_of(item(&f, 0), "filename"), rows[i].name);
		sha256 = text_of(item(&f, 0), "sha256");
		CHECK_STR(text_of(item(&f, 0), "path"),
			mr_arena_printf(f.world.cx.arena, "attachments/%.2s/%s.%s", sha256, sha256,
				rows[i].extension));
		files_hold(project_path(&f, text_of(item(&f, 0), "path")), rows[i].content);
	}
	world_close(&f.world);
}

static void pictures_that_are_not_converted(void)
{
	static const struct {
		const char *name, *media_type;
	} rows[] = { { "gif", "image/gif" }, { "bmp", "image/bmp" },
		{ "webp_animated", "image/webp" } };
	struct fixture f;

	open_fixture(&f);
	for (size_t i = 0; i < MR_LEN(rows); i++) {
		struct mr_texts names;

		put_picture(&f, rows[i].name, "work/pic");
		CHECK_OK(attach(&f, "![a](pic)", NULL), f.world.cx.err);
		CHECK_STR(text_of(item(&f, 0), "type"), "inline");
		CHECK_STR(text_of(item(&f, 0), "media_type"), rows[i].media_type);
		CHECK_INT(int_of(item(&f, 0), "bytes"), corpus(&f, rows[i].name).len);
		CHECK_OK(mr_team_attachment_files(&f.world.cx, f.out.json, &names), f.world.cx.err);
		CHECK_INT(names.len, 3);
		for (size_t k = 0; k < names.len; k++)
			CHECK(mr_fs_exists(AT_FDCWD, project_path(&f, names.items[k])));
	}
	world_close(&f.world);
}

static void bad_pictures_are_told(void)
{
	static const struct {
		const char *name, *reason;
	} rows[] = {
		{ "png_cut", "the PNG is damaged" },
		{ "jpeg_cut", "the JPEG is damaged" },
		{ "webp_large", "the picture has 16383x16383 pixels" },
		{ "png_huge", "the picture has 100000x100000 pixels" },
		{ "gif_cut", "the GIF ends inside its head" },
	};
	struct fixture f;

	open_fixture(&f);
	for (size_t i = 0; i < MR_LEN(rows); i++) {
		put_picture(&f, rows[i].name, "work/bad.png");
		CHECK_OK(attach(&f, "![a](bad.png)", "bad.png"), f.world.cx.err);
		CHECK_STR(f.out.body_md, "![a](bad.png)");
		for (size_t k = 0; k < 2; k++) {
			CHECK_STR(text_of(item(&f, k), "type"), "error");
			CHECK_STR(text_of(item(&f, k), "path"), "bad.png");
			if (!strstr(text_of(item(&f, k), "reason"), rows[i].reason))
				test_fail(__FILE__, __LINE__, "%s: %s", rows[i].name,
					text_of(item(&f, k), "reason"));
		}
	}
	files_put("work/empty.png", "");
	CHECK_OK(attach(&f, "![a](empty.png)", "empty.png"), f.world.cx.err);
	CHECK_STR(text_of(item(&f, 0), "reason"), "the file is empty");
	CHECK_STR(text_of(item(&f, 1), "reason"), "the file is empty");
	files_put("work/notes.txt", "hello");
	CHECK_OK(attach(&f, "![a](notes.txt)", NULL), f.world.cx.err);
	CHECK_STR(text_of(item(&f, 0), "reason"), "this is no picture of a known format");
	CHECK(!mr_fs_exists(AT_FDCWD, project_path(&f, "attachments")));
	world_close(&f.world);
}

static void nothing_from_outside(void)
{
	static const char *const names[] = { "../secret.png", "/etc/passwd", "link.png",
		"deep/../../secret.png", "linked/secret.png", "HERE/secret.png" };
	struct fixture f;
	const char *workspace;

	open_fixture(&f);
	put_picture(&f, "png_rgb", "secret.png");
	CHECK(mkdir("work/deep", 0700) == 0);
	CHECK(symlink("../secret.png", "work/link.png") == 0);
	CHECK(symlink("..", "work/linked") == 0);
	for (size_t i = 0; i < MR_LEN(names); i++) {
		const char *name = names[i];

		if (mr_str_starts(name, "HERE"))
			name = mr_arena_printf(f.world.cx.arena, "%s%s", f.here, name + 4);
		world_check_fail(&f.world, attach(&f, "x", name), MR_TEAM_ATTACHMENT_REJECTED,
			"lies outside the project's directory");
		CHECK_STR(text_of(mr_team_fail_data(&f.world.cx.err), "path"), name);
		world_check_fail(&f.world,
			attach(&f, mr_arena_printf(f.world.cx.arena, "![a](%s)", name), NULL),
			MR_TEAM_ATTACHMENT_REJECTED, "lies outside the project's directory");
	}
	CHECK(!mr_fs_exists(AT_FDCWD, project_path(&f, "attachments")));
	/* A project of everything opens nothing. */
	workspace = f.project.human_key;
	f.project.human_key = "/";
	world_check_fail(&f.world, attach(&f, "x", "/etc/passwd"), MR_TEAM_ATTACHMENT_REJECTED,
		"lies outside");
	f.project.human_key = workspace;
	/* The same file, allowed. */
	f.world.config.attachment_roots = (struct mr_texts){ (const char *[]){ f.here }, 1 };
	world_reopen(&f.world);
	CHECK_OK(attach(&f, "x", "link.png"), f.world.cx.err);
	CHECK_OK(attach(&f, "x", mr_arena_printf(f.world.cx.arena, "%s/secret.png", f.here)),
		f.world.cx.err);
	/* But never what the storage keeps of others, nor a repository's inside. */
	world_check_fail(&f.world, attach(&f, "x", "root/storage.sqlite3"),
		MR_TEAM_ATTACHMENT_REJECTED, "lies outside");
	CHECK(mkdir(project_path(&f, ".git"), 0700) == 0);
	files_put(project_path(&f, ".git/config"), "x");
	world_check_fail(&f.world, attach(&f, "x", ".git/config"), MR_TEAM_ATTACHMENT_REJECTED,
		"lies outside");
	files_put(project_path(&f, "own.txt"), "x");
	CHECK_OK(attach(&f, "x", "own.txt"), f.world.cx.err);
	world_close(&f.world);
}

/* The error of attaching a path, with "PATH" where it says which. */
static const char *refusal(struct fixture *f, const char *path)
{
	struct mr_err *err = &f->world.cx.err;
	const char *at;

	CHECK(attach(f, "x", path) != MR_OK);
	CHECK_STR(text_of(mr_team_fail_data(err), "path"), path);
	at = strstr(err->msg, path);
	CHECK(at);
	return mr_arena_printf(f->world.cx.arena, "%d %s %.*sPATH%s", err->code, err->word,
		(int)(at - err->msg), err->msg, at + strlen(path));
}

static void whoever_made_the_project_decides_nothing(void)
{
	const char *root;
	struct mr_reach reach = { .roots = { &root, 0 } };
	struct fixture f;

	open_fixture(&f);
	put_picture(&f, "png_rgb", "work/a.png");
	f.world.cx.reach = &reach;
	CHECK(strstr(refusal(&f, "a.png"),
		"PATH is no file that may be attached here: files are taken from the project's "
		"directory when the owner of the server (PROJECT_ROOTS), or the client that "
		"started it, allows that, and from ATTACHMENT_ROOTS"));
	/* The owner allows what is below this. */
	root = f.here;
	reach.roots.len = 1;
	CHECK_OK(attach(&f, "x", "a.png"), f.world.cx.err);
	root = f.project.human_key;
	CHECK_OK(attach(&f, "x", "a.png"), f.world.cx.err);
	CHECK_OK(attach(&f, "x", mr_arena_printf(f.world.cx.arena, "%s/a.png", root)),
		f.world.cx.err);
	/* Not when the project is their home. */
	reach.home = root;
	CHECK(refusal(&f, "a.png"));
	reach.home = NULL;
	/* Nor what another directory's name begins with. */
	root = mr_arena_printf(f.world.cx.arena, "%s/wor", f.here);
	CHECK(mkdir("wor", 0700) == 0);
	CHECK(refusal(&f, "a.png"));
	world_close(&f.world);
}

static void strangers_get_one_answer(void)
{
	static const char *const paths[] = { "/etc/passwd", "/etc/no-such-file", "/etc/ssh",
		"../secret.png", "../no-secret.png", "link.png", "dir", "pipe", "dangling", "loop",
		".git/config", ".git/gone", ".", "/", "gone.png/x", "a.png/x", "locked.png" };
	struct mr_reach reach = { 0 };
	struct fixture f;

	open_fixture(&f);
	put_picture(&f, "png_rgb", "secret.png");
	put_picture(&f, "png_rgb", "work/a.png");
	put_picture(&f, "png_rgb", "work/locked.png");
	CHECK(chmod("work/locked.png", 0) == 0);
	CHECK(mkdir("work/dir", 0700) == 0 && mkdir("work/.git", 0700) == 0);
	files_put("work/.git/config", "x");
	CHECK(mkfifo("work/pipe", 0600) == 0 && symlink("loop", "work/loop") == 0);
	CHECK(symlink("../secret.png", "work/link.png") == 0);
	CHECK(symlink("nowhere", "work/dangling") == 0);
	f.world.cx.reach = &reach;
	for (int allowed = 0; allowed < 2; allowed++) {
		const char *first = refusal(&f, "gone.png");

		for (size_t i = 0; i < MR_LEN(paths); i++) {
			const char *body = mr_arena_printf(f.world.cx.arena, "![x](%s)", paths[i]);

			/* For root nothing is locked. */
			if (mr_str_eq(paths[i], "locked.png") && geteuid() == 0)
				continue;
			CHECK_STR(refusal(&f, paths[i]), first);
			CHECK_OK(attach(&f, body, NULL), f.world.cx.err);
			CHECK_STR(f.out.body_md, body);
			CHECK_STR(f.out.json, "[]");
		}
		reach.roots = (struct mr_texts){ &f.here, 1 };
	}
	CHECK_OK(attach(&f, "x", "a.png"), f.world.cx.err);
	world_close(&f.world);
}

static void a_directory_is_not_exchanged_meanwhile(void)
{
	struct mr_team_sources sources;
	struct mr_bytes bytes;
	struct fixture f;

	open_fixture(&f);
	CHECK(mkdir("work/sub", 0700) == 0 && mkdir("private", 0700) == 0);
	files_put("work/sub/key", "public");
	files_put("private/key", "secret");
	CHECK_OK(mr_team_sources_find(&f.world.cx, f.world.team, &f.project, &sources),
		f.world.cx.err);
	CHECK_OK(mr_team_source_read(&f.world.cx, &sources, "sub/key", 100, &bytes),
		f.world.cx.err);
	CHECK(rename("work", "away") == 0 && mkdir("private/sub", 0700) == 0);
	files_put("private/sub/key", "secret");
	CHECK(symlink("private", "work") == 0);
	CHECK_INT(mr_team_source_read(&f.world.cx, &sources, "sub/key", 100, &bytes), MR_EPERM);
	world_close(&f.world);
}

static void what_cannot_be_attached(void)
{
	struct fixture f;
	const char *many[MR_TEAM_ATTACHMENTS + 2];
	struct mr_team_attach_request request = { .project = &f.project,
		.sender = &f.sender,
		.body_md = "x",
		.paths = { many, MR_TEAM_ATTACHMENTS + 1 } };

	open_fixture(&f);
	world_check_fail(&f.world, attach(&f, "x", "gone.png"), MR_TEAM_ATTACHMENT_REJECTED,
		"cannot attach: there is no file gone.png");
	CHECK_STR(text_of(mr_team_fail_data(&f.world.cx.err), "path"), "gone.png");
	CHECK(mkdir("work/dir", 0700) == 0);
	world_check_fail(&f.world, attach(&f, "x", "dir"), MR_TEAM_ATTACHMENT_REJECTED,
		"dir is no file");
	world_check_fail(&f.world, attach(&f, "x", "."), MR_TEAM_ATTACHMENT_REJECTED,
		". is no file");
	CHECK(mkfifo("work/pipe", 0600) == 0);
	world_check_fail(&f.world, attach(&f, "x", "pipe"), MR_TEAM_ATTACHMENT_REJECTED,
		"neither a file nor a directory");
	CHECK(symlink("loop", "work/loop") == 0);
	world_check_fail(&f.world, attach(&f, "x", "loop"), MR_TEAM_ATTACHMENT_REJECTED,
		"loop cannot be read");
	files_put("work/large", "");
	CHECK(truncate("work/large", MR_TEAM_ATTACHMENT_BYTES + 1) == 0);
	world_check_fail(&f.world, attach(&f, "x", "large"), MR_TEAM_PAYLOAD_TOO_LARGE,
		"large has 26214401 bytes; at most 26214400 are taken");
	CHECK_INT(int_of(mr_team_fail_data(&f.world.cx.err), "limit"), MR_TEAM_ATTACHMENT_BYTES);
	CHECK_OK(attach(&f, "![a](large)", NULL), f.world.cx.err);
	CHECK_STR(text_of(item(&f, 0), "type"), "error");
	CHECK(truncate("work/large", MR_TEAM_ATTACHMENT_BYTES) == 0);
	for (size_t i = 0; i < MR_LEN(many); i++)
		many[i] = "large";
	request.paths.len = 5;
	world_check_fail(&f.world, mr_team_attach(&f.world.cx, f.world.team, &request, &f.out),
		MR_TEAM_PAYLOAD_TOO_LARGE,
		"with large the message has more than 104857600 bytes of files");
	request.paths.len = MR_TEAM_ATTACHMENTS + 1;
	world_check_fail(&f.world, mr_team_attach(&f.world.cx, f.world.team, &request, &f.out),
		MR_TEAM_PAYLOAD_TOO_LARGE, "a message takes at most 64 files, not 65");
	world_close(&f.world);
}

static void many_pictures_in_a_body(void)
{
	struct fixture f;
	struct mr_buf body MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_value *last;

	open_fixture(&f);
	put_picture(&f, "png_rgb", "work/a.png");
	mr_buf_init(&body, 1 << 20);
	for (int i = 0; i < MR_TEAM_ATTACHMENTS + 1; i++)
		mr_buf_puts(&body, "![a](a.png)\n");
	CHECK_OK(attach(&f, mr_buf_text(&body), NULL), f.world.cx.err);
	last = item(&f, 1);
	CHECK_STR(text_of(last, "type"), "error");
	CHECK_STR(text_of(last, "reason"), "only the first 64 pictures of a body are looked at");
	CHECK(mr_str_ends(f.out.body_md, "\n![a](a.png)\n"));
	world_close(&f.world);
}

/* A body full to the brim keeps paths, which are short. */
static void inline_only_where_there_is_room(void)
{
	struct fixture f;
	struct mr_buf body MR_CLEANUP(mr_buf_release) = { 0 };

	open_fixture(&f);
	put_picture(&f, "png_rgb", "work/a.png");
	mr_buf_init(&body, 1 << 20);
	mr_buf_puts(&body, "![a](a.png)\n");
	mr_buf_pad(&body, 'x', MR_TEAM_BODY_BYTES - 1000 - body.len);
	CHECK_OK(attach(&f, mr_buf_text(&body), NULL), f.world.cx.err);
	CHECK(mr_str_starts(f.out.body_md, "![a](attachments/"));
	mr_buf_pad(&body, 'x', MR_TEAM_BODY_BYTES - body.len);
	world_check_fail(&f.world, attach(&f, mr_buf_text(&body), NULL), MR_TEAM_PAYLOAD_TOO_LARGE,
		"the body has more than 1048576 bytes with its pictures");
	world_close(&f.world);
}

static void a_list_without_its_data(void)
{
	struct fixture f;
	struct mr_texts names;
	const char *bare;

	open_fixture(&f);
	CHECK_OK(mr_team_attachments_bare(&f.world.cx,
			 "[{\"type\":\"inline\",\"data_base64\":\"AAAA\",\"bytes\":3},7]", &bare),
		f.world.cx.err);
	CHECK_STR(bare, "[{\"type\":\"inline\",\"bytes\":3},7]");
	CHECK_OK(mr_team_attachments_bare(&f.world.cx, "[]", &bare), f.world.cx.err);
	CHECK_STR(bare, "[]");
	CHECK_INT(mr_team_attachments_bare(&f.world.cx, "{\"data_base64\":1}", &bare), MR_EFORMAT);
	CHECK_STR(f.world.cx.err.msg, "a message's attachments: it is no list");
	/* Paths that lead elsewhere are nobody's files. */
	CHECK_OK(mr_team_attachment_files(&f.world.cx,
			 "[{\"type\":\"file\",\"path\":\"attachments/../../x\"},"
			 "{\"type\":\"file\",\"path\":\"/etc/passwd\"},{\"type\":\"file\"},"
			 "{\"type\":\"error\",\"path\":\"attachments/ab/x.png\"},"
			 "{\"type\":\"inline\",\"sha1\":\"../x\",\"media_type\":\"image/webp\"},"
			 "{\"type\":\"inline\",\"media_type\":\"image/webp\"},null,"
			 "{\"type\":\"file\",\"path\":\"attachments/ab/abc.txt\"}]",
			 &names),
		f.world.cx.err);
	CHECK_STR(mr_str_join(f.world.cx.arena, &names, " "), "attachments/ab/abc.txt");
	world_close(&f.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(nothing_to_attach),
		TEST(small_pictures_go_inline),
		TEST(others_become_files),
		TEST(a_quoted_picture_stays_where_it_is),
		TEST(policies),
		TEST(files_that_are_no_pictures),
		TEST(pictures_that_are_not_converted),
		TEST(bad_pictures_are_told),
		TEST(nothing_from_outside),
		TEST(whoever_made_the_project_decides_nothing),
		TEST(strangers_get_one_answer),
		TEST(a_directory_is_not_exchanged_meanwhile),
		TEST(what_cannot_be_attached),
		TEST(many_pictures_in_a_body),
		TEST(inline_only_where_there_is_room),
		TEST(a_list_without_its_data),
	};

	return test_main(tests, MR_LEN(tests));
}
