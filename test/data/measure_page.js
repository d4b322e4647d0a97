// What is wrong with a page of `zeropoint explain --html`, as a browser draws it; for test_explain_page.py.
(() => {
  const broken = [];
  const name = (element) => element.textContent.slice(0, 60).replace(/\s+/g, " ");
  const groups = [...document.querySelectorAll("svg g.op, svg g.port")];
  const boxes = groups.map((group) => group.querySelector("rect").getBoundingClientRect());
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  groups.forEach((group, i) => {
    for (const text of group.querySelectorAll("text")) {
      const drawn = text.getBoundingClientRect();
      if (drawn.width === 0) broken.push(`no text: ${name(group)}`);
      if (drawn.left < boxes[i].left || drawn.right > boxes[i].right ||
          drawn.top < boxes[i].top || drawn.bottom > boxes[i].bottom) broken.push(`text outside: ${name(text)}`);
    }
    for (let k = 0; k < i; k++) {
      if (meet(boxes[i], boxes[k])) broken.push(`boxes meet: ${name(group)} and ${name(groups[k])}`);
    }
  });
  for (const text of document.querySelectorAll("svg .edges text")) {
    const drawn = text.getBoundingClientRect();
    if (boxes.some((box) => meet(box, drawn))) broken.push(`label on a box: ${name(text)}`);
  }
  for (const cell of document.querySelectorAll("th, td")) {
    if (cell.scrollWidth > cell.clientWidth + 1) broken.push(`cell overflows: ${name(cell)}`);
  }
  const svg = document.querySelector("svg").getBoundingClientRect();
  const frame = document.querySelector(".graph").getBoundingClientRect();
  if (svg.right > frame.right + 1) broken.push("the graph is wider than its frame");
  for (const table of document.querySelectorAll(".scroll")) {
    if (table.scrollWidth > table.clientWidth) broken.push("a table is wider than the page");
  }
  if (document.documentElement.scrollWidth > window.innerWidth) broken.push("the page is wider than the window");
  document.getElementById("measured").textContent = JSON.stringify({
    title: document.title,
    ops: document.querySelectorAll("svg g.op").length,
    rows: document.querySelectorAll("tr[id^='op-']").length,
    broken,
  });
})();
