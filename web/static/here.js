// On a phone the places of the navigation and the tabs go on sideways: where one is, is brought into view.

export function showHere() {
  for (const here of document.querySelectorAll(".side [aria-current=page], .tabs [aria-current=page]")) {
    const list = here.closest(".side, .tabs");
    const left = here.getBoundingClientRect().left - list.getBoundingClientRect().left + list.scrollLeft;
    list.scrollLeft = left - (list.clientWidth - here.offsetWidth) / 2;
  }
}
