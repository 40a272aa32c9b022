"""usage: house.py ROOT - the rules of the house, checked over the tree without running anything.

Each rule is a function that returns what is wrong, one line a place. The last line of the output
checks the rules themselves: on a tree that breaks them all, each one must say so.
"""

import functools
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Tap  # noqa: E402

# Calls go down; folders of the same rank are siblings and do not know each other.
RANKS = {"base": 0, "text": 1, "data": 2, "net": 2, "mailbox": 3, "team": 3, "workspace": 3,
         "bridge": 4, "app": 5, "op": 6, "surface": 7}

FOREIGN = ["sqlite3.h", "git2.h", "yaml.h", "jansson.h", "microhttpd.h", "md4c.h", "utf8proc.h",
           "curl/curl.h", "openssl/evp.h", "webp/encode.h", "webp/decode.h", "png.h", "turbojpeg.h", "gmime/gmime.h", "libxml/HTMLparser.h", "libpq-fe.h", "zlib.h"]

BANNED = ["strcpy", "strcat", "sprintf", "vsprintf", "gets", "gmtime", "localtime", "ctime", "asctime",
          "strtok", "atoi", "atol", "atoll", "atof", "rand", "srand", "alloca", "system", "popen"]
# Only the command line writes to standard output, and only main.c ends the program.
BANNED_ELSEWHERE = {
    ("src/surface/cli/", "src/main.c"): ["printf", "vprintf", "puts", "putchar"],
    ("src/main.c",): ["exit"],
}

# Modules with a header of their own that another test reaches.
TESTED_BY = {
    "src/team/archive/archive_place_sql.c": "tests/unit/team/test_team_archive_place.c",
    "src/team/archive/archive_take.c": "tests/unit/team/test_team_archive_place.c",
    "src/team/archive/rebuild_refill.c": "tests/unit/team/test_team_archive_place.c",
    "src/team/attachment_sql.c": "tests/unit/team/test_team_archive_place.c",
    "src/team/client_sql.c": "tests/blackbox/team_servers.py",
    "src/op/team/sharing.c": "tests/blackbox/team_servers.py",
    "src/surface/mcp/shared.c": "tests/blackbox/team_servers.py",
    "src/team/store/duty.c": "tests/blackbox/team_servers.py",
    "src/surface/cli/demo.c": "tests/blackbox/demo.py",
    "src/surface/cli/serve.c": "tests/blackbox/serve.py",
    "src/base/crash_off.c": "tests/crash/crash_fs.py",
    "src/base/crash_on.c": "tests/crash/crash_fs.py",
    "src/data/git.c": "tests/unit/data/test_history.c",
    "src/surface/http/mhd.c": "tests/unit/surface/test_server.c",
    "src/data/db_sqlite.c": "tests/unit/data/test_db.c",
    "src/data/db_sqlite_bell.c": "tests/unit/data/test_db_notify.c",
    "src/data/db_sqlite_check.c": "tests/unit/data/test_db.c",
    "src/data/db_sqlite_error.c": "tests/unit/data/test_db.c",
    "src/data/db_sqlite_file.c": "tests/unit/data/test_db_place.c",
    "src/data/db_sqlite_place.c": "tests/unit/data/test_db_place.c",
    "src/data/db_sqlite_score.c": "tests/unit/data/test_db_search.c",
    "src/data/db_sqlite_search.c": "tests/unit/data/test_db_search.c",
    "src/data/db_postgres_memo.c": "tests/unit/data/test_db_postgres.c",
    "src/data/db_postgres_words.c": "tests/unit/data/test_db_postgres.c",
    "src/data/db_sqlite_words.c": "tests/unit/data/test_rows.c",
    "src/team/archive/archive_look.c": "tests/blackbox/web_history.py",
    "src/team/traffic.c": "tests/blackbox/web_history.py",
    "src/team/traffic_sql.c": "tests/blackbox/web_history.py",
    "src/net/event_source.c": "tests/blackbox/jmap_watch.py",
    "src/net/jmap_watch.c": "tests/blackbox/jmap_watch.py",
    "src/team/overseer.c": "tests/unit/team/test_team_escalate.c",
    "src/mailbox/account.c": "tests/blackbox/mail_jmap.py",
    "src/mailbox/carry.c": "tests/blackbox/mailbox_carry.py",
    "src/mailbox/place.c": "tests/blackbox/mailbox_carry.py",
    "src/mailbox/adopt.c": "tests/blackbox/mailbox_roots.py",
    "src/mailbox/agent_make.c": "tests/unit/mailbox/test_mailbox_agent.c",
    "src/mailbox/registry.c": "tests/unit/mailbox/test_mailbox_agent.c",
    "src/mailbox/cleanup_sql.c": "tests/unit/mailbox/test_mailbox_clear.c",
    "src/mailbox/export_manifest.c": "tests/unit/mailbox/test_mailbox_export.c",
    "src/mailbox/export_sql.c": "tests/unit/mailbox/test_mailbox_export.c",
    "src/mailbox/holder.c": "tests/blackbox/mailbox_roots.py",
    "src/mailbox/lock_all.c": "tests/unit/mailbox/test_mailbox_cleanup.c",
    "src/mailbox/inside.c": "tests/unit/mailbox/test_mailbox_clear.c",
    "src/mailbox/mail_jmap.c": "tests/blackbox/mail_jmap.py",
    "src/mailbox/mail_keep.c": "tests/unit/mailbox/test_mailbox_mail_send.c",
    "src/mailbox/mail_open.c": "tests/blackbox/mail_jmap.py",
    "src/mailbox/notifier_push.c": "tests/blackbox/mail_jmap.py",
    "src/mailbox/mail_sql.c": "tests/unit/mailbox/test_mailbox_mail.c",
    "src/mailbox/mail_tui.c": "tests/blackbox/mail_terminal.py",
    "src/mailbox/repair_sql.c": "tests/unit/mailbox/test_mailbox_repair.c",
    "src/mailbox/snapshot.c": "tests/unit/mailbox/test_mailbox_export.c",
    "src/mailbox/trash.c": "tests/unit/mailbox/test_mailbox_clear.c",
    "src/app/client_toml.c": "tests/unit/app/test_client.c",
    "src/op/grid.c": "tests/unit/op/test_render.c",
    "src/op/render_part.c": "tests/unit/op/test_render_contact.c",
    "src/op/mailbox/render_mailbox.c": "tests/blackbox/mailbox.py",
    "src/op/mailbox/contract_mail.c": "tests/blackbox/mail.py",
    "src/op/mailbox/contract_gateway.c": "tests/blackbox/gateway.py",
    "src/op/mailbox/gateway_body.c": "tests/blackbox/gateway.py",
    "src/op/mailbox/gateway_log.c": "tests/blackbox/gateway.py",
    "src/op/mailbox/gateway_parts.c": "tests/blackbox/gateway.py",
    "src/op/mailbox/gateway_rules.c": "tests/blackbox/gateway.py",
    "src/op/mailbox/gateway_service.c": "tests/blackbox/gateway.py",
    "src/op/mailbox/gateway_table.c": "tests/blackbox/gateway.py",
    "src/op/mailbox/shape_gateway.c": "tests/blackbox/gateway.py",
    "src/surface/cli/foreground.c": "tests/blackbox/serve.py",
    "src/mailbox/gateway.c": "tests/blackbox/gateway.py",
    "src/mailbox/mail_gateway.c": "tests/blackbox/gateway.py",
    "src/mailbox/mail_once.c": "tests/blackbox/gateway.py",
    "src/op/mailbox/houmao.c": "tests/blackbox/mail_golden.py",
    "src/op/mailbox/mail_session.c": "tests/blackbox/mail.py",
    "src/op/mailbox/mail_terminal.c": "tests/blackbox/mail_terminal.py",
    "src/op/mailbox/mail_words.c": "tests/blackbox/mail.py",
    "src/op/mailbox/render_notifier.c": "tests/blackbox/notifier.py",
    "src/op/mailbox/shape_notifier.c": "tests/blackbox/notifier.py",
    "src/op/mailbox/render_agent_mail.c": "tests/blackbox/mail.py",
    "src/op/mailbox/shape_mail.c": "tests/blackbox/mail_golden.py",
    "src/op/mailbox/shape_mailbox.c": "tests/blackbox/mailbox.py",
    "src/net/curl.c": "tests/unit/net/test_http_client.c",
    "src/net/imap.c": "tests/blackbox/work_pull.py",
    "src/net/imap_login.c": "tests/blackbox/work_servers.py",
    "src/net/imap_stream.c": "tests/blackbox/work_pull.py",
    "src/text/imap_words.c": "tests/unit/text/test_imap_response.c",
    "src/workspace/secret.c": "tests/unit/workspace/test_work_account.c",
    "src/workspace/push_imap.c": "tests/blackbox/work_push_server.py",
    "src/workspace/push_mail.c": "tests/blackbox/work_push_server.py",
    "src/workspace/push_recover.c": "tests/blackbox/work_push_server.py",
    "src/workspace/folders.c": "tests/blackbox/work_pull.py",
    "src/workspace/setup_store.c": "tests/unit/workspace/test_work_setup.c",
    "src/workspace/submission.c": "tests/blackbox/work_setup.py",
    "src/workspace/mail_server.c": "tests/blackbox/work_pull.py",
    "src/base/fs_many.c": "tests/blackbox/work_pull.py",
    "src/workspace/pull_arrive.c": "tests/blackbox/work_odd_servers.py",
    "src/workspace/pull_bodies.c": "tests/blackbox/work_pull.py",
    "src/workspace/pull_box.c": "tests/blackbox/work_pull.py",
    "src/workspace/pull_limit.c": "tests/blackbox/work_pull.py",
    "src/workspace/pull_state.c": "tests/blackbox/work_pull.py",
    "src/workspace/pull_watch.c": "tests/blackbox/work_pull.py",
    "src/workspace/pull_take.c": "tests/blackbox/work_pull.py",
    "src/workspace/pull_known.c": "tests/blackbox/work_pull.py",
    "src/workspace/pull_resolve.c": "tests/blackbox/work_pull.py",
    "src/workspace/pull_run.c": "tests/blackbox/work_pull.py",
    "src/workspace/pull_settle.c": "tests/blackbox/work_pull.py",
    "src/op/work/contract_work.c": "tests/blackbox/work_protocol.py",
    "src/op/work/event_work.c": "tests/blackbox/work_protocol.py",
    "src/op/work/help_work.c": "tests/blackbox/work_protocol.py",
    "src/op/work/render_remote.c": "tests/blackbox/work_setup.py",
    "src/op/work/work_setup.c": "tests/blackbox/work_setup.py",
    "src/op/work/work_ops.c": "tests/blackbox/work_protocol.py",
    "src/op/work/around_work.c": "tests/blackbox/work_protocol.py",
    "src/op/work/afmail.c": "tests/blackbox/work_protocol.py",
    "src/op/team/shape_team.c": "tests/blackbox/team_identity.py",
    "src/op/team/shape_team_search.c": "tests/blackbox/team_search.py",
    "src/op/team/shape_team_summary.c": "tests/blackbox/team_search.py",
    "src/op/team/team_guard.c": "tests/blackbox/guard.py",
    "src/op/team/team_ops.c": "tests/blackbox/team_identity.py",
    "src/op/trace.c": "tests/blackbox/serve.py",
    "src/surface/cli/cli.c": "tests/blackbox/cli.py",
    "src/surface/cli/commands.c": "tests/blackbox/cli.py",
    "src/surface/http/admit.c": "tests/unit/surface/test_server.c",
    "src/surface/http/cookie.c": "tests/unit/surface/test_web_form.c",
    "src/surface/http/api.c": "tests/blackbox/serve.py",
    "src/surface/http/discovery.c": "tests/blackbox/access.py",
    "src/surface/http/listen.c": "tests/unit/surface/test_server.c",
    "src/surface/http/request.c": "tests/unit/surface/test_server.c",
    "src/surface/http/server_config.c": "tests/unit/surface/test_server.c",
    "src/surface/http/stream.c": "tests/unit/surface/test_server.c",
    "src/surface/http/drain.c": "tests/unit/surface/test_server.c",
    "src/surface/http/wait.c": "tests/blackbox/mcp_crowd.py",
    "src/surface/http/deadlines.c": "tests/unit/surface/test_server.c",
    "src/surface/mcp/answer.c": "tests/unit/surface/test_ask.c",
    "src/surface/mcp/endpoint.c": "tests/blackbox/mcp_wire.py",
    "src/surface/mcp/fixture_tools.c": "script/conformance",
    "src/surface/mcp/fixtures.c": "script/conformance",
    "src/surface/mcp/mcp.c": "tests/unit/surface/test_ask.c",
    "src/surface/mcp/progress.c": "tests/blackbox/mcp_progress.py",
    "src/surface/mcp/method.c": "tests/unit/surface/test_ask.c",
    "src/surface/mcp/stdio.c": "tests/blackbox/mcp_stdio.py",
    "src/surface/mcp/wanted.c": "tests/blackbox/mcp_stdio.py",
    "src/team/find_sql.c": "tests/blackbox/web_home.py",
    "src/surface/web/live.c": "tests/blackbox/web_home.py",
    "src/surface/web/live_files.c": "tests/blackbox/web_work.py",
    "src/surface/web/action.c": "tests/blackbox/web_team.py",
    "src/surface/web/asset.c": "tests/blackbox/web.py",
    "src/surface/web/form.c": "tests/unit/surface/test_web_form.c",
    "src/surface/web/sign.c": "tests/blackbox/web_sign_in.py",
    "src/surface/web/home.c": "tests/blackbox/web.py",
    "src/surface/web/pages.c": "tests/blackbox/web.py",
    "src/surface/web/page_mail.c": "tests/blackbox/web_mail.py",
    "src/surface/web/page_project.c": "tests/blackbox/web_mail.py",
    "src/surface/web/page_file.c": "tests/blackbox/web_mail.py",
    "src/surface/web/page_search.c": "tests/blackbox/web_mail.py",
    "src/surface/web/template_set.c": "tests/blackbox/web.py",
    "src/surface/web/theme.c": "tests/unit/surface/test_web_form.c",
    "src/surface/web/view.c": "tests/blackbox/web.py",
    "src/surface/web/web.c": "tests/blackbox/web.py",
    "src/team/agent_sql.c": "tests/unit/team/test_team_agent.c",
    "src/op/team/team_root.c": "tests/blackbox/team_root.py",
    "src/team/archive/archive_files.c": "tests/unit/team/test_team_archive.c",
    "src/team/archive/archive_repair.c": "tests/blackbox/team_root.py",
    "src/team/archive/archive_round.c": "tests/unit/team/test_team_archive.c",
    "src/team/archive/archive_source_sql.c": "tests/unit/team/test_team_archive.c",
    "src/team/archive/archive_sql.c": "tests/unit/team/test_team_archive.c",
    "src/team/attention_sql.c": "tests/unit/team/test_team_attention.c",
    "src/team/contact_sql.c": "tests/unit/team/test_team_contact.c",
    "src/team/escalate_sql.c": "tests/unit/team/test_team_escalate.c",
    "src/team/gauge_sql.c": "tests/unit/team/test_team_gauge.c",
    "src/team/group_sql.c": "tests/unit/team/test_team_group.c",
    "src/team/inbox_sql.c": "tests/unit/team/test_team_inbox.c",
    "src/team/message_sql.c": "tests/unit/team/test_team_message.c",
    "src/team/store/standing_sql.c": "tests/unit/team/test_team_database.c",
    "src/team/move.c": "tests/blackbox/team_migrate.py",
    "src/team/move_sql.c": "tests/blackbox/team_migrate.py",
    "src/mailbox/open.c": "tests/unit/mailbox/test_mailbox_root.c",
    "src/team/open.c": "tests/unit/team/test_team_root.c",
    "src/team/post.c": "tests/unit/team/test_team_message.c",
    "src/team/share/share_sql.c": "tests/unit/team/test_team_share.c",
    "src/team/probe_sql.c": "tests/unit/team/test_team_probe.c",
    "src/team/product_sql.c": "tests/unit/team/test_team_product.c",
    "src/team/project_sql.c": "tests/unit/team/test_team_project.c",
    "src/team/purge_sql.c": "tests/unit/team/test_team_purge.c",
    "src/team/lease/reservation_sql.c": "tests/unit/team/test_team_lease_index.c",
    "src/team/retire_sql.c": "tests/unit/team/test_team_agent.c",
    "src/team/search_sql.c": "tests/unit/team/test_team_search.c",
    "src/team/lease/slot_sql.c": "tests/unit/team/test_team_slot.c",
    "src/team/archive/rebuild_carry.c": "tests/unit/team/test_team_rebuild.c",
    "src/team/archive/rebuild_carry_sql.c": "tests/unit/team/test_team_rebuild.c",
    "src/team/archive/rebuild_origin.c": "tests/unit/team/test_team_rebuild.c",
    "src/team/archive/rebuild_sql.c": "tests/unit/team/test_team_rebuild.c",
    "src/text/yaml_scalar.c": "tests/unit/text/test_yaml.c",
    "src/workspace/search_sql.c": "tests/unit/workspace/test_work_search.c",
}

LONG = 700


class Tree:
    """The files of the tree, by their paths from its root."""

    def __init__(self, root):
        self.root = root
        self.files = sorted(set(self._tracked() or self._found()))
        self.src = self.below("src/", ".c", ".h")
        self.modules = self.below("src/", ".c")

    def _tracked(self):
        """What git knows and what is there, or nothing when this is no work tree of its own."""
        if not os.path.exists(os.path.join(self.root, ".git")):
            return None
        done = subprocess.run(["git", "-C", self.root, "ls-files", "-z"], capture_output=True, text=True)
        if done.returncode:
            return None
        return [f for f in done.stdout.split("\0") if f and os.path.isfile(os.path.join(self.root, f))]

    def _found(self):
        """A tree without its history: all but what a build left."""
        found = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = [f for f in folders
                          if f not in (".git", "__pycache__") and not re.match(r"build\b", f)]
            found += [os.path.relpath(os.path.join(folder, name), self.root) for name in names]
        return found

    def below(self, prefix, *endings):
        return [f for f in self.files if f.startswith(prefix) and f.endswith(endings)]

    @functools.lru_cache(maxsize=None)
    def text(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
            return file.read()

    @functools.lru_cache(maxsize=None)
    def code(self, path):
        """C without what stands in comments and quotes; lines stay where they are."""
        return blank(self.text(path), comments=True, quotes=True)

    @functools.lru_cache(maxsize=None)
    def includes(self, path):
        """(line number, name with its quotes or brackets)."""
        text = blank(self.text(path), comments=True)
        return [(line_of(text, match.start()), match[1]) for match in
                re.finditer(r'^[ \t]*#[ \t]*include[ \t]*(<[^>\n]+>|"[^"\n]+")', text, re.M)]


def blank(text, comments=False, quotes=False):
    def replace(match):
        found = match[0]
        if found[0] == "/":
            return re.sub(r"[^\n]", " ", found) if comments else found
        return found[0] + re.sub(r"[^\n]", " ", found[1:-1]) + found[-1] if quotes else found

    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', replace, text, flags=re.S)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def places(tree, path, text, pattern):
    for match in re.finditer(pattern, text, re.S):
        yield f"{path}:{line_of(text, match.start())}: {' '.join(match[0].split())}"


def layer_of(path):
    """The folder below src/, or None for what stands directly in it."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else None


def includes_go_down(tree):
    for path in tree.src:
        layer = layer_of(path)
        if layer is None:
            continue
        if layer not in RANKS:
            yield f"{path}: the folder {layer} has no rank"
            continue
        for line, name in tree.includes(path):
            to = name[1:-1].split("/")[0]
            if name[0] == "<" or to == layer:
                continue
            if "/" not in name:
                yield f"{path}:{line}: {name} does not say which folder"
            elif to not in RANKS:
                yield f"{path}:{line}: {name} is in no folder with a rank"
            elif RANKS[to] >= RANKS[layer]:
                yield f"{path}:{line}: {layer} includes {name}"


def module_of(tree, path):
    """
    A module is a .c file with its header. Files named after it that are its own business belong to it, too: a .c
    without a header, a header without a .c, X_private and X_sql where they include X's header, and a file whose
    header nobody else includes.
    """
    stem = path[:-2]
    own = [f for f in (stem + ".c", stem + ".h") if f in tree.src]
    included = {f"src/{name[1:-1]}" for f in own for _, name in tree.includes(f)}
    above = stem
    while "_" in os.path.basename(above):
        above = above.rsplit("_", 1)[0]
        if above + ".h" not in tree.src or not {above + ".h", above + "_private.h"} & included:
            continue
        if len(own) == 1 or stem.endswith(("_private", "_sql")) or \
                all(re.match(rf"{re.escape(above)}[_.]", f) for f in includers(tree).get(stem + ".h", [])):
            return module_of(tree, above + ".h")
    return stem


@functools.lru_cache(maxsize=None)
def includers(tree):
    """Who in src includes each file of src."""
    found = {}
    for path in tree.src:
        for _, name in tree.includes(path):
            found.setdefault(f"src/{name[1:-1]}", []).append(path)
    return found


def no_cycle_between_modules(tree):
    """Within one folder of src: between folders includes go down anyway."""
    module = {path: module_of(tree, path) for path in tree.src}
    uses = {}
    for path in tree.src:
        for _, name in tree.includes(path):
            to = f"src/{name[1:-1]}"
            if to in module and module[to] != module[path] and layer_of(to) == layer_of(path):
                uses.setdefault(module[path], set()).add(module[to])

    def reached(start):
        found, todo = set(), [start]
        while todo:
            for to in uses.get(todo.pop(), set()) - found:
                found.add(to)
                todo.append(to)
        return found

    reach = {one: reached(one) for one in uses}
    told = set()
    for one in sorted(uses):
        cycle = {other for other in reach[one] if one in reach.get(other, ())}
        if cycle and one not in told:
            told |= cycle
            yield f"{', '.join(other[len('src/'):] for other in sorted(cycle))} include each other"


def foreign_headers_have_one_home(tree):
    homes = {}
    for path in tree.src:
        for _, name in tree.includes(path):
            if name[0] == "<" and name[1:-1] in FOREIGN:
                homes.setdefault(name, []).append(path)
    return [f"{name}: {', '.join(paths)}" for name, paths in sorted(homes.items()) if len(paths) > 1]


def no_file_without_a_topic(tree):
    return [f for f in tree.files if re.search(r"util|common|misc|helper", os.path.basename(f), re.I)]


def no_banned_calls(tree):
    def calls(path, names):
        # Not part of a longer name, not a member called the same.
        return places(tree, path, tree.code(path), rf"(?<![\w.])(?<!->)(?:{'|'.join(names)})\s*\(")

    for path in tree.src:
        yield from calls(path, BANNED)
        for allowed, names in BANNED_ELSEWHERE.items():
            if not path.startswith(allowed):
                yield from calls(path, names)
        if not path.startswith(("src/surface/cli/", "src/main.c")):
            yield from places(tree, path, tree.code(path), r"\bstdout\b")


def no_line_comments(tree):
    for path in tree.src + tree.below("tests/", ".c", ".h") + tree.below("bench/", ".c", ".h"):
        yield from places(tree, path, tree.code(path), r"//[^\n]*")


def what_is_cleaned_up_begins_with_a_value(tree):
    # Whoever returns before it has one would release what happens to lie there.
    for path in tree.src:
        yield from places(tree, path, tree.code(path), r"\w+\s+MR_CLEANUP\(\w+\)\s*[;,]")


def sql_stays_in_its_files(tree):
    gap = r"(?:\s|\\[nt])+"
    statements = ["SELECT", f"INSERT{gap}(?:OR{gap}[A-Z]+{gap})?INTO", rf"UPDATE{gap}\w+{gap}SET",
                  f"DELETE{gap}FROM"]
    for path in tree.src:
        if not path.startswith("src/data/") and not path.endswith("_sql.c"):
            # Texts that the compiler joins are one text.
            text = re.sub(r'"(\s*)"', r"\1", blank(tree.text(path), comments=True))
            yield from places(tree, path, text, rf'"(?:\s|\\[nt])*(?:{"|".join(statements)}){gap}')


def parts_answer_questions(tree):
    """Above the parts, nobody holds a database: they ask a function of the part."""
    handle = r"\bstruct mr_(?:db|stmt|queue|team_reader)\b|\bmr_team_(?:read|write)\s*\("
    for path in [path for path in tree.src if path.startswith(ABOVE_PARTS)]:
        yield from [f"{path}:{line}: {name}" for line, name in tree.includes(path)
                    if re.fullmatch(r'"data/(?:db|queue)\.h"|".*_sql\.h"', name)]
        yield from places(tree, path, tree.code(path), handle)


def no_part_in_surface(tree):
    """A surface asks op, which asks the part."""
    for path in tree.below("src/surface/", ".c", ".h"):
        for line, name in tree.includes(path):
            if ("src/" + name[1:-1]).startswith(PARTS):
                yield f"{path}:{line}: {name}"


# Opens the team, and asks for its state where it may not open.
OPENS_THE_TEAM = ("src/op/team/contract_team.c", "src/op/team/team_home.c", "src/op/team/team_home.h")


def the_contract_opens_the_part(tree):
    """What an operation or a view works on is handed to it."""
    for path in tree.src:
        if path not in OPENS_THE_TEAM:
            yield from places(tree, path, blank(tree.text(path), comments=True), r"\bmr_team_home_open\b")


def only_data_names_an_engine(tree):
    for path in tree.src:
        if not path.startswith("src/data/"):
            yield from places(tree, path, blank(tree.text(path), comments=True), r"\bmr_db_sqlite\b|\bdb_sqlite\.h")


# What only SQLite takes. The mailbox's files are SQLite's by contract, and a rebuild reads the file of a damaged one.
ONE_ENGINE = (r"\bjson_each\b|\bINSERT OR \w+|\biif\(|\bifnull\(|\bLIKE\b|\browid\b|\?\d+ IS (?:NOT )?NULL")
FOR_ONE_ENGINE = ("src/mailbox/", "src/data/", "src/team/archive/rebuild_carry_sql.c")


def sql_suits_every_engine(tree):
    for path in tree.src:
        if path.endswith(("_sql.c", "_sql.h")) and not path.startswith(FOR_ONE_ENGINE):
            yield from places(tree, path, blank(tree.text(path), comments=True), ONE_ENGINE)


# Tests of what only SQLite has: an index that an older version made, the copy that a share gives away, its files.
SQLITE_TESTS = ("tests/unit/team/test_team_search.c", "tests/unit/team/test_team_share.c")
OPEN_SQLITE = ("tests/support/database.py", "tests/blackbox/health_database.py", "tests/blackbox/mcp_crowd.py",
               "tests/blackbox/team_root.py", "tests/crash/crash_queue.py", "tests/crash/crash_team_rebuild.py")


def tests_ask_through_one_module(tree):
    """Tests above data look into databases with tests/support/database.c or database.py, and a team's in any engine's SQL."""
    for path in [path for path in tree.below("tests/unit/", ".c", ".h") if not path.startswith("tests/unit/data/")]:
        yield from [f"{path}:{line}: {name}" for line, name in tree.includes(path)
                    if re.fullmatch(r'"data/(?:db|rows)\.h"|<sqlite3\.h>', name)]
        yield from places(tree, path, tree.code(path), r"\bmr_(?:db|stmt|rows)_\w+\s*\(|MR_CLEANUP\(mr_(?:db|stmt)_\w+")
        if path.startswith("tests/unit/team/") and path not in SQLITE_TESTS:
            yield from places(tree, path, blank(tree.text(path), comments=True),
                              ONE_ENGINE + r"|\bPRAGMA\b|\bsqlite_\w+|\bgroup_concat\b|\bfts_messages\b|\bEXPLAIN\b")
    for path in tree.below("tests/", ".py"):
        if path not in OPEN_SQLITE:
            yield from places(tree, path, tree.text(path), r"(?m:^)import sqlite3\b|\bsqlite3\.connect\b")


def lists_have_a_limit(tree):
    """An engine may fetch all rows of a statement at once; the mailbox's files are SQLite's, which does not."""
    for path in [path for path in tree.src if path.endswith("_sql.c") and not path.startswith("src/mailbox/")]:
        text = blank(tree.text(path), comments=True)
        limited = {"LIMIT", "MR_ROWS_ALL"} | {name for name, body in re.findall(r"#define (\w+)((?:.*\\\n)*.*)", text)
                                              if re.search(r"\bLIMIT\b", body)}
        for call in re.finditer(r"\bmr_rows_(?:list|append)\((?:[^,]*,){2}([^,]*),", text):
            for name in re.findall(r"\b(?:SQL|sql)_\w+", call[1]):
                entries = re.search(rf"\b{name}(?:\[\w*\])+ =(.*?);\n", text, re.S)
                texts = re.split(r"\[\w+\] =", entries[1])[1:] or [entries[1]] if entries else [""]
                if any(not limited & set(re.findall(r"\w+", one)) for one in texts):
                    yield f"{path}:{line_of(text, call.start())}: {name}"


def built(tree):
    """Every .c file that a meson.build names."""
    named = set()
    for path in tree.files:
        if os.path.basename(path) == "meson.build":
            text = re.sub(r"#[^\n]*", "", tree.text(path))
            named |= {os.path.normpath(os.path.join(os.path.dirname(path), name))
                      for name in re.findall(r"'([\w./-]+\.c)'", text)}
    return named


def every_module_is_built(tree):
    return [f"{path}: no meson.build names it" for path in tree.modules if path not in built(tree)]


def the_map_is_complete(tree):
    """The comment at the top of main.c names every file, under its folder, and no other."""
    if "src/main.c" not in tree.files:
        return
    text = tree.text("src/main.c")
    folders, mapped = {}, set()
    for indent, name in re.findall(r"^ \*( +)([\w/.-]+(?:/|\.c))(?=\s|$)", text[:text.find("*/")], re.M):
        folders = {depth: folder for depth, folder in folders.items() if depth < len(indent)}
        if name.endswith("/"):
            folders[len(indent)] = name
        else:
            mapped.add("src/" + "".join(folders[depth] for depth in sorted(folders)) + name)
    for path in sorted(set(tree.modules) - mapped):
        yield f"{path}: not in the map of src/main.c"
    for path in sorted(mapped - set(tree.modules)):
        yield f"{path}: in the map of src/main.c, but not there"


def every_module_is_tested(tree):
    for path in tree.modules:
        stem, layer = path[:-len(".c")], layer_of(path)
        if layer is None or stem + ".h" not in tree.files or path in TESTED_BY:
            continue
        inner = os.path.dirname(path)[len("src/"):]
        part = TEST_PREFIXES.get(layer, layer) + "_" if path.startswith(PARTS) else ""
        name = f"test_{part}{os.path.basename(stem)}.c"
        if not {f"tests/unit/{inner}/{name}", f"tests/unit/{layer}/{name}"} & set(tree.files):
            yield f"{path}: no tests/unit/{inner}/{name}"
    for path, test in TESTED_BY.items():
        if not {path, test} <= set(tree.files):
            yield f"{path}: excepted for {test}, but not both are there"


def headers_say_who_they_are(tree):
    for path in [f for f in tree.files if f.endswith(".h")]:
        own = path[len("src/"):] if path.startswith("src/") else path
        if not re.match(rf"/\*\s+(?:\* )?{re.escape(own)}\b", tree.text(path)):
            yield f"{path}: does not start with a comment that names {own}"
        if not re.search(r"^#pragma once$", tree.text(path), re.M):
            yield f"{path}: no #pragma once"


def modules_say_what_they_are_for(tree):
    for path in tree.modules:
        opening = re.match(r"/\*(.*?)\*/", tree.text(path), re.S)
        told = re.sub(r"\s*\n \*", " ", opening[1]) if opening else ""
        if path != "src/main.c" and not re.match(rf"\s*{re.escape(path[len('src/'):])} - \S.{{15}}", told):
            yield f"{path}: does not open with its name and a sentence"


def names_are_unique(tree):
    """In the foundation as a whole, and in each of the three parts by itself: all three have messages."""
    homes = {}
    for path in tree.modules:
        part = path.split("/")[1] if path.startswith(PARTS) else ""
        homes.setdefault((part, os.path.basename(path)), []).append(path)
    return [", ".join(paths) for paths in homes.values() if len(paths) > 1]


def nothing_of_one_machine(tree):
    # Put together here, so that this file does not contain them.
    paths = ["/wo" "rk/", "/ro" "ot/", "/ho" r"me/[\w.-]+/", "/tmp/bash" "_jobs"]
    for path in tree.files:
        yield from places(tree, path, tree.text(path), rf"(?<![\w.~$}}-])(?:{'|'.join(paths)})[^\s\"']*")


PARTS = ("src/mailbox/", "src/team/", "src/workspace/")
# How tests of a part are named, where that is not the part's own name.
TEST_PREFIXES = {"workspace": "work"}
ABOVE_PARTS = ("src/bridge/", "src/app/", "src/op/", "src/surface/", "src/main.c")

RULES = [
    includes_go_down,
    no_cycle_between_modules,
    foreign_headers_have_one_home,
    no_file_without_a_topic,
    no_banned_calls,
    no_line_comments,
    what_is_cleaned_up_begins_with_a_value,
    sql_stays_in_its_files,
    parts_answer_questions,
    no_part_in_surface,
    the_contract_opens_the_part,
    only_data_names_an_engine,
    sql_suits_every_engine,
    tests_ask_through_one_module,
    lists_have_a_limit,
    every_module_is_built,
    the_map_is_complete,
    every_module_is_tested,
    headers_say_who_they_are,
    modules_say_what_they_are_for,
    names_are_unique,
    nothing_of_one_machine,
]

# A tree that breaks every rule, and what each rule must find there: nothing more, nothing less.
BAD_TREE = {
    "meson.build": "# 'src/base/named_in_a_comment.c'\nx = files('src/base/a.c', 'src/main.c')\n",
    "src/main.c": "/*\n * The map.\n *   main.c\n *   base/\n *     a.c   first\n *     gone.c\n */\n"
                  '#include "surface/cli/b.h"\nint main(void)\n{\n\texit(printf("x"));\n}\n',
    "src/base/a.c": '#include "base/a.h"\n#include "text/up.h"\n#include <yaml.h>\n'
                    "/* strcpy(a, b) // */\nconst char *s = \"strcpy(a, b); // \\\" /*\", q = '\"';\n"
                    "int x = gmtime_r(1) + o->system(1) + mr_rand(2) + fgets(1) + o.exit(3);\n"
                    "int y = strcpy (a, b) + exit(1);\nint z = fputs(\"you SELECT a word\", stdout);\n",
    "src/base/a.h": "/* base/a.h - fine. */\n#pragma once\n",
    "src/text/a.c": "#include <yaml.h>\n#include \"base/a.h\"\nint x; // note\n"
                    'const char *s = "SELECT\\n1";\n/* "DELETE FROM t" */ char *t = "INSERT OR IGNORE INTO t";\n'
                    'const char *u = "UPDATE t "\n"SET a = 1";\n',
    "src/text/up.h": "/*\n * text/down.h - wrong.\n */\n",
    "src/net/n.c": '#include "data/d_sql.h"\n#include "a.h"\n'
                   "int f(void)\n{\n\tstruct s a MR_CLEANUP(done) = { 0 }, b MR_CLEANUP(done), c;\n"
                   "\tint d MR_CLEANUP(close) = -1;\n\tint e MR_CLEANUP(close);\n}\n",
    "src/data/d_sql.c": '/*\n * data/d_sql.c - It says what\n * it is for.\n */\nconst char *s = "UPDATE t SET a = 1";\n',
    "src/team/m_sql.c": 'const char *s = "DELETE FROM t WHERE a IN ids(?1) OR CAST(?2 AS TEXT) IS NULL";\n'
                        'const char *t = "SELECT 1 FROM t WHERE ?1 IS NULL OR a LIKE ?2";\n'
                        "/* mr_db_sqlite */ const void *d = &mr_db_sqlite;\n"
                        'static const char SQL_A[] = "SELECT a FROM t LIMIT ?1", x, SQL_B[] = "SELECT b FROM t";\n'
                        'static const char *const sql_c[] = {\n[X] = "SELECT c" MR_ROWS_ALL, [Y] = "SELECT d" };\n'
                        "int e = mr_rows_list(cx, db, SQL_A, NULL) + mr_rows_append(cx, db, x ? SQL_A : SQL_D, v);\n"
                        "int f = mr_rows_list(cx, db, sql_c[k], MR_BIND(x, y)) + mr_rows_each(cx, db, SQL_B, v);\n",
    # x and y include each other, through y's own part; z only looks at them, and w is x's own.
    "src/team/x.h": "/* team/x.h - fine. */\n#pragma once\n",
    "src/team/x_private.h": '/* team/x_private.h - fine. */\n#pragma once\n#include "team/x.h"\n#include "team/y.h"\n',
    "src/team/x_w.h": '/* team/x_w.h - fine. */\n#pragma once\n#include "team/x_private.h"\n#include "team/z.h"\n',
    "src/team/y.h": "/* team/y.h - fine. */\n#pragma once\n",
    "src/team/y_sql.h": '/* team/y_sql.h - fine. */\n#pragma once\n#include "team/y.h"\n#include "team/x.h"\n',
    "src/team/z.h": '/* team/z.h - fine. */\n#pragma once\n#include "base/a.h"\n',
    "src/nowhere/misc.c": "",
    "src/op/o.c": '#include "data/db.h"\n#include "team/m_sql.h"\n#include "team/m.h"\n'
                  "/* struct mr_db */ struct mr_dbx *x;\nstruct mr_db *db;\nint y = mr_team_read (1);\n"
                  "/* mr_team_home_open */ int z = mr_team_home_open(call, &team);\n",
    "src/surface/s.c": '#include "op/o.h"\n#include "team/m.h"\n/* #include "team/m.h" */\n',
    "tests/unit/team/t.c": '#include "data/db.h"\n/* mr_db_run() */ struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;\n'
                           'int x = mr_stmt_step (y) + ask("SELECT 1 FROM t WHERE a ILIKE \'x\'");\n'
                           'const char *s = "PRAGMA x", *t = "SELECT group_concat(a) FROM t";\n',
    "tests/unit/data/t.c": '#include "data/db.h"\nint x = mr_stmt_step(y);\n',
    "tests/blackbox/t.py": "import database\nimport sqlite3\n",
    "docs/note": "see /ho" "me/someone/x and ~/wo" "rk/ and a/ro" "ot/x\n",
}
BAD_TREE_FINDS = {
    "includes_go_down": ["src/base/a.c:2:", "src/net/n.c:1:", "src/net/n.c:2:", "src/nowhere/misc.c:"],
    "no_cycle_between_modules": ["team/x, team/y include each other"],
    "foreign_headers_have_one_home": ["<yaml.h>: src/base/a.c, src/text/a.c"],
    "no_file_without_a_topic": ["src/nowhere/misc.c"],
    "no_banned_calls": ["src/base/a.c:7: strcpy (", "src/base/a.c:7: exit(", "src/base/a.c:8: stdout"],
    "no_line_comments": ["src/text/a.c:3: // note"],
    "what_is_cleaned_up_begins_with_a_value": ["src/net/n.c:5: b MR_CLEANUP(done),",
                                               "src/net/n.c:7: e MR_CLEANUP(close);"],
    "sql_stays_in_its_files": ["src/text/a.c:4: \"SELECT", "src/text/a.c:5: \"INSERT OR IGNORE INTO",
                               "src/text/a.c:6: \"UPDATE t SET"],
    "the_contract_opens_the_part": ["src/op/o.c:7: mr_team_home_open"],
    "only_data_names_an_engine": ["src/team/m_sql.c:3: mr_db_sqlite"],
    "sql_suits_every_engine": ["src/team/m_sql.c:2: ?1 IS NULL", "src/team/m_sql.c:2: LIKE"],
    "tests_ask_through_one_module": ['tests/unit/team/t.c:1: "data/db.h"', "tests/unit/team/t.c:2: MR_CLEANUP(mr_db_closep",
                                     "tests/unit/team/t.c:3: mr_stmt_step (", "tests/unit/team/t.c:4: PRAGMA",
                                     "tests/unit/team/t.c:4: group_concat", "tests/blackbox/t.py:2: import sqlite3"],
    "lists_have_a_limit": ["src/team/m_sql.c:7: SQL_D", "src/team/m_sql.c:8: sql_c"],
    "parts_answer_questions": ['src/op/o.c:1: "data/db.h"', 'src/op/o.c:2: "team/m_sql.h"',
                               "src/op/o.c:5: struct mr_db", "src/op/o.c:6: mr_team_read ("],
    "no_part_in_surface": ['src/surface/s.c:2: "team/m.h"'],
    "every_module_is_built": ["src/data/d_sql.c:", "src/net/n.c:", "src/nowhere/misc.c:", "src/op/o.c:",
                              "src/surface/s.c:", "src/team/m_sql.c:", "src/text/a.c:"],
    "the_map_is_complete": ["src/data/d_sql.c:", "src/net/n.c:", "src/nowhere/misc.c:", "src/op/o.c:",
                            "src/surface/s.c:", "src/team/m_sql.c:", "src/text/a.c:",
                            "src/base/gone.c: in the map"],
    "every_module_is_tested": ["src/base/a.c: no tests/unit/base/test_a.c"]
                              + [f"{path}: excepted" for path in TESTED_BY],
    "headers_say_who_they_are": ["src/text/up.h: does not", "src/text/up.h: no #pragma"],
    "modules_say_what_they_are_for": ["src/base/a.c:", "src/net/n.c:", "src/nowhere/misc.c:", "src/op/o.c:",
                                      "src/surface/s.c:", "src/team/m_sql.c:", "src/text/a.c:"],
    "names_are_unique": ["src/base/a.c, src/text/a.c"],
    "nothing_of_one_machine": ["docs/note:1: /ho" "me/someone/x"],
}


def rules_find_what_is_wrong():
    with tempfile.TemporaryDirectory() as root:
        for path, text in BAD_TREE.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        tree = Tree(root)
        for rule in RULES:
            found, want = list(rule(tree)), BAD_TREE_FINDS[rule.__name__]
            assert len(found) == len(want) and all(map(str.startswith, found, want)), \
                f"{rule.__name__}: {found}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tree = Tree(sys.argv[1])
    with Tap() as tap:
        for rule in RULES:
            found = list(rule(tree))
            tap.ok(not found, rule.__name__.replace("_", " "), "\n".join(found))
        tap.run("rules find what is wrong", rules_find_what_is_wrong)
        for path in tree.src + tree.below("tests/", ".c", ".py"):
            lines = tree.text(path).count("\n")
            if lines > LONG:
                print(f"# {path} has {lines} lines: split by topic past {LONG}?")


main()
