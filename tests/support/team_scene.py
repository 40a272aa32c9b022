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
        "I am moving the checkout to the new price service:\n\n1. `src/price/client.ts` asks the service\n"
        "2. the old tables stay until Friday\n\nGreenCastle, can you hold back changes in `src/checkout/` until then?",
        thread_id="PRICES", ack_required=True)
    send("answer", "GreenCastle", ["BlueLake"], "Re: Price service: plan",
        "Yes. I take `tests/refunds/**` only, and wait for you with the rest.", thread_id="PRICES")
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
