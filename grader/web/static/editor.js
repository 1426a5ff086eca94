// The exercise in the page: written after a pause or with Ctrl-S, never over what another editor wrote.
import { colour } from "./colour.js";
import { takeKeys } from "./keys.js";

const PAUSE_MS = 400;
const work = document.querySelector(".work");
const area = document.getElementById("source");
const paper = document.getElementById("coloured");
const said = document.getElementById("saved");
const conflict = document.getElementById("conflict");
const address = `/file/${work.dataset.lesson}`;

let known = { text: area.value, version: area.dataset.version }; // the file, as far as this page knows
let theirs = null; // what another editor wrote while there was something here that was not saved
let marks = [];
let timer = 0;
let writing = false;

function draw() {
  const notes = new Map(marks.map((mark) => [mark.line, mark.says]));
  paper.innerHTML = colour(area.value).map((line, at) =>
    `<span class="line${notes.has(at + 1) ? " marked" : ""}">${line}\n</span>`).join("");
  for (const [line, says] of notes) paper.children[line - 1]?.setAttribute("title", says);
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
  conflict.hidden = false;
  say("Not saved: the file was changed elsewhere");
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
    else say(`Not saved: ${file.says}`);
    if (!answer.ok) return;
  } catch {
    say("Not saved: `learn web` does not answer");
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
  if (!theirs) say("…");
  clearTimeout(timer);
  timer = setTimeout(save, PAUSE_MS);
});
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") { event.preventDefault(); save(); }
});
addEventListener("beforeunload", (event) => { if (hasNews()) { save(); event.preventDefault(); } });
document.getElementById("theirs").addEventListener("click", () => { take(theirs); area.focus(); });
document.getElementById("mine").addEventListener("click", () => {
  known = theirs;
  theirs = null;
  conflict.hidden = true;
  save();
  area.focus();
});
work.addEventListener("news", async ({ detail }) => {
  if (detail.version && detail.version !== known.version && !writing) {
    const answer = await fetch(address);
    if (answer.ok) meet(await answer.json());
  }
  if (detail.lines && !hasNews()) { marks = detail.lines; draw(); }
});

takeKeys(area);
draw();
