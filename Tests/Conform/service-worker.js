// The service worker of an app, with the fault that PLANT names.
importScripts("https://cdn.example/braze/service-worker.js");

const keys = (push, prefix) => Object.keys(push).some((key) => key.startsWith(prefix));
const isBraze = (push) =>
  (typeof push.cid === "string" && ("t" in push || "a" in push)) || keys(push, PLANT === "not_handled" ? "ab" : "ab_");

async function handle(push) {
  if (PLANT === "over_policy") await new Promise((done) => setTimeout(done, 10_000));
  if (PLANT === "threw") throw new Error("no order");
  await self.registration.showNotification(push.title ?? "News");
  if (PLANT === "shown_twice") await self.registration.showNotification("once more");
}

self.addEventListener("push", (event) => {
  const push = event.data.json();
  if (isBraze(push)) {
    if (PLANT === "handled_twice") event.waitUntil(Promise.resolve());
    return;
  }
  const work = handle(push);
  // The event has ended by then.
  if (PLANT === "threw_late") return Promise.resolve().then(() => event.waitUntil(work));
  if (PLANT !== "completed_never") event.waitUntil(work);
});

self.addEventListener("notificationclick", (event) => {
  if (event.notification.data.ab_ids) return;
  event.waitUntil(clients.openWindow(event.notification.data.url));
});
