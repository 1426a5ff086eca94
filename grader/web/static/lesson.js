// The lesson's page: the verdict on each save, copy buttons, and the trap that was stepped into.
const work = document.querySelector(".work");
const state = document.getElementById("state");
const verdict = document.getElementById("verdict");
const pictures = document.getElementById("pictures");
let shown = "";
let drawn;

const WORDS = { new: "The exercise is empty: write it, and save it", waiting: "Starting the judge …", working: "Checking …", trouble: "No verdict on this save", passed: "Every check passes", failed: "Not yet" };

function show(event) {
  work.dataset.state = event.state;
  state.textContent = event.score ? `${event.score} / 10, looking for the mistake …` : WORDS[event.state] ?? "";
  for (const each of [verdict, pictures]) each.classList.toggle("old", event.state === "working");
  if (event.pictures !== undefined && event.pictures !== drawn) {
    drawn = event.pictures;
    fill(pictures.lastElementChild, drawn);
    pictures.hidden = event.pictures.trim() === "";
  }
  if (event.html !== undefined && event.html !== shown) { // else the same verdict again, with its pictures
    shown = event.html;
    fill(verdict, event.html);
    unfoldTraps(event.mistakes ?? []);
  }
  work.dispatchEvent(new CustomEvent("news", { detail: event }));
}

function fill(element, html) {
  element.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes); // made by the server, of escaped text
}

function unfoldTraps(mistakes) {
  for (const trap of document.querySelectorAll(".trap")) {
    const isYours = mistakes.some((id) => trap.dataset.mistakes.split(" ").includes(id));
    trap.open ||= isYours;
    trap.classList.toggle("yours", isYours);
  }
}

function copyable(block) { // a shell is given what stands behind its sign, and not what it answered
  const code = block.querySelector("code").textContent;
  const typed = block.matches(".commands") ? code.match(/(?<=^\$ ).*/gm) : null;
  return (typed?.join("\n") ?? code) + "\n";
}

for (const block of document.querySelectorAll(".block.python, .block.commands")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(copyable(block));
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  block.prepend(button);
}

// Whether the server is there: one place says that it is not, and the editor hears it, too.
const gone = document.getElementById("gone");
const RETRY_MS = 2000;
const DOWN = `\`learn web\` has ended, or does not answer. In a terminal, where your exercises are: \`learn web ${work.dataset.lesson}\`. What you write is not saved until then; keep this page open.`;
const REFUSED = "`learn web` was started again: open the link that it printed. This page then goes on, and saves what you have written.";

function lose(says) {
  if (says === gone.dataset.says && !gone.hidden) return; // said once, not with each attempt
  gone.dataset.says = says;
  gone.replaceChildren(...says.split("`").map((part, at) => (at % 2 ? Object.assign(document.createElement("code"), { textContent: part }) : part)));
  gone.hidden = false;
  state.textContent = "";
  work.dispatchEvent(new CustomEvent("gone"));
}

function goOn() {
  if (gone.hidden) return;
  gone.hidden = true;
  state.textContent = WORDS[work.dataset.state] ?? WORDS.waiting;
  work.dispatchEvent(new CustomEvent("back"));
  fetch(location.pathname); // as a page that is opened: a new judge looks at the file
}

function follow() {
  const source = new EventSource(`/events/${work.dataset.lesson}`);
  source.addEventListener("open", goOn);
  source.addEventListener("message", (message) => show(JSON.parse(message.data)));
  source.addEventListener("error", () => {
    const isRefused = source.readyState === EventSource.CLOSED; // another one has its port, with a key of its own
    lose(isRefused ? REFUSED : DOWN);
    if (isRefused) setTimeout(follow, RETRY_MS); // the browser itself tries only the others again
  });
}

addEventListener("load", follow); // when the editor hears them, too: the last event comes at once, and only once

// On a narrow page: the way to the work is in nobody's way where the work is in sight.
const jump = document.querySelector(".jump");
new IntersectionObserver(([seen]) => { jump.hidden = seen.isIntersecting; }).observe(document.getElementById("side"));
