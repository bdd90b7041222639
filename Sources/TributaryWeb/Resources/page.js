// Keeps the open page up to date: changes what differs in the parts that the daemon sends, and says times in words.
"use strict";

const steps = [[60, 1, "second"], [3600, 60, "minute"], [172800, 3600, "hour"], [Infinity, 86400, "day"]];
const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const hours = { hourCycle: "h23" };
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long", ...hours });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short", ...hours });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short", ...hours });

function sayTime(element) {
  const date = new Date(element.dateTime);
  const seconds = (date - Date.now()) / 1000;
  const [, unit, name] = steps.find(([end]) => Math.abs(seconds) < end);
  const said = words.format(Math.trunc(seconds / unit), name);
  const isToday = date.toDateString() === new Date().toDateString();
  if (element.firstChild?.data !== said) {
    // The exact time is there for everybody, not only under a mouse.
    const small = document.createElement("small");
    small.textContent = (isToday ? clock : day).format(date);
    element.replaceChildren(said, " ", small);
  }
  element.title = exact.format(date);
}

// The forms of the times below a plot.
const forms = {
  time: clock,
  day: new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" }),
  both: new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "numeric", minute: "numeric", ...hours }),
};

// The daemon writes the times of plots in UTC.
function sayPlotTimes(root) {
  for (const { dataset, firstChild } of root.querySelectorAll("[data-time]")) {
    firstChild.data = forms[dataset.form].format(new Date(dataset.time));
  }
  const utc = /(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC/g;
  for (const { firstChild } of root.querySelectorAll("svg title, svg .label")) {
    if (!firstChild?.data.includes("UTC")) continue;
    firstChild.data = firstChild.data.replace(utc, (_, date, time) => day.format(new Date(`${date}T${time}Z`)));
  }
  for (const zone of root.querySelectorAll("[data-utc]")) zone.hidden = true;
}

function sayTimes(root) {
  for (const element of root.querySelectorAll("time")) sayTime(element);
  sayPlotTimes(root);
}

// True for what somebody stands on or has selected: it is never moved or replaced.
function isPinned(node) {
  if (node.contains(document.activeElement) && document.activeElement !== document.body) return true;
  const selection = getSelection();
  return !selection.isCollapsed && selection.rangeCount > 0 && selection.getRangeAt(0).intersectsNode(node);
}

// Makes a node equal to a fresh one, and leaves what is equal as it is.
function morph(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  if (old.isEqualNode(fresh)) return;
  for (const { name } of [...old.attributes]) {
    // What somebody has opened stays open.
    if (!fresh.hasAttribute(name) && !(name === "open" && old.localName === "details")) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  if (old.localName === "time") return sayTime(old);
  morphChildren(old, fresh);
}

function morphChildren(old, fresh) {
  const known = new Map([...old.children].filter((child) => child.id).map((child) => [child.id, child]));
  let place = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const isLike = place && !place.id && place.nodeType === wanted.nodeType && place.nodeName === wanted.nodeName;
    const found = wanted.id ? known.get(wanted.id) : isLike ? place : null;
    if (!found || found.nodeName !== wanted.nodeName) {
      old.insertBefore(wanted, place);
      continue;
    }
    if (found !== place && isPinned(found)) {
      // The others make room.
      while (place !== found) {
        const next = place.nextSibling;
        old.append(place);
        place = next;
      }
    }
    if (found === place) place = place.nextSibling;
    else old.insertBefore(found, place);
    morph(found, wanted);
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

// The one way from text to elements. The daemon's templates have escaped the text, and no script in it runs.
const policy = window.trustedTypes?.createPolicy("tributary", { createHTML: (html) => html });

function parsed(html) {
  return new DOMParser().parseFromString(policy ? policy.createHTML(html) : html, "text/html");
}

// Returns true where a part differed.
function replace({ id, html }) {
  const old = document.getElementById(id);
  if (!old) return false;
  const fresh = parsed(html).body.firstElementChild;
  // Both say the time of now, so that a part is left alone that differs in nothing else.
  sayTimes(fresh);
  sayTimes(old);
  if (old.isEqualNode(fresh)) return false;
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  morph(old, fresh);
  if (focused && document.activeElement?.id !== focused) document.getElementById(focused)?.focus({ preventScroll: true });
  return true;
}

// What a button's notice tells of is seen in these parts: it goes when they change, and does not come back with a reload.
const told = ["state", "hooks"];
if (document.querySelector(".done")) {
  const address = new URL(location);
  address.searchParams.delete("done");
  history.replaceState(null, "", address);
}

let events = null;
let again = 0;
let said = null;

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
    const { parts, title, icon, status } = JSON.parse(message.data);
    // The search is what somebody types.
    for (const part of parts) {
      if (part.id !== "search" && replace(part) && told.includes(part.id)) document.querySelector(".done")?.remove();
    }
    document.title = title;
    const link = document.getElementById("icon");
    const address = `/assets/${icon}?${document.body.dataset.version}`;
    if (link.getAttribute("href") !== address) link.setAttribute("href", address);
    // Only changes are said, and only of states.
    if (said !== null && said !== status) document.getElementById("announce").textContent = status;
    said = status;
  };
}

// Searches while somebody types, and at once at Enter.
let waiting = 0;
function searchSoon(form, delay) {
  clearTimeout(waiting);
  const mine = waiting = setTimeout(async () => {
    const query = new URLSearchParams(new FormData(form));
    if (!query.get("q")) query.delete("q");
    const address = query.size ? "/?" + query : "/";
    const response = await fetch(address).catch(() => null);
    const text = response?.ok ? await response.text() : "";
    // Somebody has typed on meanwhile, or there is no answer, which the notice says.
    if (mine !== waiting || !text) return;
    const page = parsed(text);
    for (const id of ["summary", "causes", "list"]) replace({ id, html: page.getElementById(id).outerHTML });
    history.replaceState(null, "", address);
    document.body.dataset.live = page.body.dataset.live;
    follow();
  }, delay);
}
const isSearch = (form) => location.pathname === "/" && form?.elements.q;
document.addEventListener("input", (event) => {
  if (event.target.id === "q" && isSearch(event.target.form)) searchSoon(event.target.form, 200);
});
document.addEventListener("submit", (event) => {
  if (!isSearch(event.target)) return;
  event.preventDefault();
  searchSoon(event.target, 0);
});

// Keys: / searches, j and k go from line to line, ? shows them.
const lines = "main [role=row] .name a, main .changes > li > a, main .changes > li summary, main .fold summary, main .due a";

function step(by) {
  const all = [...document.querySelectorAll(lines)].filter((line) => line.checkVisibility());
  const next = all[Math.min(Math.max(all.indexOf(document.activeElement) + by, 0), all.length - 1)];
  next?.focus();
}

// What / leads to: the search, the first condition of a table, or the address to try.
const search = document.querySelector("#q, .conditions input[name=value], #url");
document.getElementById("key-search").hidden = !search;

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
  if (event.key === "/" && search) search.select();
  else if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
  else if (event.key === "?") document.getElementById("help").showModal();
  else return;
  event.preventDefault();
});

for (const button of document.querySelectorAll("[data-copies]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const area = document.getElementById(button.dataset.copies);
    area.select();
    await navigator.clipboard?.writeText(area.value).catch(() => null);
    button.textContent = navigator.clipboard ? "Copied" : "Selected";
  });
}

const zone = document.getElementById("zone");
zone.textContent = `Times are in ${Intl.DateTimeFormat().resolvedOptions().timeZone}.`;
zone.hidden = false;

addEventListener("pagehide", () => events?.close());
addEventListener("pageshow", (event) => { if (event.persisted) follow(); });
setInterval(() => sayTimes(document), 10_000);
sayTimes(document);
follow();
