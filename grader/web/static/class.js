"use strict";
// All learners of a class in one table. Only the first rows that fit are there: a browser takes its time over thousands.
const FEW = 200;
const $ = (id) => document.getElementById(id);
const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase(); // Angstrom finds Ångström
const element = (name, text, parent) => {
  const made = document.createElement(name);
  made.textContent = text;
  parent.append(made);
  return made;
};

function makeRow(learner) {
  const row = document.createElement("tr");
  const link = element("a", learner.name, element("th", "", row));
  row.firstChild.scope = "row";
  link.href = learner.page;
  element("td", learner.id, row);
  element("td", learner.score === null ? "–" : learner.score.toFixed(1), row).className = "r";
  element("td", learner.state, row);
  const code = element("td", "", row);
  if (learner.code) element("a", "code", code).href = learner.code;
  return row;
}

function fill(select, found) {
  for (const [number, each] of found.entries()) element("option", `${each.name} (${each.learners.length})`, select).value = number;
}

fetch("/learners.json").then((answer) => answer.json()).then((all) => {
  const rows = [];
  let order = [...all.learners.keys()];
  let most = FEW;
  const texts = all.learners.map((one) => plain(`${one.name} ${one.id}`));
  const sets = { mistake: all.mistakes, check: all.checks };
  for (const name of Object.keys(sets)) {
    fill($(name), sets[name]);
    sets[name] = sets[name].map((each) => new Set(each.learners));
  }
  const body = document.querySelector("#learners tbody");

  const draw = () => {
    const wanted = plain($("name").value.trim());
    const state = $("state").value;
    const chosen = Object.keys(sets).filter((name) => $(name).value).map((name) => sets[name][$(name).value]);
    const fitting = order.filter((number) => texts[number].includes(wanted)
      && (!state || all.learners[number].state === state) && chosen.every((set) => set.has(number)));
    body.replaceChildren(...fitting.slice(0, most).map((number) => rows[number] ??= makeRow(all.learners[number])));
    $("count").textContent = `${fitting.length} of ${all.learners.length}`;
    $("more").hidden = fitting.length <= most;
  };
  for (const name of ["name", "state", "mistake", "check"]) {
    $(name).addEventListener("input", () => { most = FEW; draw(); });
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
      draw();
    });
  });
  document.querySelector("#learners thead button").click(); // by name
  document.body.dataset.ready = "yes";
});
