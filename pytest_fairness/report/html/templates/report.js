"use strict";
// What is folded away is opened before the page is printed, and where a link leads to it. One link prints all of it.
(() => {
  const folded = () => document.querySelectorAll("details:not([open]):not(#attempts details)");
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...folded()];
    for (const each of opened) each.open = true;
  });
  addEventListener("afterprint", () => {
    for (const each of opened) each.open = false;
  });
  const reveal = () => {
    const target = location.hash.startsWith("#t") && document.getElementById(location.hash.slice(1));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  addEventListener("hashchange", reveal);
  const whole = document.getElementById("whole");
  if (whole) whole.addEventListener("click", () => setTimeout(print));
  reveal();
})();
