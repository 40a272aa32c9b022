// driver.mjs MODULES CHROMIUM - a browser for tests written in Python: one request a line on standard input, one answer
// a line on standard output.
//
//   {"open": {...}}                                  a page in a context of its own; its number
//   {"page": 1, "chain": [["locator", "h1"], ...]}   Playwright's methods, one on the result of the other
//   {"page": 1, "axe": true}                         what axe-core finds
//   {"page": 1, "troubles": true}                    what went wrong on the page since this was asked last
//   {"page": 1, "close": true}
//
// A page may ask only for what is on this machine, and every message of the console above a warning is a trouble: so are
// violations of the content policy, uncaught exceptions, dialogs, and requests to elsewhere.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import process from "node:process";

const [modules, executablePath] = process.argv.slice(2);
const require = createRequire(modules + "/");
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const QUIET = ["--disable-quic", "--disable-sync", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage"];
const ACTION_MS = 30000;

const browser = await chromium.launch({ executablePath, args: QUIET, chromiumSandbox: false });
const pages = new Map();
let opened = 0;

function isHere(url) {
  return /^(https?:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?\/|data:|blob:|file:|about:)/.test(url);
}

async function open(options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const troubles = [];
  page.setDefaultTimeout(ACTION_MS);
  page.on("console", (said) => said.type() === "error" && troubles.push(`console: ${said.text()} (${said.location().url})`));
  page.on("pageerror", (error) => troubles.push(`uncaught: ${error.message}`));
  page.on("crash", () => troubles.push("the page crashed"));
  page.on("dialog", (dialog) => {
    // A confirmation is part of a page; an alert is the usual sign of a script that nobody wrote there.
    if (dialog.type() !== "confirm") troubles.push(`${dialog.type()}: ${dialog.message()}`);
    dialog.accept();
  });
  context.on("request", (request) => isHere(request.url()) || troubles.push(`asked ${request.url()}`));
  pages.set(++opened, { page, context, troubles });
  return opened;
}

/** Locators and the like stay here: Python has the chain that leads to them. */
function sendable(value) {
  if (value === null || ["string", "number", "boolean"].includes(typeof value)) return value;
  if (Array.isArray(value)) return value.map(sendable);
  if (value?.constructor === Object) return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, sendable(v)]));
  return null;
}

/** What runs in the page comes as text, and Playwright takes a function that is a text for a value. */
function prepared(name, args) {
  if (!/^(evaluate|waitForFunction)/.test(name) || !/^\([^()]*\) =>/.test(args[0])) return args;
  return [(0, eval)(args[0]), ...args.slice(1)];
}

async function answer(request) {
  if (request.open) return open(request.open);
  const { page, context, troubles } = pages.get(request.page);
  if (request.troubles) return troubles.splice(0);
  if (request.axe) {
    await page.evaluate(axe);
    const found = await page.evaluate("axe.run(document, { preload: false, resultTypes: ['violations'] })");
    return found.violations.filter((one) => ["serious", "critical"].includes(one.impact)).map((one) =>
      `${one.id}: ${one.help}: ${one.nodes.map((node) => node.target.join(" ") + " " + (node.any[0]?.message ?? "")).join("; ")}`);
  }
  if (request.close) {
    pages.delete(request.page);
    return context.close();
  }
  let value = page;
  for (const [name, ...args] of request.chain)
    value = typeof value[name] === "function" ? await value[name](...prepared(name, args)) : value[name];
  return sendable(value ?? null);
}

for await (const line of createInterface({ input: process.stdin })) {
  let reply;
  try {
    reply = { value: (await answer(JSON.parse(line))) ?? null };
  } catch (error) {
    reply = { error: String(error.message ?? error) };
  }
  process.stdout.write(JSON.stringify(reply) + "\n");
}
await browser.close();
