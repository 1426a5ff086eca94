// Keys of the quiz: letters pick, u takes back, 1 to 3 say how sure, ? is "I do not know", Enter goes on.
// A formula is shown as the server reads it, while it is typed.
const PAUSE_MS = 150;

async function showReading(reading, typed) {
  const address = `${reading.dataset.at}?${new URLSearchParams({ typed })}`;
  reading.dataset.typed = typed;
  const answer = await fetch(address).catch(() => null);
  const page = new DOMParser().parseFromString(answer?.ok ? await answer.text() : "", "text/html"); // made by the server
  if (reading.dataset.typed === typed) reading.replaceChildren(...page.body.childNodes);
}

export function takeQuizKeys(root) {
  const find = (selector) => root.querySelector(selector);
  const findField = () => find("#answer input[name=typed]:not([type=radio]):not([type=checkbox])");
  const findButtons = () => [...root.querySelectorAll("#answer button[name=certainty]")];

  root.addEventListener("submit", (event) => {
    if (event.target.id !== "answer") return;
    const field = findField();
    const picked = find("#answer input:checked") ?? (field?.value.trim() || find("#answer [type=checkbox]"));
    if (picked || event.submitter?.value === "?") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    (field ?? find("#answer input[name=typed]")).focus();
  });
  let pause = 0;
  root.addEventListener("input", (event) => {
    const reading = find("#reading");
    if (!reading || event.target !== findField()) return;
    clearTimeout(pause);
    pause = setTimeout(showReading, PAUSE_MS, reading, event.target.value);
  });
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = findField();
    if (field && event.target === field) {
      if (event.key !== "Enter") return;
      if (field.value.trim()) findButtons()[1].focus();
      event.preventDefault();
      return;
    }
    const option = find(`#answer input[name=typed][value="${CSS.escape(event.key.toLowerCase())}"]:not([type=text])`);
    const button = /^[1-3?]$/.test(event.key) ? findButtons()["123?".indexOf(event.key)] : null;
    const next = find("#next");
    if (option && option !== field) option.click();
    else if (button) button.click();
    else if (event.key === "u" && find("#answer")) { root.querySelectorAll("#answer input:checked").forEach((each) => { each.checked = false; }); field?.focus(); }
    else if (event.key === "Enter" && next && event.target.tagName !== "SUMMARY") next.click();
    else return;
    event.preventDefault();
  });
}

if (!document.querySelector("[data-part]")) takeQuizKeys(document);
