// Parts of the page that change in place: what a form in one sends is answered by a page, whose part takes its place.
import { takeQuizKeys } from "/static/quiz.js";

function say(part, textContent) {
  part.querySelector(":scope > .refused")?.remove();
  part.append(Object.assign(document.createElement("p"), { className: "notice refused", role: "alert", textContent }));
}

async function replacePart(part, address, options) {
  part.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(address, options).catch(() => null);
    if (!answer?.headers.get("content-type")?.startsWith("text/html")) {
      const isLost = !answer || answer.status === 403; // what to do then is said beside the work
      say(part, isLost ? "Not sent: `learn web` does not answer this page. Every answer until here is kept." : await answer.text());
      return;
    }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html"); // made by the server, of escaped text
    const found = page.querySelector(part.dataset.part) ?? page.querySelector("main");
    part.replaceChildren(...(found.id === part.id ? found.childNodes : [found]));
    const first = part.querySelector("[autofocus]") ?? [...part.querySelectorAll(".hint")].at(-1) ?? part.lastElementChild;
    if (!first.matches("a, input, button")) first.tabIndex = -1;
    first.focus({ preventScroll: true });
    part.scrollIntoView({ block: "nearest" }); // its end, and then its beginning: the verdict comes before what is next
    if (part.getBoundingClientRect().top < 0) part.scrollIntoView({ block: "start" });
  } finally {
    part.removeAttribute("aria-busy");
  }
}

for (const part of document.querySelectorAll("[data-part]")) {
  if (part.dataset.part === ".question") takeQuizKeys(part); // first, since it holds back what is no answer
  part.addEventListener("submit", (event) => {
    event.preventDefault();
    const body = new URLSearchParams(new FormData(event.target, event.submitter));
    replacePart(part, event.target.action, { method: "POST", body });
  });
  part.addEventListener("click", (event) => {
    const next = event.target.closest("#next");
    if (!next || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    replacePart(part, next.href, {});
  });
}
