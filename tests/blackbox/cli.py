"""usage: cli.py PROGRAM - the command line as a person and as a script meets it."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402


def version(m):
    done = m.run("--version")
    assert done.returncode == 0 and done.stdout.startswith("mailroom 0."), describe(done)


def no_command_is_a_usage_error(m):
    done = m.run()
    assert done.returncode == 2 and not done.stdout and "Usage: mailroom COMMAND" in done.stderr, describe(done)


def every_command_has_help(m):
    """All of it, read from the top: each command's own, in 80 columns, and each group with words of its own."""
    operations = {o["command"]: o["summary"] for o in m.json("operations")["operations"] if o["command"]}
    paths, read = [([], None)], set()
    while paths:
        path, about = paths.pop()
        command = " ".join(path)
        done = m.run(*path, "--help")
        text = done.stdout
        assert done.returncode == 0 and not done.stderr, describe(done)
        for line in text.splitlines():
            # What stands in one piece cannot be broken.
            assert len(line) <= 80 or line.startswith("Usage: ") or " " not in line.strip() or line.endswith("."), (path, line)
        if command in operations:
            assert f"Usage: mailroom {command}" in text and operations[command] in text, describe(done)
            read.add(command)
        commands = text.split("\nCommands\n")[1].split("\n\n")[0] if "\nCommands\n" in text else ""
        if about and text.startswith(f"Usage: mailroom {command} COMMAND"):
            first = commands.split()[0]
            assert not about.startswith(first + ",") and about != first, (path, about)
        words = [line.split(None, 1) for line in commands.splitlines() if line[2] != " "]
        paths += [([*path, word], told) for word, told in words]
        # The other ways to ask for it, once in each group.
        if path and words:
            one = [*path, words[0][0]]
            assert m.run("help", *one).stdout == m.run(*one, "--help").stdout, one
            assert m.run(*path, "-h").stdout == text, path
    assert not operations.keys() - read and len(read) > 80, operations.keys() - read


def tables_fit_the_terminal(m):
    for args in (["config"], ["operations"]):
        lines = m.in_a_terminal(*args, env={"TERM": "dumb", "HTTP_PORT": "9"}).splitlines()
        assert len(lines) > 50 and max(len(line) for line in lines) <= 80, (args, max(lines, key=len))
        # Names are never cut: they are what one goes on with.
        assert not [line for line in lines if "\N{HORIZONTAL ELLIPSIS}" in line.split()[0]], args
    assert "environment HTTP_PORT" in m.run("config", env={"HTTP_PORT": "9"}).stdout


def mistakes_exit_with_2(m):
    for args, text in (
            (["heath"], "mailroom: there is no command 'heath'; did you mean 'health'?\n"),
            (["serve", "--prot", "1"], "mailroom serve: there is no option --prot; did you mean --port?\n"),
            (["serve", "--port", "x"], "mailroom serve: --port must be an integer\n"),
            (["serve", "--port", "99999"], "mailroom serve: --port must be between 0 and 65535\n"),
            (["schema"], "mailroom schema: OPERATION is required; see mailroom schema --help\n"),
            (["completion", "tcsh"], "mailroom completion: SHELL must be one of: bash, zsh, fish\n"),
            (["--set", "http.prot=1", "config"],
                "mailroom config: command line: there is no setting http.prot; did you mean http.port?\n"),
            (["connect", "emacs"], "mailroom connect: CLIENT must be one of: claude-code, codex, gemini, cursor, vscode, "
                "opencode, claude\n"),
            (["team", "inbx"], "mailroom team: there is no command 'inbx'; did you mean 'inbox'?\n"),
            (["health", "liveness", "now"],
                "mailroom health liveness: 'now' is one argument too many; see mailroom health liveness --help\n"),
            (["help", "zebra"], "mailroom help: there is no command 'zebra'; see mailroom help\n")):
        done = m.run(*args)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", text), describe(done)


def failures_exit_with_1(m):
    done = m.run("schema", "helth")
    assert done.returncode == 1, describe(done)
    assert done.stderr == "mailroom schema: there is no operation helth; did you mean health?\n", describe(done)


def errors_are_json_when_asked(m):
    got = m.json("schema", "helth", status=1)
    assert got == {"detail": "there is no operation helth; did you mean health?", "code": "not_found",
        "retryable": False}, got
    got = m.json("serve", "--port", "x", status=2)
    assert got["code"] == "invalid" and got["issues"] == [
        {"path": "$.port", "message": "must be an integer, not string"}], got
    assert m.json("heath", status=2)["code"] == "invalid"


def a_result_is_one_json_object(m):
    done = m.run("config", "--json")
    assert done.stdout.count("\n") == 1 and isinstance(json.loads(done.stdout), dict), describe(done)


def people_get_aligned_text(m):
    lines = m.run("health").stdout.splitlines()
    assert lines == ["protocol version  v1", "status            ok"], lines


def colour_is_for_terminals(m):
    assert "\033[" in m.in_a_terminal("health", env={"TERM": "xterm"})
    assert "\033[" not in m.in_a_terminal("health", env={"TERM": "xterm", "NO_COLOR": "1"})
    assert "\033[" not in m.in_a_terminal("health", env={"TERM": "dumb"})
    assert "\033[" not in m.run("health", env={"TERM": "xterm"}).stdout


def setting(m, key, *args, **options):
    rows = m.json("config", *args, **options)["settings"]
    return next((row["value"], row["source"]) for row in rows if row["key"] == key)


def settings_come_in_order(m):
    assert setting(m, "ack.ttl_seconds") == ("1800", "default")
    m.write("mailroom.yaml", "ack:\n  ttl_seconds: 1001\n")
    assert setting(m, "ack.ttl_seconds") == ("1001", "mailroom.yaml")
    m.write(".env", "ACK_TTL_SECONDS=1002\n")
    assert setting(m, "ack.ttl_seconds") == ("1002", ".env line 1")
    env = {"ACK_TTL_SECONDS": "1003"}
    assert setting(m, "ack.ttl_seconds", env=env) == ("1003", "environment ACK_TTL_SECONDS")
    assert setting(m, "ack.ttl_seconds", "--set", "ack.ttl_seconds=1004", env=env) == ("1004", "command line")
    m.remove(".env")
    m.write("mailroom.yaml", "http:\n  prot: 1001\n")
    done = m.run("config")
    assert done.returncode == 2, describe(done)
    assert "mailroom.yaml: there is no setting http.prot; did you mean http.port?" in done.stderr, describe(done)
    m.write("mailroom.yaml", "http: [\n")
    done = m.run("config")
    assert done.returncode == 1 and "mailroom.yaml: " in done.stderr and "line " in done.stderr, describe(done)
    m.remove("mailroom.yaml")
    m.write("other.yaml", "log.level: debug\n")
    assert setting(m, "log.level", "--config", "other.yaml") == ("debug", "other.yaml")
    done = m.run("config", "--config", "absent.yaml")
    assert done.returncode == 1 and "absent.yaml" in done.stderr, describe(done)


# The variables of the MCP agent-mail servers with their defaults, and those that have no meaning here.
PEERS = """APP_ENVIRONMENT=development HTTP_HOST=127.0.0.1 HTTP_PORT=8765 HTTP_PATH=/mcp/ HTTP_BEARER_TOKEN=
    HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED=true HTTP_JWT_ENABLED=false HTTP_JWT_ALGORITHMS=HS256 HTTP_JWT_SECRET= HTTP_JWT_JWKS_URL=
    HTTP_JWT_AUDIENCE= HTTP_JWT_ISSUER= HTTP_JWT_ROLE_CLAIM=role HTTP_RBAC_ENABLED=true HTTP_RBAC_READER_ROLES=reader,read,ro
    HTTP_RBAC_WRITER_ROLES=writer,write,tools,rw HTTP_RBAC_DEFAULT_ROLE=reader
    HTTP_RBAC_READONLY_TOOLS=health_check,fetch_inbox,whois,search_messages,summarize_thread,summarize_threads
    HTTP_RATE_LIMIT_ENABLED=false HTTP_RATE_LIMIT_BACKEND=memory HTTP_RATE_LIMIT_PER_MINUTE=60 HTTP_RATE_LIMIT_TOOLS_PER_MINUTE=60
    HTTP_RATE_LIMIT_TOOLS_BURST=0 HTTP_RATE_LIMIT_RESOURCES_PER_MINUTE=120 HTTP_RATE_LIMIT_RESOURCES_BURST=0
    HTTP_REQUEST_LOG_ENABLED=false OTEL_EXPORTER_OTLP_ENDPOINT= HTTP_CORS_ENABLED=false HTTP_CORS_ORIGINS=
    HTTP_CORS_ALLOW_CREDENTIALS=false HTTP_CORS_ALLOW_METHODS=* HTTP_CORS_ALLOW_HEADERS=*
    STORAGE_ROOT=~/.mcp_agent_mail_git_mailbox_repo GIT_AUTHOR_NAME=mcp-agent GIT_AUTHOR_EMAIL=mcp-agent@example.com
    INLINE_IMAGE_MAX_BYTES=65536 CONVERT_IMAGES=true KEEP_ORIGINAL_IMAGES=false FILE_RESERVATIONS_CLEANUP_ENABLED=false
    FILE_RESERVATIONS_CLEANUP_INTERVAL_SECONDS=60 FILE_RESERVATION_INACTIVITY_SECONDS=1800
    FILE_RESERVATION_ACTIVITY_GRACE_SECONDS=900 FILE_RESERVATIONS_ENFORCEMENT_ENABLED=true ACK_TTL_ENABLED=false
    ACK_TTL_SECONDS=1800 ACK_TTL_SCAN_INTERVAL_SECONDS=60 ACK_ESCALATION_ENABLED=false ACK_ESCALATION_MODE=log
    ACK_ESCALATION_CLAIM_TTL_SECONDS=3600 ACK_ESCALATION_CLAIM_EXCLUSIVE=false ACK_ESCALATION_CLAIM_HOLDER_NAME=
    AGENT_NAME_ENFORCEMENT_MODE=coerce MESSAGING_AUTO_REGISTER_RECIPIENTS=true MCP_TOOLS_MODE=standard LOG_LEVEL=info
    QUOTA_ENABLED=false QUOTA_ATTACHMENTS_LIMIT_BYTES=0 QUOTA_INBOX_LIMIT_COUNT=0 PROJECT_IDENTITY_MODE=repository
    PROJECT_IDENTITY_REMOTE=origin HTTP_TRUSTED_PROXIES= HTTP_ALLOWED_HOSTS= HTTP_ALLOWED_ORIGINS= HTTP_BEARER_ROLE=writer
    HTTP_MAX_BODY_BYTES=4194304 CONTACT_ENFORCEMENT_ENABLED=true CONTACT_REQUEST_TTL_SECONDS=604800
    CONTACT_APPROVAL_TTL_SECONDS=2592000 AGENT_NAME_VALIDATION=pool""".split()
FOREIGN = """DATABASE_ECHO HTTP_OTEL_ENABLED HTTP_RATE_LIMIT_REDIS_URL LLM_CACHE_BACKEND LLM_CACHE_ENABLED LLM_CACHE_REDIS_URL
    LLM_COST_LOGGING_ENABLED LLM_ENABLED LLM_MAX_TOKENS LLM_TEMPERATURE LOG_FORMAT LOG_INCLUDE_TRACE LOG_JSON_ENABLED
    LOG_RICH_ENABLED TOOLS_LOG_ENABLED TOOL_METRICS_EMIT_ENABLED TOOL_METRICS_EMIT_INTERVAL_SECONDS RETENTION_REPORT_ENABLED
    RETENTION_REPORT_INTERVAL_SECONDS RETENTION_MAX_AGE_DAYS RETENTION_IGNORE_PROJECT_PATTERNS WORKTREES_ENABLED
    GIT_IDENTITY_ENABLED HTTP_AUTH_MODE HTTP_JWKS_URL RATE_LIMIT_RPS RATE_LIMIT_BURST MAX_REQUEST_SIZE_MB PORT HOST RBAC_ENABLED
    OPENAI_API_KEY GOOGLE_API_KEY GEMINI_API_KEY ANTHROPIC_API_KEY GROQ_API_KEY DEEPSEEK_API_KEY XAI_API_KEY GROK_API_KEY
    OPENROUTER_API_KEY""".split()


def settings_of_the_peers_are_known(m):
    bare = {"STORAGE_ROOT": None, "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": None}
    rows = {row["environment"]: row for row in m.json("config", env=bare)["settings"]}
    for name, default in (entry.split("=", 1) for entry in PEERS):
        value = rows[name]["value"].replace(m.dir, "~").replace(", ", ",")
        assert value == default and rows[name]["source"] == "default", (name, rows[name])
    # A file of theirs, with every variable they have, goes on working.
    m.write(".env", "\n".join([*PEERS, *(f"{name}=x" for name in FOREIGN)]) + "\n")
    after = {row["environment"]: row for row in m.json("config", env=bare)["settings"]}
    for name, row in rows.items():
        assert name == "STORAGE_ROOT" or after[name]["value"] == row["value"], (row, after[name])
    for name, words in (("true", "1 true t yes y TRUE Yes"), ("false", "0 false f no n FALSE No")):
        for word in words.split():
            assert setting(m, "rate_limit.enabled", env={"HTTP_RATE_LIMIT_ENABLED": word})[0] == name, word
    assert setting(m, "cors.origins", env={"HTTP_CORS_ORIGINS": " http://a , ,http://b"})[0] == "http://a, http://b"
    for name, value, why in (("HTTP_RBAC_ENABLED", "perhaps", "must be true or false"), ("HTTP_PORT", "x", "must be a number"),
            ("ACK_ESCALATION_MODE", "shout", "must be one of")):
        detail = m.json("config", env={name: value}, status=2)["detail"]
        assert name in detail and why in detail, detail


def secrets_are_never_shown(m):
    env = {"HTTP_BEARER_TOKEN": "hunter2"}
    for args in (["config"], ["--json", "config"]):
        done = m.run(*args, env=env)
        assert "********" in done.stdout and "hunter2" not in done.stdout, describe(done)


def storage_that_cannot_be_used_is_reported(m):
    m.write("file", "")
    done = m.run("health", "readiness", env={"STORAGE_ROOT": os.path.join(m.dir, "file", "data")})
    assert done.returncode == 1 and "not ready: storage.root" in done.stderr and "file" in done.stderr, describe(done)


def output_that_cannot_be_written_is_a_failure(m):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([m.program, "config"], cwd=m.dir, env=m.env(), stdout=full, stderr=subprocess.PIPE,
            timeout=60, check=False)
    assert done.returncode == 1, done


def bash_completes(m):
    script = m.run("completion", "bash").stdout + """
        try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _mailroom; echo "${COMPREPLY[*]}"; }
        try mailroom he
        try mailroom health l
        try mailroom completion z
        try mailroom serve --po
        try mailroom --json health readiness --js
    """
    done = subprocess.run(["bash", "-eu", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines() == ["health help", "liveness", "zsh", "--port", "--json"], describe(done)


def fish_completes(m):
    script = m.run("completion", "fish").stdout + """
        complete -C 'mailroom health l' | string replace -r '\\t.*' ''
        complete -C 'mailroom serve --po' | string replace -r '\\t.*' ''
    """
    m.write("complete.fish", script)  # too long for the command line
    done = subprocess.run(["fish", "--no-config", "complete.fish"], capture_output=True, text=True, timeout=60,
        check=False, env=m.env(), cwd=m.dir)
    assert done.stdout.splitlines() == ["liveness", "--port"], describe(done)


def zsh_completes(m):
    """zsh only completes on a terminal: replace the function that would show the candidates."""
    script = "compdef() { : }\n" + m.run("completion", "zsh").stdout + """
        _describe() { print -r -- ${candidates%%:*} }
        words=(mailroom health l) CURRENT=3; _mailroom
    """
    m.write("complete.zsh", script)
    done = subprocess.run(["zsh", "-f", "-e", "complete.zsh"], capture_output=True, text=True, timeout=60, check=False,
        cwd=m.dir)
    assert done.stdout.split()[:2] == ["liveness", "readiness"], describe(done)


with Tap() as tap:
    for case in (version, no_command_is_a_usage_error, every_command_has_help, mistakes_exit_with_2,
            failures_exit_with_1, errors_are_json_when_asked, a_result_is_one_json_object, people_get_aligned_text,
            colour_is_for_terminals, tables_fit_the_terminal, settings_come_in_order,
            settings_of_the_peers_are_known, secrets_are_never_shown,
            storage_that_cannot_be_used_is_reported, output_that_cannot_be_written_is_a_failure, bash_completes,
            fish_completes, zsh_completes):
        with Mailroom(sys.argv[1]) as room:
            tap.run(case.__name__, case, room)
