"""usage: team_attach.py PROGRAM SOURCE - files that go with a message, from the command to the archive."""

import base64
import hashlib
import json
import os
import resource
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import pictures  # noqa: E402
from mailroom import Mailroom  # noqa: E402
from tap import Tap  # noqa: E402

SHA1_WEBP = "attachments/{0:.2}/{0}.webp"


class Team:
    """A project whose workspace is a directory, and two agents of it."""

    def __init__(self, m, **env):
        self.m, self.env = m, env
        self.work = os.path.join(m.dir, "work")
        os.mkdir(self.work)
        self.json("ensure-project", self.work)
        for name in ("BlueLake", "RedStone"):
            self.json("register", "work", name, "--program", "codex", "--model", "gpt")
        self.archive = os.path.join(m.root, "projects", self.json("projects")["result"][0]["slug"])

    def json(self, *args, **options):
        return self.m.json("team", *args, env=self.env, **options)

    def put(self, name, data):
        with open(os.path.join(self.work, name), "wb") as file:
            file.write(data)

    def send(self, body, *paths, status=0, **env):
        self.env.update(env)
        args = [part for path in paths for part in ("--attachment-paths", path)]
        return self.json("send", "work", "BlueLake", "--to", "RedStone", "--subject", "s", "--body-md", body, *args,
            status=status)

    def error(self, *args, status=2):
        return self.send(*args, status=status)["error"]

    def count(self):
        return len(self.json("inbox", "work", "RedStone")["result"])


def payload(answer):
    return answer["deliveries"][0]["payload"]


def sha1(data):
    return hashlib.sha1(data).hexdigest()


def a_small_picture_goes_inline(m):
    team, picture = Team(m), pictures.png(40, 30)
    team.put("chart.png", picture)
    sent = team.send("See ![chart](chart.png).\r\n")
    [meta] = sent["attachments"]
    data = base64.b64decode(meta["data_base64"])
    assert data[:4] == b"RIFF" and data[8:12] == b"WEBP", data[:16]
    assert {k: meta[k] for k in ("type", "media_type", "bytes", "width", "height", "sha1")} == {
        "type": "inline", "media_type": "image/webp", "bytes": len(data), "width": 40, "height": 30,
        "sha1": sha1(picture)}, meta
    assert payload(sent)["body_md"] == f"See ![chart](data:image/webp;base64,{meta['data_base64']}).\r\n", sent


def a_large_one_becomes_a_file(m):
    team, picture = Team(m, INLINE_IMAGE_MAX_BYTES="1", KEEP_ORIGINAL_IMAGES="true"), pictures.jpeg(64, 48)
    team.put("photo.jpg", picture)
    sent = team.send("![p](photo.jpg)")
    [meta] = sent["attachments"]
    path = SHA1_WEBP.format(sha1(picture))
    assert meta["type"] == "file" and meta["path"] == path and "data_base64" not in meta, meta
    assert payload(sent)["body_md"] == f"![p]({path})"
    original = f"attachments/originals/{sha1(picture):.2}/{sha1(picture)}.jpg"
    with open(os.path.join(team.archive, original), "rb") as file:
        assert file.read() == picture
    with open(os.path.join(team.archive, f"attachments/_manifests/{sha1(picture)}.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    assert manifest == {"sha1": sha1(picture), "webp_path": path, "bytes_webp": meta["bytes"], "width": 64,
        "height": 48, "original_path": original, "bytes_original": len(picture), "original_ext": "jpg"}, manifest
    # All of it is in the archive's history.
    listed = subprocess.run(["git", "-C", team.archive, "ls-tree", "-r", "--name-only", "main", "attachments"],
        capture_output=True, text=True, check=True).stdout.split()
    assert sorted(listed) == sorted([path, original, f"attachments/_manifests/{sha1(picture)}.json",
        f"attachments/_audit/{sha1(picture)}.log"]), listed


def other_files_stay_as_they_are(m):
    team = Team(m)
    team.put("notes.md", b"# hello\n")
    [meta] = team.send("x", "notes.md")["attachments"]
    digest = hashlib.sha256(b"# hello\n").hexdigest()
    assert meta == {"type": "file", "media_type": "text/markdown", "bytes": 8, "sha256": digest,
        "path": f"attachments/{digest:.2}/{digest}.md", "filename": "notes.md"}, meta
    with open(os.path.join(team.archive, meta["path"]), "rb") as file:
        assert file.read() == b"# hello\n"


def code_and_missing_files_are_text(m):
    team = Team(m)
    team.put("a.png", pictures.png())
    body = "`![x](a.png)` ![gone](gone.png) ![far](https://example.org/a.png)\n\n```\n![x](a.png)\n```\n"
    sent = team.send(body)
    assert payload(sent)["body_md"] == body and not sent.get("attachments"), sent


def nothing_leaves_the_workspace(m):
    team = Team(m)
    secret = os.path.join(m.dir, "secret.png")
    with open(secret, "wb") as file:
        file.write(pictures.png())
    os.symlink("../secret.png", os.path.join(team.work, "link.png"))
    os.symlink("..", os.path.join(team.work, "up"))
    for path in ("../secret.png", secret, "/etc/passwd", "link.png", "up/secret.png", "./x/../../secret.png"):
        if path.startswith("./x"):
            os.mkdir(os.path.join(team.work, "x"))
        for error in (team.error("x", path), team.error(f"![x]({path})")):
            assert error["type"] == "ATTACHMENT_REJECTED" and error["recoverable"], error
            assert error["data"] == {"path": path} and "lies outside" in error["message"], error
    # A workspace that holds the storage does not open it.
    team.json("ensure-project", m.dir)
    team.json("register", m.dir, "GreenFox", "--program", "codex", "--model", "gpt")
    answer = team.json("send", m.dir, "GreenFox", "--to", "GreenFox", "--subject", "s", "--body-md", "x",
        "--attachment-paths", "data/storage.sqlite3", status=2)
    assert answer["error"]["type"] == "ATTACHMENT_REJECTED", answer
    assert team.count() == 0
    # What is allowed is read.
    sent = team.send("x", "link.png", ATTACHMENT_ROOTS=m.dir)
    assert sent["attachments"][0]["type"] == "inline", sent


def what_cannot_be_attached_is_told(m):
    team = Team(m)
    error = team.error("x", "gone.png")
    assert error["type"] == "ATTACHMENT_REJECTED" and error["data"] == {"path": "gone.png"}, error
    assert error["message"] == "cannot attach: there is no file gone.png", error
    with open(os.path.join(team.work, "large"), "wb") as file:
        file.truncate((25 << 20) + 1)
    error = team.error("x", "large", status=1)
    assert error["type"] == "PAYLOAD_TOO_LARGE" and error["data"] == {"path": "large", "limit": 25 << 20}, error
    team.put("a", b"a")
    error = team.error("x", *["a"] * 65, status=1)
    assert error["type"] == "PAYLOAD_TOO_LARGE" and error["data"]["limit"] == 64, error
    team.json("profile", "work", "BlueLake", "--attachments-policy", "deny")
    error = team.error("x", "a")
    assert error["type"] == "ATTACHMENT_REJECTED" and "its attachments policy is deny" in error["message"], error
    assert team.count() == 0


def pictures_of_every_kind(m):
    """Good ones are converted, bad ones told, and none costs more than the limits say."""
    team, kinds = Team(m), pictures.corpus()
    kinds["png_bomb"] = pictures.png_bomb(7680, 4320)  # 100 MB of pixels in 100 kB
    kinds["webp_bomb"] = pictures.webp(8000, 8000)
    kinds["empty"] = b""
    for name, data in kinds.items():
        team.put(name + ".png", data)
    names = [name + ".png" for name in sorted(kinds)]
    sent = team.send("\n".join(f"![x]({name})" for name in names))
    told = {meta["path"][:-4]: meta["reason"] for meta in sent["attachments"] if meta["type"] == "error"}
    bad = {name for name in kinds if name.endswith(("_cut", "_huge", "_large", "_only"))} | {
        "empty", "not_a_picture", "png_bad_crc", "png_no_pixels", "png_zero_width", "webp_bomb"}
    assert set(told) == bad, set(told) ^ bad
    assert all(told.values())
    types = {meta["filename"][:-4]: meta["media_type"] for meta in sent["attachments"] if meta["type"] != "error"}
    assert {name: kind for name, kind in types.items() if kind != "image/webp"} == {
        "bmp": "image/bmp", "bmp_upside_down": "image/bmp", "gif": "image/gif"}, types
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert peak < 3 << 20, f"{peak} KiB"  # the sanitizers take their share


def the_same_picture_is_stored_once(m):
    team = Team(m, INLINE_IMAGE_MAX_BYTES="1")
    team.put("a.png", pictures.png())
    team.put("b.png", pictures.png())
    first = team.send("![a](a.png) ![b](b.png)")
    again = team.send(payload(first)["body_md"])
    assert len(first["attachments"]) == 1 and len(again["attachments"]) == 1, again
    assert payload(again)["body_md"] == payload(first)["body_md"]
    assert len(os.listdir(os.path.join(team.archive, "attachments/_manifests"))) == 1


def a_reader_who_denies_gets_no_data(m):
    team = Team(m)
    team.put("a.png", pictures.png())
    team.send("![a](a.png)")
    team.json("profile", "work", "RedStone", "--attachments-policy", "deny")
    [meta] = team.json("inbox", "work", "RedStone")["result"][0]["attachments"]
    assert meta["type"] == "inline" and "data_base64" not in meta, meta


TESTS = [
    a_small_picture_goes_inline,
    a_large_one_becomes_a_file,
    other_files_stay_as_they_are,
    code_and_missing_files_are_text,
    nothing_leaves_the_workspace,
    what_cannot_be_attached_is_told,
    pictures_of_every_kind,
    the_same_picture_is_stored_once,
    a_reader_who_denies_gets_no_data,
]


def main():
    with Tap() as tap:
        for test in TESTS:
            with Mailroom(sys.argv[1]) as m:
                tap.run(test.__name__.replace("_", " "), test, m)


main()
