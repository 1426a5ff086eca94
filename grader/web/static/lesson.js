// The lesson's page: the verdict on each save, copy buttons, and the trap that was stepped into.
const work = document.querySelector(".work");
const state = document.getElementById("state");
const verdict = document.getElementById("verdict");

const WORDS = { new: "Not begun: write the file, and save it", waiting: "Starting the judge …", working: "Checking …", trouble: "No verdict on this save", passed: "Every check passes", failed: "Not yet" };

function show(event) {
  work.dataset.state = event.state;
  state.textContent = WORDS[event.state] ?? "";
  verdict.classList.toggle("old", event.state === "working");
  work.dispatchEvent(new CustomEvent("news", { detail: event }));
  if (event.html === undefined) return;
  const parsed = new DOMParser().parseFromString(event.html, "text/html"); // made by the server, of escaped text
  verdict.replaceChildren(...parsed.body.childNodes);
  unfoldTraps(event.mistakes ?? []);
}

function unfoldTraps(mistakes) {
  for (const trap of document.querySelectorAll(".trap")) {
    const isYours = mistakes.some((id) => trap.dataset.mistakes.split(" ").includes(id));
    trap.open ||= isYours;
    trap.classList.toggle("yours", isYours);
  }
}

for (const block of document.querySelectorAll(".block.python")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("code").textContent + "\n");
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  block.prepend(button);
}

const source = new EventSource(`/events/${work.dataset.lesson}`);
source.addEventListener("message", (message) => show(JSON.parse(message.data)));
source.addEventListener("error", () => { state.textContent = "Not connected: is `learn web` running?"; });
