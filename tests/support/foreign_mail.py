"""Mail that another program delivers: documents, links and rows, as the Houmao runtime writes them, without mailroom."""

import contextlib
import datetime
import os
import secrets
import time

import database

LOCK_S = 60  # the runtime gives up after 5: a busy machine may take longer
LOCAL = ("message_state", "thread_summaries")
INDEX = ("messages", "message_recipients", "mailbox_projections", "mailbox_state", "thread_summaries")


class ForeignMail:
    """Delivers copies of a message that is there already, each under an id and with commits of its own."""

    def __init__(self, root, model, names, journal="DELETE"):
        """`model` is the id of a message in its present state; `names` have it: its sender in sent, its recipients in their
        inbox."""
        self.root = root
        self.model = model
        self.boxes = [os.path.join(root, "mailboxes", f"{name}@houmao.localhost") for name in names]
        index = os.path.join(root, "index.sqlite")
        self.journal = journal
        self.document = database.value(index, "SELECT canonical_path FROM messages WHERE message_id = ?", model)
        with open(self.document, encoding="utf-8") as file:
            self.text = file.read()
        self.links = [path for box in self.boxes for folder in ("inbox", "sent")
            if os.path.islink(path := os.path.join(box, folder, model + ".md"))]
        assert self.links, self.boxes
        self.rows = [self._rows(index, INDEX), *(self._rows(os.path.join(box, "mailbox.sqlite"), LOCAL) for box in self.boxes)]
        self.serial = 0

    def _rows(self, path, tables):
        found = []
        for table in tables:
            key = "thread_id" if table == "thread_summaries" else "message_id"
            found += [(table, row) for row in database.rows(path, f"SELECT * FROM {table} WHERE {key} = ?", self.model)]
        return path, found

    @contextlib.contextmanager
    def _opened(self, path):
        with database.opened(path) as db:
            db.execute("PRAGMA synchronous = OFF")
            mode, = db.execute(f"PRAGMA journal_mode = {self.journal}").fetchone()
            assert mode == self.journal.lower(), (path, mode)
            yield db

    def _copy(self, db, rows, ident):
        for table, row in rows:
            row = [value.replace(self.model, ident) if isinstance(value, str) else value for value in row]
            db.execute(f"INSERT INTO {table} VALUES({', '.join('?' * len(row))})", row)

    def _store(self):
        self.serial += 1
        ident = f"{self.model[:-8]}{self.serial:08x}"
        document = self.document.replace(self.model, ident)
        with open(document, "x", encoding="utf-8") as file:
            file.write(self.text.replace(self.model, ident))
        for link in self.links:
            os.symlink(document, link.replace(self.model, ident))
        return ident

    def deliver(self):
        """One more message; returns its id."""
        ident = self._store()
        for path, rows in self.rows:
            with self._opened(path) as db:
                self._copy(db, rows, ident)
        return ident

    @contextlib.contextmanager
    def _locks(self):
        """The lock files of the contract: of each address in ascending order, then of the index; let go of in reverse."""
        names = sorted({os.path.basename(box) for box in self.boxes})
        held = []
        try:
            for path in (*(f"locks/addresses/{name}.lock" for name in names), "locks/index.lock"):
                path = os.path.join(self.root, path)
                end = time.monotonic() + LOCK_S
                while True:
                    try:
                        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
                        break
                    except FileExistsError:
                        assert time.monotonic() < end, f"timed out acquiring lock: {path}"
                        time.sleep(0.05)
                now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="microseconds")
                os.write(file, f"pid={os.getpid()} acquired_at_utc={now}\n".encode())
                os.close(file)
                held.append(path)
            yield
        finally:
            for path in reversed(held):
                os.unlink(path)

    def deliver_as_agreed(self):
        """The same with every step of the contract, and none of ours: a staged file, locks, the checks, a rename, links, one
        transaction of the index, then the rows of each mailbox; returns its id."""
        self.serial += 1
        ident = f"{self.model[:-8]}{self.serial:08x}"
        staged = os.path.join(self.root, "staging", f"gateway-{secrets.token_hex(6)}.md")
        with open(staged, "x", encoding="utf-8") as file:
            file.write(self.text.replace(self.model, ident))
        document = self.document.replace(self.model, ident)
        (index, shared), *local = self.rows
        with self._locks():
            assert not os.path.lexists(document), document
            os.makedirs(os.path.dirname(document), exist_ok=True)
            os.rename(staged, document)
            for link in sorted(self.links, key=lambda path: "/sent/" not in path):
                os.symlink(document, link.replace(self.model, ident))
            with database.opened(index) as db:
                db.execute("PRAGMA foreign_keys = ON")
                db.execute("PRAGMA journal_mode = DELETE")
                db.execute("BEGIN IMMEDIATE")
                self._copy(db, shared, ident)
            for path, rows in local:
                with database.opened(path) as db:
                    db.execute("PRAGMA journal_mode = DELETE")
                    self._copy(db, rows, ident)
        return ident

    def storm(self, count):
        """So many at once, each with a commit in its last recipient's mailbox. (seconds that the commits took, the pauses
        between them): a busy machine may stretch them."""
        idents = [self._store() for _ in range(count)]
        for path, rows in self.rows[:-1]:
            with self._opened(path) as db:
                for ident in idents:
                    self._copy(db, rows, ident)
        path, rows = self.rows[-1]
        times = [time.monotonic()]
        with self._opened(path) as db:
            for ident in idents:
                self._copy(db, rows, ident)
                db.commit()
                times.append(time.monotonic())
        return times[-1] - times[0], [later - earlier for earlier, later in zip(times, times[1:])]
