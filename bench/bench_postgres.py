#!/usr/bin/env python3
"""bench_postgres.py PROGRAM - a team on a PostgreSQL server, which is started for it and syncs to the disk.

Sending, reading and waking are bench_postgres.c's. Here: how many connections a server of Mailroom has while ever more clients wait at it, and
what an agent costs on the disk. With BENCH_SMALL in the environment the large inbox has 100,000 messages and not 1,000,000. BENCH_AGENTS names
how many agents are simulated: "1000,10000,100000".
"""

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # nothing is left in the checkout
GIVEN = dict(os.environ)  # the tests' support takes away what happens to be on a machine
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "support"))
from postgres_server import HAS_POSTGRES, Postgres  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
BENCH = os.path.join(os.path.dirname(PROGRAM), "..", "bench", "bench_postgres")
PARTS = [part for part in ("send", "wake", "inbox", "connections", "cost") if part in (sys.argv[2:] or [part])]
FEW, MANY = 10, 200
POOL = 19  # one that writes, one that listens, one for what one server does for all, sixteen that read


class Server:
    def __init__(self, url, root):
        env = dict(GIVEN, DATABASE_URL=url, STORAGE_ROOT=root, HTTP_PORT="0", HTTP_SOCKET="off", LOG_LEVEL="warning",
            HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED="true")
        self.process = subprocess.Popen([PROGRAM, "serve"], env=env, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().split()[-1].removeprefix("http://")

    def ask(self, tool, **arguments):
        connection = http.client.HTTPConnection(self.address, timeout=120)
        connection.request("POST", f"/api/tools/{tool}", json.dumps({"project_key": "/path/to/bench"} | arguments),
            {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200, text
        connection.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait() == 0


def connections(postgres, url, root):
    """How many the server has while `clients` wait and each has asked once."""
    server = Server(url, root)
    server.ask("ensure_project", human_key="/path/to/bench")
    for name in ("RedRiver", "BlueLake"):
        server.ask("register_agent", name=name, program="bench", model="none")
    counts = []
    for clients in (FEW, MANY):
        threads = [threading.Thread(target=server.ask, args=("wait_for_mail",), kwargs={"agent_name": "BlueLake", "timeout_seconds": 20})
            for _ in range(clients)]
        for thread in threads:
            thread.start()
        most = 0
        for _ in range(20):
            most = max(most, int(postgres.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'mailroom'", "connections")))
            time.sleep(0.05)
        server.ask("send_message", sender_name="RedRiver", to=["BlueLake"], subject="s", body_md="b")
        for thread in threads:
            thread.join()
        server.ask("mark_message_read", agent_name="BlueLake", message_id=len(counts) + 1)
        counts.append(most)
    server.stop()
    print(json.dumps({"what": f"PostgreSQL: connections of a server at which {MANY} clients wait", "value": counts[1], "unit": "",
        "yardstick": f"the pool's limit (with {FEW} clients: {counts[0]})", "yardstick_value": POOL, "ratio": counts[1] / POOL,
        "goal": "at most", "target": 1}), flush=True)


# One agent of many, ten of them in a project: what it has left behind after some days.
MESSAGES, LEASES = 20, 10
TEXTS = 1000  # different ones, of 150 words from 4,000 each
AGENT = f"""
SET maintenance_work_mem = '512MB';
DROP INDEX fts_messages_words;
CREATE TEMPORARY TABLE texts AS SELECT i, string_agg('word' || ((i * 7919 + k * k * 31 + k * i) % 4000), ' ') AS body
    FROM generate_series(0, {TEXTS - 1}) i, generate_series(1, 150) k GROUP BY i;
ALTER TABLE texts ADD COLUMN words TSVECTOR;
UPDATE texts SET words = to_tsvector('simple', 'Review of the migration ' || body);
CREATE INDEX ON texts (i);
INSERT INTO projects (id, slug, human_key, key_fold, tail, created_at)
    SELECT i, 'project-' || i, '/path/to/project-' || i, '/path/to/project-' || i, 'project-' || i, 1 FROM generate_series(1, $N / 10) i;
INSERT INTO agents (id, project_id, name, name_fold, program, model, inception_ts, last_active_ts)
    SELECT i, 1 + (i - 1) / 10, 'GreenCastle' || i, 'greencastle' || i, 'claude-code', 'opus', 1, 1 FROM generate_series(1, $N) i;
INSERT INTO messages (id, uid, project_id, sender_id, thread_id, thread_seq, subject, ack_required, created_ts, body_md)
    SELECT m, 'msg_20261120_' || lpad(to_hex(m), 9, '0'), 1 + (m % $N) / 10, 1 + m % $N, 'TKT-' || m / 10, m % 10, 'Review of the migration',
    (m % 4 = 0)::int, 1767225600000000 + m, t.body FROM generate_series(0, $N * {MESSAGES} - 1) m JOIN texts t ON t.i = m % {TEXTS};
INSERT INTO message_recipients (message_id, agent_id, place, ack_due, read_ts, ack_ts)
    SELECT m, 1 + ((m % $N) / 10) * 10 + (m + 1) % 10, 0, (m % 4 = 0)::int, 1767225600000000 + m, CASE WHEN m % 4 = 0 THEN 1767225600000000 + m END
    FROM generate_series(0, $N * {MESSAGES} - 1) m;
INSERT INTO fts_messages (id, words) SELECT m, t.words FROM generate_series(0, $N * {MESSAGES} - 1) m JOIN texts t ON t.i = m % {TEXTS};
INSERT INTO sent_keys (sender_id, key, message_id, created_ts)
    SELECT 1 + m % $N, 'key-' || m, m, 1767225600000000 + m FROM generate_series(0, $N * {MESSAGES} - 1) m WHERE m % 10 = 0;
INSERT INTO file_reservations (project_id, agent_id, path_pattern, prefix, created_ts, expires_ts, released_ts)
    SELECT 1 + (l % $N) / 10, 1 + l % $N, 'src/part-' || l % 100 || '/**', 'src/part-' || l % 100, 1, 2, 3
    FROM generate_series(0, $N * {LEASES} - 1) l;
INSERT INTO agent_links (a_project_id, a_agent_id, b_project_id, b_agent_id, status, created_ts, updated_ts)
    SELECT 1 + (a - 1) / 10, a, 1 + (a - 1) / 10, 1 + ((a - 1) / 10) * 10 + a % 10, 'approved', 1, 1 FROM generate_series(1, $N) a;
INSERT INTO agent_sessions (agent_id, project_id, session, place, started_ts)
    SELECT a, 1 + (a - 1) / 10, md5(a::text) || md5(a::text), '/path/to/project', 1 FROM generate_series(1, $N) a;
CREATE INDEX fts_messages_words ON fts_messages USING gin (words);
VACUUM ANALYZE;
"""
TABLES = ("SELECT relname || ' ' || pg_total_relation_size(oid) || ' ' || pg_indexes_size(oid) FROM pg_class WHERE relkind = 'r'"
    " AND relnamespace = 'public'::regnamespace ORDER BY pg_total_relation_size(oid) DESC LIMIT 6")


def cost(postgres, url, root):
    """The bytes of an agent, as many as there are: they must not grow with the number."""
    env = dict(GIVEN, STORAGE_ROOT=root)
    sizes = {}
    for count in [int(text) for text in GIVEN.get("BENCH_AGENTS", "1000,10000").split(",")]:
        name = f"cost{count}"
        subprocess.run([PROGRAM, "team", "projects"], env=env | {"DATABASE_URL": postgres.make(name)}, stdout=subprocess.DEVNULL, check=True)
        empty = int(postgres.sql(f"SELECT pg_database_size('{name}')"))
        begun = time.perf_counter()
        postgres.script(AGENT.replace("$N", str(count)), name)
        sizes[count] = (int(postgres.sql(f"SELECT pg_database_size('{name}')")) - empty) / count / 1024
        print(f"bench_postgres: {count} agents in {time.perf_counter() - begun:.0f} s: {postgres.sql(TABLES, name).split(chr(10))}", file=sys.stderr)
    few, many = min(sizes), max(sizes)
    print(json.dumps({"what": f"PostgreSQL: disk of one agent of {many:,}, with {MESSAGES} messages", "value": sizes[many], "unit": "KiB",
        "yardstick": f"of one of {few:,}, KiB", "yardstick_value": sizes[few], "ratio": sizes[many] / sizes[few], "goal": "at most",
        "target": 1.5}), flush=True)


def main():
    if not HAS_POSTGRES:
        print("bench_postgres: there is no PostgreSQL server here (Debian's package postgresql)", file=sys.stderr)
        return 0
    with Postgres(durable=True, where=GIVEN.get("TMPDIR", "/var/tmp")) as postgres, tempfile.TemporaryDirectory() as root:
        for part in PARTS:
            url = postgres.make(part)
            if part in ("connections", "cost"):
                {"connections": connections, "cost": cost}[part](postgres, url, root)
            else:
                subprocess.run([BENCH, part, url, PROGRAM], env=GIVEN, check=True)
    return 0


sys.exit(main())
