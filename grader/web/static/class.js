"use strict";
// All learners of a class in one table. Only the first rows that fit are there: a browser takes its time over thousands.
const FEW = 200;
const $ = (id) => document.getElementById(id);
// angstrom finds Ångström, oneil O'Neil
const plain = (text) => text.normalize("NFD").replace(/[\p{M}\p{P}]/gu, "").toLowerCase();
const element = (name, text, parent) => {
  const made = document.createElement(name);
  made.textContent = text;
  parent.append(made);
  return made;
};

function makeRow(learner) {
  const row = document.createElement("tr");
  const head = element("th", learner.page ? "" : learner.name, row);
  head.scope = "row";
  if (learner.page) element("a", learner.name, head).href = learner.page;
  element("td", learner.id, row);
  element("td", learner.score === null ? "–" : learner.score.toFixed(1), row).className = "r";
  element("td", learner.state, row);
  const code = element("td", "", row);
  if (learner.code) element("a", "code", code).href = learner.code;
  return row;
}

function fill(select, found) {
  for (const each of found) element("option", `${each.name} (${each.learners.length})`, select).value = each.key;
}

fetch("/learners.json").then((answer) => answer.json()).then((all) => {
  const rows = [];
  let order = [...all.learners.keys()];
  let most = FEW;
  const texts = all.learners.map((one) => plain(`${one.name} ${one.id}`));
  const sets = { mistake: all.mistakes, check: all.checks };
  for (const name of Object.keys(sets)) {
    fill($(name), sets[name]);
    sets[name] = new Map(sets[name].map((each) => [each.key, new Set(each.learners)]));
  }
  const body = document.querySelector("#learners tbody");

  const draw = () => {
    const wanted = plain($("name").value.trim());
    const state = $("state").value;
    const chosen = Object.keys(sets).filter((name) => $(name).value).map((name) => sets[name].get($(name).value));
    const fitting = order.filter((number) => texts[number].includes(wanted)
      && (!state || all.learners[number].state === state) && chosen.every((set) => set.has(number)));
    body.replaceChildren(...fitting.slice(0, most).map((number) => rows[number] ??= makeRow(all.learners[number])));
    $("count").textContent = `${fitting.length} of ${all.learners.length}`;
    $("more").hidden = fitting.length <= most;
  };
  // what is chosen stands in the address, for the way back from a learner's page, and to be sent on
  const fields = ["name", "state", "mistake", "check"];
  const kept = new URLSearchParams(location.hash.slice(1));
  const keep = (name, value) => {
    if (value) kept.set(name, value);
    else kept.delete(name);
    history.replaceState(null, "", kept.size ? `#${kept}` : location.pathname);
  };
  for (const name of fields) {
    $(name).value = kept.get(name) ?? "";
    if (!$(name).value) $(name).value = ""; // what is there no more
    $(name).addEventListener("input", () => { most = FEW; keep(name, $(name).value); draw(); });
  }
  $("more").addEventListener("click", () => { most = Infinity; draw(); });

  const words = new Intl.Collator(undefined, { numeric: true });
  const keys = ["name", "id", "score", "state"];
  document.querySelectorAll("#learners thead button").forEach((button, column) => {
    const head = button.parentElement;
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      document.querySelectorAll("#learners [aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down < 0 ? "descending" : "ascending");
      const value = (number) => all.learners[number][keys[column]];
      const compare = (a, b) => (value(a) === null) - (value(b) === null) // without a score: last, up and down
        || down * (column === 2 ? value(a) - value(b) : words.compare(value(a), value(b)));
      order = [...all.learners.keys()].sort(compare);
      keep("sort", column || down < 0 ? `${down < 0 ? "-" : ""}${keys[column]}` : "");
      draw();
    });
  });
  const sort = kept.get("sort") ?? "";
  const button = document.querySelectorAll("#learners thead button")[Math.max(0, keys.indexOf(sort.replace("-", "")))];
  button.click();
  if (sort.startsWith("-")) button.click();
  document.body.dataset.ready = "yes";
});
