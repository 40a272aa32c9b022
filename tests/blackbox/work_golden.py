"""usage: work_golden.py PROGRAM SOURCE - recorded answers of the workspace's reference, asked of Mailroom.

See tests/golden/workspace/README.md. Cases that need a mail server have a Dovecot, each with an account of its own, and an
SMTP server.
"""

import concurrent.futures
import datetime
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mail_server import DOVECOT, PASSWORD, Dovecot  # noqa: E402
from smtp_server import HAS_SMTP, Smtp  # noqa: E402
from tap import Tap  # noqa: E402

TIMEOUT_S = 120
THREADS = 4
NOTHING = object()
NEEDS_SERVER = re.compile(r"\b(use-server|imap-(append|delete|flag|move))\b")
# Where Mailroom does something else on purpose, and the recording does not say so.
OURS = {
    "archive-add-other-category": "the reference leaves a transaction behind that blocks every command",
    "pull-after-restore-other-mailbox": "the reference forgets at the next pull whether a message may be archived",
    "push-sent-folder-missing": "a mail that was sent is kept as soon as it was sent",
    "push-two-drafts-same-second": "items of one second are carried out in the order of their numbers",
    "draft-attach-again": "a file that has changed is attached under another name, not ignored",
}

# Sentences are ours.
PROSE = ("error", "next_steps", "text")
HELP_PROSE = ("about", "help", "long_about", "long_help", "usage")
LINES = re.compile("|".join((r"^---", r"^# ", r"^## \d", r"^### ",
    r"^- (From|To|Message|Time|Workspace status|发件人|收件人|消息|邮件|时间|工作区状态): ", r"^- (Authentication|认证)",
    r"^(Case|事项|Message|From|Subject|To|Cc|Identity|Contact): ", r"^(Warnings|Notes|警告|提示|Attachments|附件):",
    r"^- .* \(`", r"^```", r"^(kind|message_id|message_count|attachment_count|status|case_uid|case_name): ",
    r"^(archive_uid|archive_name|added_rfc3339|generated_rfc3339|Suggested case UIDs): ",
    r"^(message_ids|suggested_case_uids):", r"^  - ", r"^\| `", r"^<!-- afmail", r"^!\[")))

# What Mailroom adds on purpose: in which objects, and the names.
ADDED = (
    (lambda o: "collection_uid" in o and "items" in o, {"thread_count", "attachment_count", "last_message_rfc3339"}),
    (lambda o: o.get("code") == "draft_shown",
        {"send_intent", "reply_to_message_id", "last_validated_rfc3339", "validated_current"}),
    (lambda o: "push_id" in o and "actions" in o and o.get("kind") == "outbound",
        {"to", "cc", "subject", "identity", "attachments", "draft_valid", "draft_error"}),
    (lambda o: "mailbox_name" in o and "observed_rfc3339" in o, {"mailbox_id", "flags"}),
)
ADDED_EVENTS = re.compile(r"^(pull_completed|case_moved|messages_purged|draft_created|draft_attached|messages_imported|"
    r"contact_(email|phone)_(added|removed)|contact_(un)?tagged|contact_notes_\w+|contact_updated)$")


class Words:
    """Puts placeholders in place of what belongs to the run."""

    def __init__(self, directory, home, day, is_help, account, ports):
        self.paths = sorted(((directory, "<workspace>"), (home, "<home>")), key=lambda pair: -len(pair[0]))
        self.day = day
        self.is_help = is_help
        self.account, self.ports = account, ports
        self.pushes = {}

    def number(self, texts):
        """The push ids of the run by their time, and among those of a second by their number."""
        ids = set(re.findall(r"(?:push|message_sent)_(" + self.day.strftime("%Y%m%d") + r"T\d{6}Z(?:_\d{1,3})?)(?!\d)", "\n".join(texts)))
        ordered = sorted(ids, key=lambda name: (name.split("_")[0], int((name.split("_") + ["0"])[1])))
        self.pushes = {name: number for number, name in enumerate(ordered, 1)}

    def text(self, text):
        solid = self.day.strftime("%Y%m%d")
        dashed = self.day.strftime("%Y-%m-%d")
        for path, name in self.paths:
            text = text.replace(path, name)
        text = re.sub(dashed + r"T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", "<time>", text)
        text = re.sub(dashed + r" \d\d:\d\d(?!:?\d)", "<time>", text)
        text = re.sub(r"(push|message_sent)_(" + solid + r"T\d{6}Z(?:_\d{1,3})?)(?!\d)",
            lambda found: f"{found[1]}_<{self.pushes.get(found[2], '?')}>", text)
        text = re.sub(r"event_" + solid + r"T\d{6}Z_\w+", "event_<id>", text)
        text = re.sub(solid + r"T\d{6}Z", "<time>", text)
        text = re.sub(r"\b([cap])" + solid + r"(\d{3})(?!\d)", r"\1<today>\2", text)
        text = re.sub(r"_(inbox|sent|junk|trash|archive)_\d{9,10}_(\d+)", r"_\1_<uidvalidity>_\2", text)
        text = re.sub(r"uid_validity(\\*\":)\d+", r"uid_validity\1<uidvalidity>", text)
        text = re.sub(rf"\b{self.account}\b", "<user>", text)
        text = re.sub(r"sha256:[0-9a-f]{64}", "sha256:<hash>", text)
        for port, name in self.ports:
            text = re.sub(rf"(?<![0-9a-f]){port}(?![0-9a-f])", name, text)
        return text

    def value(self, value):
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, str):
            return self.text(value)
        if not isinstance(value, dict):
            return value
        return {self.text(key): self.member(key, item) for key, item in value.items() if not self.is_prose(key, item)}

    def is_prose(self, key, item):
        return key in PROSE or key == "message" and isinstance(item, str) or \
            key == "hint" and not str(item).startswith("try: afmail") or \
            self.is_help and key in HELP_PROSE and (item is None or isinstance(item, str))

    def member(self, key, item):
        if key == "argv" and isinstance(item, list):
            item = ["afmail", *item[1:]]
        if key in ("duration_ms", "elapsed_ms") and isinstance(item, int):
            return "<ms>"
        if key == "timestamp_epoch_ms" and isinstance(item, int):
            return "<epoch_ms>"
        if key == "uid_validity" and isinstance(item, int):
            return "<uidvalidity>"
        if key == "port" and item in [port for port, _ in self.ports]:
            return "<port>"
        if key == "last_error" and item:
            return "<prose>"
        if key == "version" and isinstance(item, str):
            return "0.3.0"
        return self.value(item)


def is_empty(value):
    return value is None or not isinstance(value, bool) and value in ("", [], {}, 0)


def compare(where, want, got, found):
    """Collect in `found` where `got` differs; an optional member may be there empty, or not at all."""
    if isinstance(want, dict) and isinstance(got, dict):
        if want.get("kind") == "case_created":
            got = {**got, "targets": [target for target in got["targets"] if target["kind"] != "message"]}
        may = set().union(*(names for applies, names in ADDED if applies(want)))
        if isinstance(want.get("events"), list) and isinstance(got.get("events"), list):
            events = [event for event in got["events"] if not is_added_event(want["events"], event)]
            got = {**got, "events": events, "count": got["count"] - len(got["events"]) + len(events)}
        for key in sorted({*want, *got}):
            left, right = want.get(key, NOTHING), got.get(key, NOTHING)
            if right is NOTHING:
                if not is_empty(left):
                    found.append(f"{where}.{key} is missing: {left!r}")
            elif left is NOTHING:
                if not is_empty(right) and key not in may and key != "hint":
                    found.append(f"{where}.{key} is not in the contract: {right!r}")
            elif key == "last_message_rfc3339" and key in may:
                continue  # the reference does not keep it up to date
            else:
                compare(f"{where}.{key}", left, right, found)
    elif isinstance(want, list) and isinstance(got, list):
        got = [item for item in got if not is_added_event(want, item)]
        if len(want) != len(got):
            found.append(f"{where} has {len(got)} items, not {len(want)}: {got!r}")
        for number, (left, right) in enumerate(zip(want, got)):
            compare(f"{where}[{number}]", left, right, found)
    elif isinstance(want, bool) != isinstance(got, bool) or want != got:
        found.append(f"{where} is {got!r}, not {want!r}")


def is_added_event(want, item):
    return isinstance(item, dict) and item.get("code") == "afmail_event" and ADDED_EVENTS.match(item.get("kind", "")) and \
        item["kind"] not in [event.get("kind") for event in want if isinstance(event, dict)]


def unquoted(line):
    found = re.match(r"^([a-z_0-9]+: )([\"'])(.*)\2$", line)
    return found[1] + found[3] if found else line


def split_front(text):
    """The lines of the front matter, unquoted and sorted, and the rest."""
    found = re.match(r"---\n(.*?\n)---(?:\n|$)", text, re.S)
    if not found:
        return [], text
    # An empty list may be written or left out, inline or not.
    lines = [unquoted(line).replace("- '", "- ").replace('- "', "- ").rstrip("'\"") for line in found[1].split("\n")]
    return sorted(line.strip() for line in lines if line and not re.search(r": (\[\]|null)$", line)), text[found.end():]


def compare_text(where, want, got, found):
    left, right = split_front(want), split_front(got)
    if left[0] != right[0]:
        found.append(f"{where}: front matter {right[0]!r}, not {left[0]!r}")
    pattern = ".+?".join(map(re.escape, re.split(r"<(?:new|reply) scaffold>", left[1].strip("\n"))))
    if not re.fullmatch(pattern, right[1].strip("\n"), re.S):
        found.append(f"{where}: {right[1]!r}, not {left[1]!r}")


def compare_output(want, out, words, found):
    try:
        got = [json.loads(line) for line in out.split("\n") if line.strip()]
    except ValueError:
        got = None
    if isinstance(want, str):
        timed = [re.sub(r'(duration(?:_ms)?(?:=|: ?)"?)[\d.]+ ?(?:m?s)?', r"\1<ms>", words.text(t)) for t in (want, out)]
        if timed[0] != timed[1]:
            found.append(f"stdout is {timed[1]!r}, not {timed[0]!r}")
    elif got is None:
        found.append(f"stdout is no JSON: {out!r}")
    else:
        compare("stdout", words.value(want), words.value(got if isinstance(want, list) else got[0]), found)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def all_files(directory):
    found = []
    for folder, _, names in os.walk(directory):
        found += [os.path.relpath(os.path.join(folder, name), directory) for name in names]
    return sorted(name for name in found if not name.startswith(".afmail/index.sqlite"))


def compare_files(case, directory, words, found):
    names = {words.text(name): os.path.join(directory, name) for name in all_files(directory)}
    for name in sorted({*case["files"]} ^ {*names}):
        found.append(f"{name} is {'not there' if name in case['files'] else 'not in the contract'}")
    for name, want in case.get("documents", {}).items():
        if name in names:
            text = read(names[name])
            got = [json.loads(line) for line in text.splitlines()] if name.endswith(".jsonl") else json.loads(text)
            compare(name, words.value(want), words.value(got), found)
    for name, want in case.get("texts", {}).items():
        if name in names:
            compare_text(name, want, words.text(read(names[name])), found)
    for name, want in case.get("view_lines", {}).items():
        if name in names:
            got = [unquoted(words.text(line)) for line in read(names[name]).split("\n") if LINES.match(line)]
            compare(name, [unquoted(line) for line in want], got, found)


IMAP = """#!/bin/sh
exec {python} -I - "$@" <<'END'
import imaplib, os, sys
what, mailbox, *rest = {what!r}, *sys.argv[1:]
client = imaplib.IMAP4("127.0.0.1", {port}, timeout=60)
client.login(os.environ["IMAP_USER"], {password!r})
def must(answer):
    if answer[0] != "OK":
        sys.exit(str(answer))
if what == "append":
    with open(os.path.join(os.environ["MAILS"], rest[0]), "rb") as mail:
        must(client.append(f'"{{mailbox}}"', f"({{rest[1]}})" if len(rest) > 1 else None, None, mail.read()))
else:
    must(client.select(f'"{{mailbox}}"'))
    if what == "delete":
        must(client.uid("STORE", rest[0], "+FLAGS", "(\\\\Deleted)"))
        must(client.expunge())
    elif what == "flag":
        must(client.uid("STORE", rest[0], "+FLAGS", f"({{rest[1]}})"))
    else:
        must(client.uid("MOVE", rest[0], f'"{{rest[1]}}"'))
client.logout()
END
"""
# The same as eight times `afmail config set`, which has its own cases, at once.
USE_SERVER = """#!/bin/sh
exec {python} -I - <<'END'
import json, os
with open(".afmail/config.json", encoding="utf-8") as file:
    config = json.load(file)
config["imap"].update(host="127.0.0.1", port={port}, tls=False, username=os.environ["IMAP_USER"], password_secret={password!r})
config["smtp"].update(host="127.0.0.1", port={smtp}, starttls=False)
with open(".afmail/config.json", "w", encoding="utf-8") as file:
    json.dump(config, file, indent=2)
END
"""

def install(programs, program, server):
    """The commands that the cases use."""
    os.symlink(program, os.path.join(programs, "afmail"))
    texts = {f"imap-{what}": IMAP.format(python=sys.executable, what=what, port=server.port, password=PASSWORD)
        for what in ("append", "delete", "flag", "move")} if server else {}
    if server:
        texts["use-server"] = USE_SERVER.format(python=sys.executable, port=server.port, smtp=server.smtp_port, password=PASSWORD)
    for name, text in texts.items():
        with open(os.path.join(programs, name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(os.path.join(programs, name), 0o755)


def replay(case, program, mails, server, account):
    with tempfile.TemporaryDirectory(prefix="mailroom-golden-") as room:
        directory, home, programs = (os.path.join(os.path.realpath(room), name) for name in ("work", "home", "bin"))
        for name in (directory, home, programs):
            os.mkdir(name)
        install(programs, program, server)
        day = datetime.datetime.now(datetime.timezone.utc).date()
        today = day.strftime("%Y%m%d")
        env = {name: value for name, value in os.environ.items() if name.startswith(("ASAN_", "UBSAN_", "LSAN_"))}
        env.update(PATH=f"{programs}:/usr/bin:/bin", HOME=home, MAILS=mails, TODAY=today, TZ="UTC", LANG="C.UTF-8",
            IMAP_USER=account, **case.get("env", {}))
        for command in case["setup"]:
            subprocess.run(["sh", "-c", command], cwd=directory, env=env, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False)
        argv = [word.replace("$TODAY", today) for word in case["argv"]]
        done = subprocess.run([os.path.join(programs, argv[0]), *argv[1:]], cwd=os.path.join(directory, case.get("cwd", ".")),
            env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        found = []
        if done.stderr:
            found.append(f"stderr is {done.stderr!r}")
        if done.returncode != case["exit"]:
            found.append(f"exit status is {done.returncode}, not {case['exit']}")
        words = Words(directory, home, day, isinstance(case["stdout"], dict) and case["stdout"].get("code") == "help", account,
            ((server.port, "<imap_port>"), (server.smtp_port, "<smtp_port>")) if server else ())
        words.number([done.stdout, *all_files(directory)])
        compare_output(case["stdout"], done.stdout, words, found)
        compare_files(case, directory, words, found)
        if datetime.datetime.now(datetime.timezone.utc).date() != day:
            return replay(case, program, mails, server, account + "x")  # midnight came between
        return found


def needs_server(case):
    word = next((word for word in case["argv"][1:] if not word.startswith("-")), "")
    return bool(NEEDS_SERVER.search("\n".join(case["setup"]))) or word in ("pull", "remote")


def reason_to_skip(case, server):
    if case["name"] in OURS:
        return OURS[case["name"]]
    return "dovecot-imapd or python3-aiosmtpd is not installed" if needs_server(case) and not server else None


def run(tap, cases, program, mails, server):
    def one(numbered):
        number, case = numbered
        if reason_to_skip(case, server):
            return []
        return replay(case, program, mails, server, f"account{number}")

    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        for case, found in zip(cases, pool.map(one, enumerate(cases))):
            if reason_to_skip(case, server):
                tap.skip(case["name"], reason_to_skip(case, server))
            else:
                tap.ok(not found, case["name"], "\n".join(found))


def main():
    program, source = (os.path.abspath(path) for path in sys.argv[1:3])
    golden = os.path.join(source, "tests", "golden", "workspace")
    cases = [json.loads(read(path)) for path in sorted(glob.glob(os.path.join(golden, "cases", "*.json")))]
    cases = [case for case in cases if "differs" not in case]
    mails = os.path.join(golden, "mails")
    with Tap() as tap:
        if not DOVECOT or not HAS_SMTP:
            run(tap, cases, program, mails, None)
            return
        accounts = [f"account{number}{again}" for number in range(len(cases)) for again in ("", "x")]
        with Dovecot(accounts) as server, Smtp(auth=None) as smtp:
            smtp.refuse("RCPT", "550 5.1.1 no such user", "nobody@example.net")
            server.smtp_port = smtp.port
            run(tap, cases, program, mails, server)


if __name__ == "__main__":
    main()
