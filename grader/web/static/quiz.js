// Keys of the quiz: letters pick, u takes back, 1 to 3 say how sure, ? is "I do not know", Enter goes on.
const form = document.getElementById("answer");
const next = document.getElementById("next");
const field = form?.querySelector("input[name=typed]:not([type=radio]):not([type=checkbox])");
const buttons = [...(form?.querySelectorAll("button[name=certainty]") ?? [])];

form?.addEventListener("submit", (event) => {
  const picked = form.querySelector("input[name=typed]:checked") ?? (field?.value.trim() || form.querySelector("[type=checkbox]"));
  if (!picked && event.submitter?.value !== "?") { event.preventDefault(); (field ?? form.querySelector("input[name=typed]")).focus(); }
});
field?.addEventListener("keydown", (event) => {
  if (event.key === "Enter") { event.preventDefault(); if (field.value.trim()) buttons[1].focus(); }
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target === field) return;
  const option = form?.querySelector(`input[name=typed][value="${CSS.escape(event.key.toLowerCase())}"]:not([type=text])`);
  const button = /^[1-3?]$/.test(event.key) ? buttons["123?".indexOf(event.key)] : null;
  if (option && option !== field) option.click();
  else if (button) button.click();
  else if (event.key === "u") { form?.querySelectorAll("input:checked").forEach((each) => { each.checked = false; }); field?.focus(); }
  else if (event.key === "Enter" && next && event.target.tagName !== "SUMMARY") next.click();
  else return;
  event.preventDefault();
});
