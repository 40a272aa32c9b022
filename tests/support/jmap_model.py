"""A mail server with JMAP, in memory and strict: it refuses what RFC 8620 and 8621 do not allow, and what some servers do not take. Tests
make it lose answers, fill it up, and count what it was asked."""

import base64
import datetime
import json
import re
import threading
import urllib.parse

from jmap_server import Answer, CORE, Events, JmapServer, LIMITS, MAIL, SUBMISSION

PASSWORD = "correct-horse-9f3a1c"
ROLES = (("Inbox", "inbox"), ("Drafts", "drafts"), ("Sent", "sent"), ("Archive", "archive"))
CREATES = {"mailboxIds", "keywords", "receivedAt", "sentAt", "messageId", "inReplyTo", "references", "from", "to", "cc", "replyTo", "subject",
    "bodyValues", "textBody", "attachments"}


class Account:
    def __init__(self, login, address, boxes):
        self.login, self.address, self.password = login, address, PASSWORD
        self.id = "A-" + re.sub(r"\W", "-", login)
        self.boxes = {f"B{i}": {"id": f"B{i}", "name": name, "role": role, "parentId": None} for i, (name, role) in enumerate(boxes)}
        self.emails, self.submissions, self.blobs, self.state = {}, {}, {}, 1
        self.identities = [{"id": "I1", "name": "", "email": address}]

    def box(self, role):
        return next(box["id"] for box in self.boxes.values() if role in (box["role"], box["name"]))

    def in_box(self, role):
        return [email for email in self.emails.values() if self.box(role) in email["mailboxIds"]]


class Refused(Exception):
    def __init__(self, kind, **more):
        super().__init__(kind)
        self.error = {"type": kind, **more}


class JmapModel(JmapServer):
    """`add()` makes an account. `traits`: "empty-keywords" refuses an empty set of keywords, "no-submission-query" has no such method,
    "no-filing" does not know onSuccessUpdateEmail, "drops-headers" keeps only what mail has always had, "full" takes no more mail, "no-roles"
    gives new mailboxes no roles. `before(calls)` may return an Answer in place of ours, `after(calls)` one that is sent although all was done."""

    def __init__(self, *traits, boxes=ROLES, limits=None, **about):
        super().__init__(script=[self.api_request], **about)
        self.traits, self.boxes, self.limits = set(traits), boxes, {**LIMITS, **(limits or {})}
        self.accounts, self.number, self.delivered = {}, 0, []
        self.before = self.after = lambda calls: None
        self.guard = threading.RLock()
        self.events = None

    def push(self):
        """Tell of changes at /events from now on."""
        self.events = self.pages["/events"] = Events()
        return self.events

    def touch(self, account):
        account.state += 1
        if self.events:
            self.events.change(f"e{account.state}", account=account.id, number=account.state)

    def add(self, login, address=None):
        self.accounts[login] = Account(login, address or login, self.boxes)
        return self.accounts[login]

    def is_allowed(self, request):
        return self.account_of(request) is not None

    @staticmethod
    def basic(login, password=PASSWORD):
        return "Basic " + base64.b64encode(f"{login}:{password}".encode()).decode()

    def account_of(self, request):
        kind, _, text = (request.headers.get("Authorization") or "").partition(" ")
        login, _, password = base64.b64decode(text).decode().partition(":") if kind == "Basic" else ("", "", "")
        account = self.accounts.get(login)
        return account if account and account.password == password else None

    def choose(self, request):
        account = self.account_of(request)
        path = request.path.split("?")[0]
        if account and path == "/session" and path not in self.pages:
            self.session = self.session_of(account)
        if account and request.method == "POST" and path.startswith("/upload/"):
            self.requests.append(request)
            return self.upload(account, request)
        return super().choose(request)

    def session_of(self, account):
        can = {CORE: self.limits, MAIL: {}, SUBMISSION: {}}
        return {"capabilities": can, "username": account.login, "apiUrl": "/api", "state": "s1",
            "accounts": {account.id: {"name": account.login, "isPersonal": True, "isReadOnly": False, "accountCapabilities": can}},
            "primaryAccounts": {name: account.id for name in can}, "uploadUrl": "/upload/{accountId}/",
            "downloadUrl": "/download/{accountId}/{blobId}/{name}?type={type}",
            "eventSourceUrl": "/events?types={types}&closeafter={closeafter}&ping={ping}"}

    def next(self, letter):
        self.number += 1
        return f"{letter}{self.number}"

    def upload(self, account, request):
        blob = self.next("G")
        account.blobs[blob] = request.body
        return Answer(201, {"accountId": account.id, "blobId": blob, "type": request.headers["Content-Type"], "size": len(request.body)})

    # --- requests ---

    def api_request(self, request):
        with self.guard:
            account, calls = self.account_of(request), request.calls
            instead = self.before(calls)
            if instead:
                return instead
            assert set(request.json) <= {"using", "methodCalls", "createdIds"}, request.json
            assert len(calls) <= self.limits["maxCallsInRequest"], calls
            created, responses = {}, []
            for name, args, tag in calls:
                try:
                    args = self.resolve(dict(args), responses)
                    if args.pop("accountId", None) != account.id:
                        raise Refused("accountNotFound")
                    method = getattr(self, "do_" + name.replace("/", "_"), None)
                    if not method:
                        raise Refused("unknownMethod")
                    results = method(account, args, created)
                    results = results if isinstance(results, list) else [(name, results)]
                    responses += [[each, {"accountId": account.id, **result}, tag] for each, result in results]
                except Refused as error:
                    responses.append(["error", error.error, tag])
            instead = self.after(calls)
            return instead or Answer(200, {"methodResponses": responses, "sessionState": "s1"})

    @staticmethod
    def resolve(args, responses):
        for key in [key for key in args if key.startswith("#") and isinstance(args[key], dict) and "resultOf" in args[key]]:
            reference = args.pop(key)
            found = [r[1] for r in responses if r[2] == reference["resultOf"] and r[0] == reference["name"]]
            if not found:
                raise Refused("invalidResultReference")
            value = found[0]
            for part in reference["path"].split("/")[1:]:
                value = value[part]
            args[key[1:]] = value
        return args

    # --- methods ---

    def do_Mailbox_get(self, account, args, _):
        keys = args.get("properties") or ["id", "name", "role", "parentId"]
        return {"state": "b1", "list": [{key: box[key] for key in {"id", *keys}} for box in account.boxes.values()], "notFound": []}

    def do_Mailbox_set(self, account, args, _):
        done, refused = {}, {}
        for key, box in (args.get("create") or {}).items():
            if "role" in box and "no-roles" in self.traits:
                refused[key] = {"type": "invalidProperties", "properties": ["role"]}
                continue
            made = self.next("B")
            account.boxes[made] = {"role": None, "parentId": None, **box, "id": made}
            done[key] = {"id": made}
        return {"oldState": "b1", "newState": "b2", "created": done or None, "notCreated": refused or None}

    def do_Identity_get(self, account, args, _):
        return {"state": "i1", "list": account.identities, "notFound": []}

    def do_Identity_set(self, account, args, _):
        done = {}
        for key, identity in args["create"].items():
            account.identities.append({**identity, "id": self.next("I")})
            done[key] = {"id": account.identities[-1]["id"]}
        return {"created": done}

    def do_Email_query(self, account, args, _):
        known = {"inMailbox", "hasKeyword", "notKeyword", "after"}
        where = args.get("filter") or {}
        if not set(where) <= known:
            raise Refused("unsupportedFilter", description=str(sorted(set(where) - known)))
        if where.get("inMailbox") is not None and where["inMailbox"] not in account.boxes:
            raise Refused("invalidArguments", description="no such mailbox")
        assert args["sort"] == [{"property": "receivedAt", "isAscending": False}], args
        assert "after" not in where or re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", where["after"]), where
        found = [email for email in account.emails.values()
            if where.get("inMailbox", next(iter(email["mailboxIds"]))) in email["mailboxIds"]
            and ("hasKeyword" not in where or where["hasKeyword"] in email["keywords"])
            and ("notKeyword" not in where or where["notKeyword"] not in email["keywords"])
            and email["receivedAt"] >= where.get("after", "")]
        found.sort(key=lambda email: (email["receivedAt"], int(email["id"][1:])), reverse=True)
        limit = args.get("limit")
        assert limit is None or (isinstance(limit, int) and limit > 0), args
        position = args.get("position", 0)
        return {"queryState": "q1", "canCalculateChanges": False, "position": position,
            "ids": [email["id"] for email in found[position:position + limit if limit else None]]}

    def do_Email_get(self, account, args, _):
        if len(args["ids"]) > self.limits["maxObjectsInGet"]:
            raise Refused("requestTooLarge")
        found = [self.shown(account.emails[key], args) for key in dict.fromkeys(args["ids"]) if key in account.emails]
        return {"state": f"e{account.state}", "list": found[::-1], "notFound": [key for key in args["ids"] if key not in account.emails]}

    def shown(self, email, args):
        out = {"id": email["id"]}
        for key in args.get("properties", []):
            if key.startswith("header:"):
                name, form = key.split(":")[1:]
                assert form == "asText", key
                out[key] = email["headers"].get(name.lower())
            elif key == "bodyValues":
                assert args.get("fetchTextBodyValues") is True, args
                data, limit = email["text"].encode(), args.get("maxBodyValueBytes") or 1 << 40
                out[key] = {"1": {"value": data[:limit].decode(errors="ignore"), "isTruncated": len(data) > limit, "isEncodingProblem": False}}
            else:
                out[key] = email[key]
        return out

    def do_Email_set(self, account, args, created):
        self.compare(args, f"e{account.state}")
        result = {"oldState": "e1", "newState": "e2", "created": {}, "notCreated": {}, "updated": {}, "notUpdated": {}, "destroyed": [],
            "notDestroyed": {}}
        for key, email in (args.get("create") or {}).items():
            try:
                made = self.create(account, email)
                created[key] = made["id"]
                result["created"][key] = {name: made[name] for name in ("id", "blobId", "threadId", "size")}
            except Refused as error:
                result["notCreated"][key] = error.error
        for key, patch in (args.get("update") or {}).items():
            try:
                self.patch(account, key, patch)
                self.touch(account)
                result["updated"][key] = None
            except Refused as error:
                result["notUpdated"][key] = error.error
        for key in args.get("destroy") or []:
            if account.emails.pop(key, None):
                self.touch(account)
                result["destroyed"].append(key)
            else:
                result["notDestroyed"][key] = {"type": "notFound"}
        return result

    def create(self, account, email):
        strange = [key for key in email if key not in CREATES and not re.fullmatch(r"header:[!-9;-~]+:asText", key)]
        if strange:
            raise Refused("invalidProperties", properties=strange)
        if "full" in self.traits:
            raise Refused("overQuota", description="The mailbox is full")
        if not email.get("mailboxIds") or not set(email["mailboxIds"]) <= set(account.boxes):
            raise Refused("invalidProperties", properties=["mailboxIds"])
        if email.get("keywords") == {} and "empty-keywords" in self.traits:
            raise Refused("invalidArguments", description="keywords must not be empty")
        assert all(value is True for value in [*email["mailboxIds"].values(), *email.get("keywords", {}).values()]), email
        assert [set(part) <= {"partId", "type"} for part in email["textBody"]] == [True], email["textBody"]
        files = []
        for part in email.get("attachments", []):
            if part["blobId"] not in account.blobs:
                raise Refused("blobNotFound", notFound=[part["blobId"]])
            files.append({**part, "partId": self.next("P"), "size": len(account.blobs[part["blobId"]])})
        for address in email.get("to", []) + email.get("cc", []) + email["from"]:
            assert set(address) <= {"name", "email"} and "@" in address["email"], address
        headers = {key.split(":")[1].lower(): value for key, value in email.items() if key.startswith("header:")}
        return self.keep(account, {**{key: None for key in ("inReplyTo", "references", "cc", "replyTo")}, **email,
            "headers": {} if "drops-headers" in self.traits else headers, "attachments": files,
            "text": email["bodyValues"][email["textBody"][0]["partId"]]["value"]})

    def keep(self, account, email):
        key = self.next("M")
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        before = set(email.get("references") or []) | set(email.get("messageId") or [])
        thread = next((one["threadId"] for one in account.emails.values() if before & set(one["messageId"] or [])), "T" + key)
        account.emails[key] = {"keywords": {}, "receivedAt": now, "sentAt": now, "messageId": None, **email, "id": key, "threadId": thread,
            "blobId": self.next("G"), "size": len(email["text"]), "textBody": [{"partId": "1", "type": "text/plain"}]}
        self.touch(account)
        return account.emails[key]

    @staticmethod
    def patch(account, key, patch):
        email = account.emails.get(key)
        if not email:
            raise Refused("notFound")
        changed = {"keywords": dict(email["keywords"]), "mailboxIds": dict(email["mailboxIds"])}
        for path, value in patch.items():
            name, _, inner = path.partition("/")
            if name not in changed or (inner and value not in (True, None)):
                raise Refused("invalidPatch", description=path)
            if not inner:
                changed[name] = dict(value)
            elif value is None:
                changed[name].pop(inner.replace("~1", "/").replace("~0", "~"), None)
            else:
                changed[name][inner] = True
        if not changed["mailboxIds"] or not set(changed["mailboxIds"]) <= set(account.boxes):
            raise Refused("invalidProperties", properties=["mailboxIds"])
        email.update(changed)

    @staticmethod
    def compare(args, state):
        if args.get("ifInState") not in (None, state):
            raise Refused("stateMismatch")

    def do_EmailSubmission_get(self, account, args, _):
        if "no-submission-query" in self.traits:
            raise Refused("unknownMethod")
        assert args["ids"] == [], args
        return {"state": f"s{len(account.submissions)}", "list": [], "notFound": []}

    def do_EmailSubmission_set(self, account, args, created):
        self.compare(args, f"s{len(account.submissions)}")
        result, filed = {"created": {}, "notCreated": {}}, {}
        for key, submission in args["create"].items():
            email = account.emails.get(created.get(submission["emailId"][1:]) if submission["emailId"][0] == "#" else submission["emailId"])
            try:
                if not email or submission["identityId"] not in [identity["id"] for identity in account.identities]:
                    raise Refused("invalidProperties", properties=["emailId"])
                self.deliver(email)
            except Refused as error:
                result["notCreated"][key] = error.error
                continue
            made = self.next("S")
            account.submissions[made] = email["id"]
            result["created"][key] = {"id": made, "undoStatus": "final"}
            if "#" + key in args.get("onSuccessUpdateEmail", {}):
                filed[email["id"]] = args["onSuccessUpdateEmail"]["#" + key]
        responses = [("EmailSubmission/set", result)]
        if filed and "no-filing" not in self.traits:
            responses.append(("Email/set", self.do_Email_set(account, {"update": filed}, {})))
        return responses

    def deliver(self, email):
        wanted = list(dict.fromkeys(one["email"] for one in (email["to"] or []) + (email["cc"] or [])))
        accounts = {account.address: account for account in self.accounts.values()}
        unknown = [address for address in wanted if address.lower() not in accounts]
        if unknown:
            raise Refused("invalidRecipients", invalidRecipients=unknown, description=f"no such user: {unknown[0]}")
        for address in wanted:
            account = accounts[address.lower()]
            self.delivered.append((address, email["messageId"][0]))
            for part in email["attachments"]:
                account.blobs[part["blobId"]] = b"copy"
            # As mail arrives: with lines ended by CRLF, the last one too.
            self.keep(account, {**email, "mailboxIds": {account.box("inbox"): True}, "keywords": {}, "receivedAt": datetime.datetime.now(
                datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "text": email["text"].replace("\n", "\r\n") + "\r\n"})

    def do_EmailSubmission_query(self, account, args, _):
        if "no-submission-query" in self.traits:
            raise Refused("unknownMethod")
        wanted = args["filter"]["emailIds"]
        return {"queryState": "q1", "ids": [key for key, email in account.submissions.items() if email in wanted], "position": 0}


class Management:
    """The management API of a Stalwart server, as far as accounts are made with it, for a JmapModel. `token` None: it asks for no login."""

    def __init__(self, model, token="manager-token", prefix="/api"):
        self.model, self.token, self.principals, self.seen = model, token, [], []
        self.problem = None  # (status, body) of every answer
        self.page_size = None  # of lists, when it is not asked for
        self.prefix = prefix
        for path in ("/principal",):
            model.pages[prefix + path] = self
        self.key = None

    def open(self):
        """Take over paths with ids, and requests that do not log in as the model wants it."""
        model, choose = self.model, self.model.choose

        def chosen(request):
            if request.path.startswith(self.prefix + "/"):
                return self(request)
            return choose(request)
        model.choose = chosen
        return self

    def __call__(self, request):
        self.seen.append((request.method, request.path, request.body.decode()))
        assert request.headers["Accept"] == "application/json", request.headers
        if self.problem:
            return Answer(*self.problem)
        wanted = {None: None, **{kind: value for kind, value in (("Bearer", self.token),)}}.get("Bearer")
        if wanted and request.headers.get("Authorization") not in (f"Bearer {wanted}", "Basic " + base64.b64encode(f"key:{wanted}".encode()).decode()):
            return Answer(401, {"type": "about:blank", "status": 401, "title": "Unauthorized"})
        path = urllib.parse.urlsplit(request.path[len(self.prefix):])
        body = json.loads(request.body) if request.body else None
        if request.method == "GET" and path.path == "/principal":
            query = urllib.parse.parse_qs(path.query, strict_parsing=True)
            items = [{key: value for key, value in one.items() if key != "secrets"} for one in self.principals if one["type"] == query["types"][0]]
            size = int(query.get("limit", [self.page_size or len(items)])[0])
            begin = (int(query.get("page", ["1"])[0]) - 1) * size
            return Answer(200, {"data": {"items": items[begin:begin + size], "total": len(items)}})
        if request.method == "POST" and path.path == "/principal":
            return self.create(body)
        match = re.fullmatch(r"/principal/(\d+)", path.path)
        if request.method == "PATCH" and match:
            return self.change(int(match[1]), body)
        return Answer(404, {"type": "about:blank", "status": 404})

    def create(self, body):
        keys = {"type", "name", "description", "quota", "secrets", "emails", "roles", "urls", "memberOf", "lists", "members", "enabledPermissions",
            "disabledPermissions", "externalMembers"}
        assert set(body) == keys, set(body) ^ keys
        individual = body["type"] == "individual"
        assert body["quota"] == 0 and body["roles"] == (["user"] if individual else []) and len(body["secrets"]) == individual, body
        assert all(body[key] == [] for key in keys - {"type", "name", "description", "quota", "secrets", "emails", "roles"}), body
        if any(one["name"] == body["name"] for one in self.principals):
            return Answer(200, {"error": "fieldAlreadyExists", "field": "name", "value": body["name"]})
        if individual and not any(one["type"] == "domain" and one["name"] == body["emails"][0].split("@")[1] for one in self.principals):
            return Answer(200, {"error": "notFound", "item": body["emails"][0].split("@")[1]})
        self.principals.append({"id": len(self.principals) + 1, **body})
        self.follow(self.principals[-1])
        return Answer(200, {"data": len(self.principals)})

    def change(self, number, actions):
        one = next(one for one in self.principals if one["id"] == number)
        for action in actions:
            assert set(action) == {"action", "field", "value"}, action
            if (action["action"], action["field"]) == ("addItem", "emails"):
                one["emails"].append(action["value"])
            elif (action["action"], action["field"]) == ("set", "secrets"):
                one["secrets"] = action["value"]
            else:
                raise AssertionError(action)
        self.follow(one)
        return Answer(200, {"data": None})

    def follow(self, one):
        """The account that is logged in to."""
        if one["type"] == "individual":
            account = self.model.accounts.get(one["name"]) or self.model.add(one["name"], one["emails"][0])
            account.password = one["secrets"][0] if one["secrets"] else None

