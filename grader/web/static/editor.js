// The exercise in the page: written after a pause or with Ctrl-S, never over what another editor wrote.
import { colour, escape } from "./colour.js";
import { takeKeys } from "./keys.js";

const PAUSE_MS = 400;
const MOST_COLUMNS = 36; // of code, before what stands beside it
const work = document.querySelector(".work");
const area = document.getElementById("source");
const paper = document.getElementById("coloured");
const said = document.getElementById("saved");
const conflict = document.getElementById("conflict");
const aside = document.getElementById("set-aside");
const beside = document.getElementById("beside");
const words = document.getElementById("shape-words");
const STANDINGS = { right: ", as in the reference", wrong: ", no longer the reference's", unknown: "", raised: "" };
const address = `/file/${work.dataset.lesson}`;
const asideKey = `aside${address}`; // in the tab's own store: a page that is loaded again has it still

let known = { text: area.value, version: area.dataset.version }; // the file, as far as this page knows
let theirs = null; // what another editor wrote while there was something here that was not saved
let marks = [];
let shapes = { version: "", source: [], notes: new Map() }; // what each line of that source made
let timer = 0;
let writing = false;

function draw() {
  const notes = new Map(marks.map((mark) => [mark.line, mark.says]));
  const lines = area.value.split("\n");
  const made = lines.map((line, at) => shapesOf(line, at, lines.length));
  const columns = Math.max(...lines.map((line, at) => (made[at] ? line.length : 0)));
  paper.style.setProperty("--columns", `${Math.min(columns, MOST_COLUMNS)}ch`);
  paper.classList.toggle("stale", hasNews() || known.version !== shapes.version);
  paper.innerHTML = colour(area.value).map((line, at) =>
    `<span class="line${notes.has(at + 1) ? " marked" : ""}">${made[at] ? `<span class="own">${line}</span>${made[at]}` : line}\n</span>`).join("");
  for (const [line, says] of notes) paper.children[line - 1]?.setAttribute("title", says);
}

// What stands beside a line: of one that has changed since nothing, and one that was moved keeps it.
function shapesOf(line, at, count) {
  const moved = at - count + shapes.source.length;
  const notes = shapes.notes.get((shapes.source[at] === line ? at : shapes.source[moved] === line ? moved : -1) + 1) ?? [];
  const told = notes.map((note) => `<span class="${note.standing}">${withSizes(escape(note.says))}</span>`);
  return told.length ? `<span class="made">${told.join("")}</span>` : "";
}

// `scores (2, 5, 7) = (2, T, S)`: what stands in both brackets is the same, so the first may be left out.
function withSizes(says) {
  return says.replace(/\([\d, ]+\) = (?=\()/, '<span class="sizes">$&</span>');
}

function takeShapes({ version, shapes: found }) {
  if (hasNews() || version !== known.version || found.lines.length === 0) return; // the old ones stay, pale
  shapes = { version, source: area.value.split("\n"), notes: new Map(found.lines.map((each) => [each.line, each.notes])) };
  const told = found.lines.map(({ line, notes }) => `Line ${line}: ${notes.map((note) => `${note.says}${STANDINGS[note.standing]}`).join("; ")}`);
  words.replaceChildren(...found.says.map((text) => make("p", text)), make("ul", ...told.map((text) => make("li", text))));
  words.closest("section").hidden = false;
  draw();
  showMarks();
}

// The lines that the verdict speaks of: marked, in sight where nobody is writing, and a step away from where they are named.
function takeMarks(found) {
  marks = found;
  draw();
  linkLines(new Set(found.map((mark) => String(mark.line))));
  showMarks();
}

function showMarks() { // a line is higher where its shapes stand below it
  if (marks.length && document.activeElement !== area) showLine(marks[0].line);
}

function showLine(number) {
  if (number < 1) return;
  const box = area.closest(".editor");
  const [seen, line] = [box, paper.children[number - 1] ?? box].map((each) => each.getBoundingClientRect());
  if (line.top < seen.top || line.bottom > seen.bottom) box.scrollTop += line.top - seen.top - seen.height / 3;
}

function goTo(number) {
  const start = area.value.split("\n").slice(0, number - 1).join("\n").length + (number > 1 ? 1 : 0);
  area.focus({ preventScroll: true });
  area.setSelectionRange(start, start);
  showLine(number);
  area.closest(".editor").scrollIntoView({ block: "nearest" });
}

function linkLines(numbers) {
  const told = document.createTreeWalker(document.getElementById("verdict"), NodeFilter.SHOW_TEXT);
  const texts = [];
  while (told.nextNode()) if (told.currentNode.parentElement.closest(".named") && !told.currentNode.parentElement.closest("button, code")) texts.push(told.currentNode);
  for (const text of texts) {
    const parts = text.data.split(/(\bline \d+\b)/i);
    text.replaceWith(...parts.map((part, at) => {
      const number = part.slice(5);
      if (at % 2 === 0 || !numbers.has(number)) return part;
      const link = Object.assign(document.createElement("button"), { type: "button", className: "line-link", textContent: part });
      link.addEventListener("click", () => goTo(Number(number)));
      return link;
    }));
  }
}

function make(name, ...inside) {
  const element = document.createElement(name);
  element.append(...inside);
  return element;
}

const hasNews = () => area.value !== known.text;
const say = (text) => { said.textContent = text; };

function take(file) {
  const { selectionStart, selectionEnd } = area;
  known = file;
  theirs = null;
  conflict.hidden = true;
  if (area.value !== file.text) {
    area.value = file.text;
    area.setSelectionRange(selectionStart, selectionEnd);
    draw();
  }
  say("Saved");
}

function meet(file) {
  if (file.version === known.version) return;
  if (!hasNews() || file.text === area.value) { take(file); return; }
  theirs = file;
  showConflict();
  say("Not saved: the file was changed elsewhere");
}

function showConflict() {
  conflict.hidden = false;
  const [there, here] = differing(theirs.text, area.value);
  document.getElementById("in-file").textContent = there;
  document.getElementById("in-page").textContent = here;
}

// Two texts without the lines that are equal at both ends.
function differing(...texts) {
  const [one, other] = texts.map((text) => text.split("\n"));
  const most = Math.min(one.length, other.length);
  let [start, end] = [0, 0];
  while (start < most && one[start] === other[start]) start += 1;
  while (end < most - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  return [one, other].map((lines) => lines.slice(start, lines.length - end).join("\n") || "nothing");
}

// What was not chosen of two texts: it can be had back, and then what was here is set aside in its place.
function setAside(text) {
  sessionStorage.setItem(asideKey, text);
  aside.hidden = false;
}

// The file is gone: what is here is the only copy, and whatever takes its place is another editor's.
function lose() {
  known = { text: null, version: known.version };
  say("The file is gone. Ctrl-S writes it back");
}

async function save() {
  clearTimeout(timer);
  if (writing || theirs || !hasNews()) return;
  writing = true;
  say("Saving …");
  const text = area.value;
  try {
    const answer = await fetch(address, { method: "PUT", body: JSON.stringify({ text, version: known.version }), headers: { "Content-Type": "application/json" } });
    const file = answer.headers.get("content-type")?.includes("json") ? await answer.json() : { says: await answer.text() };
    if (answer.ok) { known = { text, version: file.version }; say("Saved"); }
    else if (answer.status === 409) meet(file);
    else say(answer.status === 403 ? "Not saved" : `Not saved: ${file.says}`); // why it is refused is said above
    if (!answer.ok) return;
  } catch {
    say("Not saved");
    timer = setTimeout(save, 2000);
    return;
  } finally {
    writing = false;
  }
  if (hasNews()) timer = setTimeout(save, PAUSE_MS);
}

area.addEventListener("input", () => {
  marks = [];
  draw();
  if (theirs) showConflict();
  else say("…");
  clearTimeout(timer);
  timer = setTimeout(save, PAUSE_MS);
});
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") { event.preventDefault(); save(); }
});
addEventListener("beforeunload", (event) => { if (hasNews()) { save(); event.preventDefault(); } });
document.getElementById("theirs").addEventListener("click", () => { setAside(area.value); take(theirs); area.focus(); });
document.getElementById("mine").addEventListener("click", () => {
  setAside(theirs.text);
  known = theirs;
  theirs = null;
  conflict.hidden = true;
  save();
  area.focus();
});
document.getElementById("swap").addEventListener("click", () => {
  const other = sessionStorage.getItem(asideKey) ?? "";
  setAside(area.value);
  area.value = other;
  area.dispatchEvent(new Event("input"));
  area.focus();
});
work.addEventListener("news", async ({ detail }) => {
  if (detail.version !== undefined && detail.version !== known.version && !writing) {
    const answer = await fetch(address);
    if (answer.ok) meet(await answer.json());
    else if (answer.status === 404) lose();
  }
  if (detail.lines && !hasNews()) takeMarks(detail.lines);
  if (detail.shapes) takeShapes(detail);
});
work.addEventListener("gone", () => { if (known.text !== null) say(hasNews() ? "Not saved" : ""); }); // the page says why
work.addEventListener("back", () => {
  if (known.text === null) return; // another editor has removed the file: Ctrl-S alone writes it back
  if (hasNews()) save();
  else say("Saved");
});
beside.checked = (localStorage.beside ?? String(matchMedia("(min-width: 46rem)").matches)) === "true";
beside.addEventListener("change", () => { localStorage.beside = beside.checked; });

aside.hidden = (sessionStorage.getItem(asideKey) ?? area.value) === area.value;
takeKeys(area);
draw();
showLine(1 + area.value.split("\n").findIndex((line) => line.trim().startsWith("raise NotImplementedError"))); // 0 is none
