// Keeps the open page up to date: replaces the parts that the daemon sends, and says times in words.
"use strict";

const steps = [[60, 1, "second"], [3600, 60, "minute"], [172800, 3600, "hour"], [Infinity, 86400, "day"]];
const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });

function sayTimes(root) {
  for (const element of root.querySelectorAll("time")) {
    const date = new Date(element.dateTime);
    const seconds = (date - Date.now()) / 1000;
    const [, unit, name] = steps.find(([end]) => Math.abs(seconds) < end);
    element.textContent = words.format(Math.trunc(seconds / unit), name);
    element.title = exact.format(date);
  }
}

function replace({ id, html }) {
  const old = document.getElementById(id);
  if (!old) return;
  const template = document.createElement("template");
  template.innerHTML = html.trim();
  const fresh = template.content.firstElementChild;
  // Both say the time of now, so that a part is left alone that differs in nothing else.
  sayTimes(fresh);
  sayTimes(old);
  if (old.isEqualNode(fresh)) return;
  // What somebody has opened, or stands on, stays so.
  const opened = [...old.querySelectorAll("details[open][id]")].map((details) => details.id);
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  old.replaceWith(fresh);
  for (const details of opened) document.getElementById(details)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

let events = null;
let again = 0;

function follow() {
  events?.close();
  clearTimeout(again);
  const address = document.body.dataset.live;
  if (!address) return;
  const notice = document.getElementById("connection");
  events = new EventSource(address);
  events.onopen = () => { notice.hidden = true; };
  events.onerror = () => {
    notice.hidden = false;
    // After an answer that is no stream, such as that too many pages are open, the browser does not try again by itself.
    if (events.readyState === EventSource.CLOSED) again = setTimeout(follow, 10_000);
  };
  events.onmessage = (message) => {
    // The search is what somebody types.
    for (const part of JSON.parse(message.data).parts) if (part.id !== "search") replace(part);
  };
}

// Searches while somebody types.
let waiting = 0;
document.addEventListener("input", (event) => {
  if (event.target.id !== "q") return;
  clearTimeout(waiting);
  const mine = waiting = setTimeout(async () => {
    const query = new URLSearchParams(new FormData(event.target.form));
    if (!query.get("q")) query.delete("q");
    const address = query.size ? "/?" + query : "/";
    const response = await fetch(address).catch(() => null);
    const text = response?.ok ? await response.text() : "";
    // Somebody has typed on meanwhile, or there is no answer, which the notice says.
    if (mine !== waiting || !text) return;
    const page = new DOMParser().parseFromString(text, "text/html");
    for (const id of ["summary", "causes", "list"]) replace({ id, html: page.getElementById(id).outerHTML });
    history.replaceState(null, "", address);
    document.body.dataset.live = page.body.dataset.live;
    follow();
  }, 200);
});

addEventListener("pagehide", () => events?.close());
addEventListener("pageshow", (event) => { if (event.persisted) follow(); });
setInterval(() => sayTimes(document), 10_000);
sayTimes(document);
follow();
