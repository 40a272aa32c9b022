"""usage: team_postgres_tls.py PROGRAM - whom a team trusts on the way to its database, and that nobody learns the password."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from certificates import Certificates  # noqa: E402
from mailroom import Mailroom, Port  # noqa: E402
from postgres_server import HAS_POSTGRES, WHY_NOT, Postgres  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM = sys.argv[1]
# Another host, as far as the program knows, and yet this machine.
HOST = "127.0.0.2"
PASSWORD = "hunter2-%41"
SECRETS = (PASSWORD, "hunter2-A", "hunter2")
TLS = "TLS with the server failed"


class Room(Mailroom):
    def __init__(self, port):
        super().__init__(PROGRAM)
        self.port = port
        self.seen = ""  # all that was said

    def url(self, *options, host=HOST, password=PASSWORD):
        return f"postgresql://ann:{password}@{host}:{self.port}/mail" + ("?" if options else "") + "&".join(options)

    def said(self, *options, env=None, **where):
        """What a command says of this way; "" when it works."""
        done = self.run("team", "projects", env={"DATABASE_URL": self.url(*options, **where)} | (env or {}))
        self.seen += done.stdout + done.stderr
        return done.stderr if done.returncode else ""


def a_certificate_is_checked(m, postgres, own, others):
    authority = f"sslrootcert={own.ca}"
    postgres.listen(HOST, m.port, own.make("here", names=f"IP:{HOST}"))
    # Without a word about TLS: by TLS, and with an authority that everybody knows.
    assert m.said(authority) == ""
    # The machine's authorities did not sign this one; a bare machine has none.
    said = m.said()
    assert TLS in said and ("certificate verify failed" in said or "does not exist" in said) and f"postgresql://ann@{HOST}:{m.port}/mail" in said, said
    assert "name the file of its authority with sslrootcert in the address" in said, said
    assert m.said(env={"PGSSLROOTCERT": own.ca}) == ""
    said = m.said(f"sslrootcert={others.ca}")
    assert TLS in said and "certificate verify failed" in said, said
    # What is said is enough.
    assert m.said("sslmode=require") == "" and m.said("sslmode=disable") == ""
    assert m.said(env={"PGSSLMODE": "require"}) == ""


def one_of_another_name_is_refused(m, postgres, own, others):
    del others
    postgres.listen(HOST, m.port, own.of_another_host())
    said = m.said(f"sslrootcert={own.ca}")
    assert TLS in said and f'does not match host name "{HOST}"' in said, said
    assert m.said(f"sslrootcert={own.ca}", "sslmode=verify-ca") == ""


def one_that_has_ended_is_refused(m, postgres, own, others):
    del others
    postgres.listen(HOST, m.port, own.make("ended", names=f"IP:{HOST}", days=-1))
    said = m.said(f"sslrootcert={own.ca}")
    assert TLS in said and "certificate verify failed" in said, said


def a_server_without_tls_is_refused(m, postgres, own, others):
    del own, others
    postgres.listen(HOST, m.port)
    said = m.said()
    assert TLS in said and "server does not support SSL, but SSL was required" in said, said
    # Whatever way leads to another host is one to another host.
    local = f"postgresql://ann:{PASSWORD}@:{m.port}/mail"
    for env in ({"PGHOST": HOST}, {"PGHOSTADDR": HOST}):
        assert "SSL was required" in m.said(env={"DATABASE_URL": local} | env), env
    assert "SSL was required" in m.said(env={"DATABASE_URL": f"{local}?hostaddr={HOST}"})
    assert m.said("sslmode=disable") == ""


def nobody_learns_the_password(m, postgres, own, others):
    """Commands have said what they said above; a server that cannot reach its database goes on asking, and logs it."""
    del others
    postgres.listen(HOST, m.port, own.make("here", names=f"IP:{HOST}"))
    said = m.said(f"sslrootcert={own.ca}", password="wrong-hunter2")
    assert "the server refuses the user or the password" in said, said
    with m.serve(env={"DATABASE_URL": m.url(f"sslrootcert={own.ca}"), "LOG_LEVEL": "debug"}) as server:
        m.seen += server.get("/health/readiness")[2]
        postgres.stop()
        for path in ("/health/readiness", "/health", "/mail", "/metrics", "/mail/status"):
            m.seen += server.get(path)[2]
        m.seen += server.request("POST", "/api/tools/health_check", {"Content-Type": "application/json"}, "{}")[2]
        server.stop()
        m.seen += server.greeting + server.logged()
    postgres.start()
    for command in (("doctor",), ("config", "show"), ("team", "check"), ("team", "migrate", "--yes", "--to", m.url("sslmode=verify-full"))):
        done = m.run(*command, env={"DATABASE_URL": m.url()})
        m.seen += done.stdout + done.stderr
    done = m.run("team", "migrate", "--yes", "--to", m.url())
    m.seen += done.stdout + done.stderr
    assert "cannot be reached" in m.seen or TLS in m.seen, m.seen
    for secret in SECRETS:
        assert secret not in m.seen.replace("wrong-hunter2", ""), m.seen


TESTS = [a_certificate_is_checked, one_of_another_name_is_refused, one_that_has_ended_is_refused, a_server_without_tls_is_refused,
    nobody_learns_the_password]

with Tap() as tap:
    if not HAS_POSTGRES:
        for test in TESTS:
            tap.skip(test.__name__, WHY_NOT)
    else:
        with Postgres() as server, Certificates() as known, Certificates() as foreign, Port() as free, Room(free) as room:
            server.sql(f"CREATE ROLE ann LOGIN PASSWORD '{SECRETS[1]}'; ")
            server.sql("CREATE DATABASE mail OWNER ann")
            for test in TESTS:
                tap.run(test.__name__, test, room, server, known, foreign)
