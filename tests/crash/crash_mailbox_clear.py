"""A clear, a cleanup or an export that is stopped leaves nothing that could come back as new mail.

    crash_mailbox_clear.py PROGRAM

The program is killed at each point it passes, and each call that may fail fails; then it runs again
and must come to the same end as undisturbed. In between no document may stand without its row, for
repair would deliver it anew, and no export may stand by half.
"""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
from crash import Crash, must_succeed, tree  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM = sys.argv[1]
# What is killed loses nothing that the kernel has: where syncing costs nothing is as good.
if os.access("/dev/shm", os.W_OK):
    tempfile.tempdir = "/dev/shm"
TABLES = ["mailbox_registrations", "messages", "message_recipients", "attachments", "message_attachments",
    "mailbox_projections", "thread_summaries"]


def root_of(directory):
    return os.path.join(directory, "root")


def prepare(directory):
    must_succeed(subprocess.run([PROGRAM, "init", root_of(directory)], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=180, check=False))


def rows(path, root, tables):
    """These tables of a database; absolute paths become relative to the root."""
    return {table: sorted(tuple(v.replace(root, "$ROOT") if isinstance(v, str) else v for v in row) for row in found)
        for table, found in database.contents(path, tables).items()}


def picture(directory):
    """Files, links and rows; not locks, and not what a killed export leaves beside its output."""
    root = root_of(directory)
    found = {}
    for path, what in tree(directory).items():
        name = os.path.basename(path)
        if path.startswith(("root/locks", "root/rules", ".root.export.tmp-")) or "-journal" in name:
            continue
        if name.endswith(".sqlite"):
            tables = TABLES if name == "index.sqlite" else ["message_state", "thread_summaries"]
            found[path] = rows(os.path.join(directory, path), root, tables)
        elif name == "manifest.json" or name == "account.json":
            found[path] = json.loads(what.decode().replace(root, "$ROOT"))
        else:
            found[path] = what.replace(root, "$ROOT") if isinstance(what, str) else what
    return found


def nothing_can_come_back(directory, _result=None):
    root = root_of(directory)
    index = rows(os.path.join(root, "index.sqlite"), root, TABLES)
    known = {row[0] + ".md" for row in index["messages"]}
    for _, _, files in os.walk(os.path.join(root, "messages")):
        assert known.issuperset(files), f"no row: {set(files) - known}"


def paths_of_the_living_are_there(directory, _result=None):
    nothing_can_come_back(directory)
    root = root_of(directory)
    for row in rows(os.path.join(root, "index.sqlite"), root, TABLES)["mailbox_registrations"]:
        if row[3] == "active":
            assert os.path.isdir(row[5].replace("$ROOT", root) + "/inbox"), f"{row[5]} is gone"


def the_export_is_whole(directory, _result=None):
    output = root_of(directory) + ".export"
    if os.path.exists(output):
        with open(os.path.join(output, "manifest.json"), encoding="ascii") as file:
            manifest = json.load(file)
        assert len(manifest["messages"]) == 3 and not manifest["blocked_artifacts"]
        for entry in manifest["messages"] + manifest["projections"]:
            assert os.path.getsize(os.path.join(output, entry["archive_path"])) > 0


def nothing_half_done(directory, _result):
    """After a failure: nothing is left beside the output, and that is whole if it is there."""
    the_export_is_whole(directory)
    left = [name for name in os.listdir(directory) if name.startswith(".")]
    assert not left, f"left: {left}"


def main():
    with Tap() as tap:
        for verb, check, points in [
            ("clear", nothing_can_come_back, ["hold.take.locked", "trash.put.moved", "trash.sync.synced",
                "clear.apply.committed", "clear.unlink.removed", "clear.state.cleared", "clear.apply.tidied"]),
            ("clear-account", nothing_can_come_back, ["trash.put.moved", "clear.apply.committed"]),
            ("cleanup", paths_of_the_living_are_there, ["trash.put.moved", "cleanup.apply.committed"]),
            ("export", the_export_is_whole, ["export.open.made", "export.locked.copied",
                "export.finish.synced", "export.finish.renamed"]),
        ]:
            crash = Crash(tap, lambda d, verb=verb: [PROGRAM, verb, root_of(d)], prepare, picture)
            crash.stops(verb, check, points)
            # The other two take the same steps as an account's clear.
            if verb in ("clear-account", "export"):
                crash.failures(f"{verb}, disk full", "ENOSPC",
                    nothing_half_done if verb == "export" else check)


main()
