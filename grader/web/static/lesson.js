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
  state.textContent = WORDS[event.state] ?? "";
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

addEventListener("load", () => { // when the editor hears them, too: the last event comes at once, and only once
  const source = new EventSource(`/events/${work.dataset.lesson}`);
  source.addEventListener("message", (message) => show(JSON.parse(message.data)));
  source.addEventListener("error", () => {
    const isRefused = source.readyState === EventSource.CLOSED; // another one has its port, with a key of its own
    state.textContent = isRefused ? "learn web was started again: open the link that it printed, then load this page again" : "Not connected: is learn web running?";
  });
});

// On a narrow page: the way to the work is in nobody's way where the work is in sight.
const jump = document.querySelector(".jump");
new IntersectionObserver(([seen]) => { jump.hidden = seen.isIntersecting; }).observe(document.getElementById("side"));
