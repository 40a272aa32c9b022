"""A team at work, for tests and pictures of pages: projects, agents, conversations, leases, what waits for a person."""

from webs import api, project

SHOP = "/srv/shop"
SLUG = "srv-shop"

AGENTS = {
    "BlueLake": "Move the checkout to the new price service",
    "GreenCastle": "Tests for refunds, then the release notes",
    "RedStone": "Speed up the search for products",
}


def lively(server):
    """The ids of its messages by what they are about."""
    project(server, SHOP, AGENTS)
    project(server, "/srv/docs", {"PurpleFox": "Keep the handbook in step with the shop"})
    ids = {}

    def send(name, sender, to, subject, body, **more):
        sent = api(server, "send_message", project_key=SHOP, sender_name=sender, to=to, subject=subject, body_md=body, **more)
        ids[name] = sent["deliveries"][0]["payload"]["id"]
    send("plan", "BlueLake", ["GreenCastle", "RedStone"], "Price service: plan",
        "I am moving the checkout to the new price service. Can you hold back changes in `src/price/` until Friday?",
        thread_id="PRICES", ack_required=True)
    send("answer", "GreenCastle", ["BlueLake"], "Re: Price service: plan",
        "Yes. I take `tests/refunds/**` only, and wait for you with the rest.", thread_id="PRICES")
    send("refused", "GreenCastle", ["BlueLake"], "Re: Price service: plan",
        "I wanted to mend a currency in `src/price/client.ts`, and my edit was refused:\n\n```\n"
        "mailroom guard: another agent holds this file: do not write to it now\n\n  src/price/client.ts\n"
        "    BlueLake holds src/price/** for 52 more minutes: price service\n```\n\n"
        "Will you take it along? `EUR` is missing in `toCents()`.", thread_id="PRICES")
    send("taken", "BlueLake", ["GreenCastle"], "Re: Price service: plan",
        "Yes: it is in my next commit. I release `src/price/**` then, in about ten minutes.", thread_id="PRICES")
    send("measured", "RedStone", ["BlueLake"], "Search asks for prices, too",
        "Every result asks for its price: **120 requests a page**. Is there a call for many?\n\n"
        "| page | before | after |\n|---|---|---|\n| results | 84 ms | 310 ms |", importance="high")
    api(server, "file_reservation_paths", project_key=SHOP, agent_name="BlueLake",
        paths=["src/price/**", "src/checkout/cart.ts"], ttl_seconds=3600, reason="price service")
    api(server, "file_reservation_paths", project_key=SHOP, agent_name="GreenCastle", paths=["tests/refunds/**"],
        ttl_seconds=7200, reason="tests for refunds")
    api(server, "set_contact_policy", project_key=SHOP, agent_name="RedStone", policy="contacts_only")
    api(server, "request_contact", project_key="/srv/docs", from_agent="PurpleFox", to_project=SHOP, to_agent="RedStone",
        reason="I want to describe the new search")
    return ids
