// Runs the cases of push-cases.jsonl against a service worker: node --test push-conform.test.mjs
//     pushctl conform cases --platform web --providers braze >push-cases.jsonl
// It writes push-results.jsonl for "pushctl conform judge". Run by the tests of pushrouterd, with Node.js 20.
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import vm from "node:vm";

const worker = process.env.PUSH_WORKER ?? "service-worker.js";
const results = "push-results.jsonl";

// FILL IN: how your worker is loaded, and who gets an event. This loads it into a world of its own. A listener of the
// worker that calls waitUntil or shows a notification has the event. Braze's worker, which importScripts brings, takes
// Braze's pushes, as the model says; Braze has not published its own test.
async function run(one, seen) {
  const listeners = [], timers = [], waits = [];
  const place = { now: 0, owner: "own" };
  const self = {
    console, URL, TextEncoder, fetch: async () => ({ ok: true, json: async () => ({}) }),
    addEventListener: (type, listener) => listeners.push({ type, listener, owner: place.owner }),
    importScripts: () => listeners.push({ type: one.callback, owner: "braze", listener: (event) => {
      if (one.want.owner === "braze") event.waitUntil(Promise.resolve());
    } }),
    registration: { showNotification: async (title) => { seen.take(place.owner); seen.shown.push(place.owner); } },
    clients: { matchAll: async () => [], openWindow: async () => null, claim: async () => {} },
    skipWaiting: async () => {},
    setTimeout: (work, wait = 0) => timers.push({ at: place.now + wait, work }),
  };
  vm.runInContext(fs.readFileSync(worker, "utf8"), vm.createContext(Object.assign(self, { self })));
  const data = { json: () => structuredClone(one.event), text: () => JSON.stringify(one.event) };
  const notification = { data: one.event, close: () => {} };
  const handler = self[`on${one.callback}`];
  if (handler) listeners.push({ type: one.callback, listener: handler, owner: "own" });
  let pending = 0, dispatched = false;
  for (const { type, listener, owner } of listeners.filter((entry) => entry.type === one.callback)) {
    place.owner = owner;
    const waitUntil = (promise) => {
      // As a browser does: the event ends with its listeners and the promises that they gave it.
      if (dispatched && pending === 0) throw new Error("InvalidStateError: waitUntil after the event has ended");
      seen.take(owner);
      waits.push(promise);
      pending += 1;
      Promise.resolve(promise).catch(() => {}).finally(() => { pending -= 1; });
    };
    Promise.resolve(listener({ type, data, notification, action: "", waitUntil }))
      .catch((error) => { seen.thrown = `${error}`; });
    place.owner = "own";
  }
  dispatched = true;
  // Timers run on a clock of their own, so that a test never waits.
  Promise.all(waits).then(
    () => { if (waits.length) seen.completions.push({ at_ms: place.now }); },
    (error) => { seen.thrown = `${error}`; });
  for (let turn = 0; turn < 1000 && (turn < 20 || timers.length); turn++) {
    await new Promise(setImmediate);
    const next = timers.sort((a, b) => a.at - b.at).shift();
    if (next) { place.now = next.at; next.work(); }
  }
  seen.elapsed_ms = seen.completions[0]?.at_ms ?? place.now;
}

// The differences; "pushctl conform judge" has the rules.
function faults(want, seen) {
  if (seen.thrown) return [`threw ${seen.thrown}`];
  const facts = [
    ["owners", want.owner === null ? `${seen.owners}` : want.owner, `${seen.owners}`],
    ["completions", want.completions ?? 0, want.completions === null ? 0 : seen.completions.length],
    ["shown more than once", false, seen.shown.length > 1],
    ["longer than the deadline", false, seen.elapsed_ms >= want.deadline_ms],
  ];
  const wrong = facts.filter(([, wanted, got]) => wanted !== got);
  return wrong.map(([name, wanted, got]) => `${name}: ${got}, wanted ${wanted}`);
}

const lines = (path) => (fs.existsSync(path) ? fs.readFileSync(path, "utf8").split("\n").filter(Boolean) : []);
// Lines NAME: reason; a * in NAME stands for any text.
const known = lines("push-cases.known").filter((line) => !line.startsWith("#"));
const pattern = (line) => line.split(": ")[0].replace(/[.+^${}()|[\]\\?]/g, "\\$&").replaceAll("*", ".*");
const isAbout = (line, one) => new RegExp(`^${pattern(line)}$`).test(one.name);
const all = lines("push-cases.jsonl").slice(1).map((line) => JSON.parse(line));
const cases = all.filter((one) => one.callback && one.event);
fs.writeFileSync(results, "");
test("there are cases", () => assert.notEqual(cases.length, 0, "push-cases.jsonl has no case of a service worker"));
const unused = known.filter((line) => !all.some((one) => isAbout(line, one)));
test("each line of push-cases.known is about a case", () => assert.deepEqual(unused, []));
for (const one of cases) {
  test(one.name, async () => {
    const seen = { name: one.name, owners: [], completions: [], shown: [], elapsed_ms: 0, thrown: null };
    const take = (owner) => seen.owners.includes(owner) || seen.owners.push(owner);
    const hidden = Object.defineProperty(seen, "take", { value: take, enumerable: false });
    try { await run(one, hidden); } catch (error) { seen.thrown = `${error}`; }
    fs.appendFileSync(results, JSON.stringify(seen) + "\n");
    const found = faults(one.want, seen);
    const reason = known.find((line) => isAbout(line, one));
    if (reason) return assert.notEqual(found.length, 0, `it passes, and push-cases.known says: ${reason}`);
    assert.equal(found.length, 0, [...found, ...one.why.map((why) => `why: ${why}`), one.explain].join("\n"));
  });
}
