"""The databases of a test: looking into them, and changing them behind the program's back.

Only this module opens a database, so that tests need no change for another engine. Tests that damage a file of SQLite's on
purpose, or lock or copy one as a whole, open it themselves: tests/gate/house.py lists them.
"""

import contextlib
import os
import sqlite3
import urllib.parse

TIMEOUT_S = 120

# What a statement that breaks a constraint raises.
Refused = sqlite3.IntegrityError


def team_database(root):
    return os.path.join(root, "storage.sqlite3")


@contextlib.contextmanager
def opened(path):
    """A connection to a database that is there: what is done with it is one change, and kept unless there is an error."""
    uri = f"file:{urllib.parse.quote(os.path.abspath(path))}?mode=rw"
    with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=TIMEOUT_S)) as db, db:
        yield db


def copy(path, to):
    """All of it, with its log, as a new file."""
    with opened(path) as db, contextlib.closing(sqlite3.connect(to)) as other:
        db.backup(other)


def rows(path, sql, *values):
    """The rows of one statement; what it changes is kept."""
    with opened(path) as db:
        return db.execute(sql, values).fetchall()


def value(path, sql, *values):
    """The first column of the first row."""
    return rows(path, sql, *values)[0][0]


def table_names(path):
    """Its tables, without those that the engine keeps for itself."""
    with opened(path) as db:
        return [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            if not name.startswith(("fts_", "sqlite_"))]


def damage(db):
    """What a quick look at the structure of the file finds wrong."""
    return [line for (line,) in db.execute("PRAGMA quick_check") if line != "ok"]


def check(path):
    """The file is whole, every reference leads somewhere, and a full-text index has every word of its table and no other."""
    with opened(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'fts_messages'").fetchall():
            db.execute("INSERT INTO fts_messages(fts_messages, rank) VALUES ('integrity-check', 1)")
            db.rollback()


def contents(path, tables=None):
    """{table: its rows in order} of a database that is sound."""
    check(path)
    with opened(path) as db:
        return {name: sorted(db.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in tables or table_names(path)}


def found(path, word):
    """The ids of messages that the full-text index finds."""
    return [ident for (ident,) in
        rows(path, "SELECT rowid FROM fts_messages WHERE fts_messages MATCH ? ORDER BY rowid", f'"{word}"')]


def index_message(db, ident, subject, body):
    """Add a message, which was inserted on this connection, to the full-text index."""
    db.execute("INSERT INTO fts_messages (rowid, subject, body_md) VALUES (?, ?, ?)", (ident, subject, body))
