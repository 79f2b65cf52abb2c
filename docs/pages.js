// Wide tables scroll: also with the keyboard.
addEventListener("load", () => {
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0
  }
})
