// Commands that can be copied: [data-copy] gets a button.

function addButton(element) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.dataset.made = "";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(element.querySelector("code").textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(element.querySelector("code"));
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  element.append(button);
}

export function showCopyButtons(root) {
  for (const element of root.querySelectorAll("[data-copy]")) {
    if (!element.querySelector(".copy")) addButton(element);
  }
}
