"""Texts that try to run something in a browser, and a team and a workspace that are full of them."""

from webs import api, project
from workspace import mail

PAYLOADS = (
    "<script>alert('taken')</script>",
    "</script><script>alert('taken')</script>",
    "<img src=x onerror=alert('taken')>",
    "<svg/onload=alert('taken')>",
    "\"><svg onload=alert('taken')>",
    "' autofocus onfocus=alert('taken') x='",
    "</title></textarea></style><script>alert('taken')</script>",
    "<iframe srcdoc=\"<script>parent.alert('taken')</script>\">",
    "<a href=\"javascript:alert('taken')\">click</a>",
    "{{ 7 * 191 }}{% if 1 %}{{ csrf }}{% endif %}",
    "<!--<img src=\"--><img src=x onerror=alert('taken')>\">",
    "&lt;script&gt;alert('taken')&lt;/script&gt;",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert('taken')>",
    "\u202egnp.exe <b>bold</b> \u0000".replace("\u0000", "\ufffd"),
)
BODY = "\n\n".join((*PAYLOADS,
    "[click](javascript:alert('taken'))", "[click](data:text/html,<script>alert('taken')</script>)",
    "![x](x\" onerror=\"alert('taken'))", "![x](https://elsewhere.invalid/pixel.png)", "<https://elsewhere.invalid/>",
    "[x]: javascript:alert('taken')\n\n[x]", "```html\n<script>alert('taken')</script>\n```",
    "| <script>alert('taken')</script> | b |\n|---|---|\n| <img src=x onerror=alert('taken')> | `<b>` |",
    "<style>body { display: none }</style>", "<form action=https://elsewhere.invalid><button>x</button></form>"))
LONG = "W" * 180


def team(server, attachment=None):
    """Every text of a team that agents choose, hostile or very long; a file may go along."""
    nasty = " ".join(PAYLOADS[:3])
    key = "/srv/" + nasty.replace("/", "")
    project(server, key, {"BlueLake": nasty, "GreenCastle": BODY[:1500], "RedStone": LONG})
    project(server, "/srv/" + LONG, {"GoldFox": PAYLOADS[4]})
    for i, text in enumerate((*PAYLOADS, LONG)):
        api(server, "send_message", project_key=key, sender_name="BlueLake", to=["GreenCastle", "RedStone"], subject=text[:200],
            body_md=BODY if i % 2 else text, thread_id=text[:100] if i % 3 == 0 else "T-1", ack_required=i % 4 == 0,
            importance=("urgent", "high", "low")[i % 3])
        api(server, "file_reservation_paths", project_key=key, agent_name=("BlueLake", "GreenCastle")[i % 2],
            paths=[f"src/{i}/{text.replace('/', '').replace(chr(92), '')}"], reason=text, exclusive=False)
    if attachment:
        api(server, "send_message", project_key=key, sender_name="BlueLake", to=["GreenCastle"], subject=nasty, body_md=BODY,
            attachment_paths=[attachment])
    api(server, "set_contact_policy", project_key=key, agent_name="RedStone", policy="contacts_only")
    api(server, "request_contact", project_key="/srv/" + LONG, from_agent="GoldFox", to_project=key, to_agent="RedStone", reason=nasty)
    return key


def workspace(w):
    """The same of a workspace (desk.py): headers, HTML, names of files, a case, drafts, a contact and what waits to be sent."""
    html = ("Subject: {subject}\r\nFrom: \"{name}\" <shop@shop.example>\r\nTo: me@example.com\r\nMessage-ID: <h@x>\r\nMIME-Version: 1.0\r\n"
        "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n{body}\r\n--b\r\n"
        "Content-Type: application/pdf\r\nContent-Disposition: attachment; filename=\"{name}.pdf\"\r\n\r\n%PDF\r\n--b--\r\n")
    w.ok("config", "set", "audit.approval_mode", "required")
    ids = w.deliver(mail(1, subject="Offer for 40 chairs"), mail(2, subject=PAYLOADS[2], body=BODY), mail(3, subject=LONG, body=LONG),
        html.format(subject=PAYLOADS[0], name=PAYLOADS[3].replace("/", " "), body=BODY))
    w.locate(*ids)
    w.ok("suggestion", "set", ids[1], "--action", "spam", "--reason", PAYLOADS[0])
    case = w.ok("case", "create", "--name", PAYLOADS[2][:60], "--message", ids[0])["case_uid"]
    w.ok("case", "draft", "reply", case, ids[0], "--body", BODY)
    w.send(case, PAYLOADS[2], body=BODY)
    w.ok("contact", "create", "--name", PAYLOADS[2][:60], "--email", "ann@example.com")


def mailbox(m):
    """The same of mailboxes: mail from one agent to another."""
    for name in ("alice", "bob"):
        m.json("agents", "create", name)
    for text in (*PAYLOADS[:4], LONG):
        m.json("mail", "send", "--agent-name", "bob", "--to", "alice@houmao.localhost", "--subject", text, "--body-content", BODY)
