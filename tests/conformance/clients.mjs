// usage: clients.mjs 1|2 URL - the official SDK as a client: connect, list, call every tool, subscribe.
// Generation 1 speaks the protocol with sessions, 2 the stateless one.

import process from "node:process";

const [generation, url] = process.argv.slice(2);
const project = `/srv/conformance-${generation}`;
let checks = 0;

function check(ok, what) {
  checks++;
  if (!ok) throw new Error(what);
}

async function connect() {
  const info = { name: "mailroom-conformance", version: "1" };
  if (generation === "1") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const client = new Client(info);
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return client;
  }
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const client = new Client(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

async function call(client, name, args) {
  const result = await client.callTool({ name, arguments: args });
  check(!result.isError, `${name}: ${JSON.stringify(result.content)}`);
  return result.structuredContent ?? JSON.parse(result.content[0].text);
}

/** Two agents, one message; what the recipient's inbox then holds. */
async function talk(client) {
  await call(client, "ensure_project", { human_key: project });
  const agents = [];
  for (const task of ["sends", "reads"]) {
    const made = await call(client, "create_agent_identity",
      { project_key: project, program: "sdk", model: generation, task_description: task });
    agents.push(made.name);
  }
  await call(client, "send_message",
    { project_key: project, sender_name: agents[0], to: [agents[1]], subject: "hello", body_md: "from the SDK" });
  const inbox = await call(client, "fetch_inbox", { project_key: project, agent_name: agents[1] });
  const messages = inbox.result ?? inbox;
  check(messages.length === 1 && messages[0].subject === "hello", `inbox: ${JSON.stringify(inbox)}`);
  return agents;
}

/** Every tool answers, if only with what it misses; none breaks the protocol. */
async function callAll(client, tools) {
  for (const tool of tools) {
    const result = await client.callTool({ name: tool.name, arguments: {} });
    check(Array.isArray(result.content) && result.content.length > 0, `${tool.name} has no content`);
  }
}

/** A message makes the subscribed client hear of its inbox. */
async function subscribe(client, agents) {
  const uri = `resource://inbox/${agents[1]}?project=${encodeURIComponent(project)}`;
  let tell;
  const told = new Promise((resolve) => (tell = resolve));
  const heard = (notification) => tell(notification.params.uri);
  if (generation === "1") {
    const { ResourceUpdatedNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, heard);
    await client.subscribeResource({ uri });
  } else {
    client.setNotificationHandler("notifications/resources/updated", heard);
    await client.listen({ resourceSubscriptions: [uri] });
  }
  await call(client, "send_message",
    { project_key: project, sender_name: agents[0], to: [agents[1]], subject: "again", body_md: "news" });
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error("nobody told us")), 20000).unref());
  check((await Promise.race([told, late])) === uri, "told of something else");
}

const client = await connect();
check(client.getServerVersion()?.name === "mailroom", "the server's name");
const tools = [];
for (let cursor; ;) {
  const page = await client.listTools(cursor ? { cursor } : {});
  tools.push(...page.tools);
  cursor = page.nextCursor;
  if (!cursor) break;
}
check(tools.length > 10, "tools/list");
const agents = await talk(client);
await callAll(client, tools);
if (client.getServerCapabilities()?.resources?.subscribe) await subscribe(client, agents);
await client.close();
console.log(`${checks} checks, ${tools.length} tools`);
process.exit(0);
