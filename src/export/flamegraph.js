// SPDX-License-Identifier: MIT
// What makes the picture of a flame graph answer: zoom by a click, search, numbers of the frame under the pointer. The
// picture is complete without it. Names of functions are never put anywhere but into text nodes.
"use strict";
(() => {
  const LEFT = 10, LEAST_WIDTH = 480;
  const svg = document.documentElement;
  const find = (id) => document.getElementById(id);
  const total = Number(svg.dataset.total);
  const height = Number(svg.getAttribute("height"));
  const tip = find("tip"), tools = find("tools"), reset = find("reset"), search = find("search"), found = find("found");

  // b: when it begins, t: how long it is, s: without what it calls, c: calls, d: depth; n: samples of a
  // profile, m: those that are of the frame itself. In the order of the picture,
  // so that a frame comes before those below it.
  const frames = Array.from(document.querySelectorAll(".f"), (group) => {
    const title = group.querySelector("title");
    const [name, module] = title.textContent.split("\n");
    const { b, t, s, c, d, n, m } = group.dataset;

    title.remove(); // we show more than that
    group.setAttribute("aria-label", name);
    return { group, rect: group.querySelector("rect"), text: group.querySelector("text"), name, module,
             n: Number(n || 0), m: Number(m || 0), b: Number(b), t: Number(t), s: Number(s), c: Number(c), d: Number(d) };
  });
  const root = frames[0];
  let zoomed = root, width = 0, letter = 7.2;

  // ---- layout -------------------------------------------------------------------------------------------------------
  const isOuter = (f) => f.d < zoomed.d && f.b <= zoomed.b && f.b + f.t >= zoomed.b + zoomed.t;
  const isInner = (f) => f.d >= zoomed.d && f.b >= zoomed.b && f.b + f.t <= zoomed.b + zoomed.t;

  function fit(name, room) {
    const letters = Array.from(name), most = Math.floor((room - 8) / letter);

    if (letters.length <= most)
      return name;
    return most < 3 ? "" : letters.slice(0, most - 1).join("") + "\u2026";
  }

  function place(f) {
    const outer = isOuter(f);
    const room = width - 2 * LEFT;
    const x = outer ? LEFT : LEFT + (f.b - zoomed.b) / zoomed.t * room;
    const w = outer ? room : f.t / zoomed.t * room;

    f.group.style.display = outer || (isInner(f) && w >= 0.2) ? "" : "none";
    f.group.classList.toggle("outer", outer);
    if (f.group.style.display !== "")
      return;
    f.rect.setAttribute("x", x.toFixed(2));
    f.rect.setAttribute("width", Math.max(w, 0.2).toFixed(2));
    f.text.setAttribute("x", (x + 4).toFixed(2));
    f.text.textContent = fit(f.name, w);
  }

  function layout() {
    width = Math.max(LEAST_WIDTH, window.innerWidth || 1200);
    svg.removeAttribute("viewBox");
    svg.setAttribute("width", width);
    svg.setAttribute("height", Math.max(height, window.innerHeight - 1));
    tools.setAttribute("x", width - LEFT - Number(tools.getAttribute("width")));
    frames.forEach(place);
    reset.disabled = zoomed === root;
  }

  function zoom(f) {
    zoomed = f.t > 0 ? f : root;
    hideTip();
    layout();
  }

  // ---- numbers ------------------------------------------------------------------------------------------------------
  const whole = (number) => number.toLocaleString("en-US");
  const percent = (part, all) => (all > 0 ? 100 * part / all : 0).toFixed(1) + "\u00a0%";

  function duration(ns) {
    // What would be rounded up to 1000 is one of the next.
    const units = [[999.95e6, 1e9, "s"], [999.95e3, 1e6, "ms"], [999.5, 1e3, "us"]];
    const unit = units.find(([least]) => ns >= least);

    return unit ? (ns / unit[1]).toPrecision(4) + "\u00a0" + unit[2] + " (" + whole(ns) + "\u00a0ns)" : ns + "\u00a0ns";
  }

  function describe(f) {
    const lines = [];

    for (let at = 0; at < f.name.length && lines.length < 6; at += 100)
      lines.push([f.name.slice(at, at + 100), "name"]);
    if (f.module)
      lines.push([f.module, ""]);
    if (f.n > 0) {
      lines.push([whole(f.n) + (f.n === 1 ? " sample, " : " samples, ") + percent(f.t, total) + " of all" +
                  (zoomed === root ? "" : ", " + percent(f.t, zoomed.t) + " of what is shown"), ""]);
      lines.push(["itself " + whole(f.m) + ", " + percent(f.s, total), ""]);
      return lines;
    }
    lines.push([duration(f.t) + ", " + percent(f.t, total) + " of all" +
                (zoomed === root ? "" : ", " + percent(f.t, zoomed.t) + " of what is shown"), ""]);
    if (f.c > 0) {
      lines.push(["itself " + duration(f.s) + ", " + percent(f.s, total), ""]);
      lines.push([whole(f.c) + (f.c === 1 ? " call" : " calls, " + duration(Math.round(f.t / f.c)) + " each"), ""]);
    }
    return lines;
  }

  // ---- the tip ------------------------------------------------------------------------------------------------------
  function hideTip() {
    tip.style.display = "none";
  }

  function fillTip(f) {
    const text = tip.querySelector("text");

    text.replaceChildren(...describe(f).map(([line, kind], i) => {
      const span = document.createElementNS(svg.namespaceURI, "tspan");

      span.textContent = line;
      span.setAttribute("x", 9);
      span.setAttribute("y", 18 + i * 17);
      span.setAttribute("class", kind);
      return span;
    }));
    tip.style.display = "";
    const box = text.getBBox();
    tip.querySelector("rect").setAttribute("width", box.width + 18);
    tip.querySelector("rect").setAttribute("height", box.height + 14);
  }

  function showTip(f, event) {
    fillTip(f);
    const box = tip.querySelector("rect").getBBox();
    const scrolled = window.scrollY, right = width - box.width - 4, below = event.clientY + 18;
    const y = below + box.height < window.innerHeight ? below : Math.max(0, event.clientY - box.height - 10);
    tip.setAttribute("transform", `translate(${Math.max(4, Math.min(event.clientX + 12, right))} ${y + scrolled})`);
  }

  // ---- search -------------------------------------------------------------------------------------------------------
  function look() {
    const wanted = search.value.trim().toLowerCase();
    let covered = 0, sum = 0, count = 0;

    for (const f of frames) {
      const is = wanted !== "" && f !== root && (f.name + "\n" + f.module).toLowerCase().includes(wanted);

      f.group.classList.toggle("found", is);
      count += is;
      // What is below one that was found is part of it.
      if (is && f.b >= covered) {
        sum += f.t;
        covered = f.b + f.t;
      }
    }
    if (wanted === "")
      found.textContent = "";
    else
      found.textContent = count === 0 ? "not found" : whole(count) + " found, " + percent(sum, total);
  }

  // ---- what people do -----------------------------------------------------------------------------------------------
  const frameOf = (event) => {
    const group = event.target.closest && event.target.closest(".f");
    return group && frames[Number(group.dataset.i)];
  };

  frames.forEach((f, i) => { f.group.dataset.i = i; });
  find("frames").addEventListener("click", (event) => { const f = frameOf(event); if (f) zoom(f); });
  find("frames").addEventListener("mousemove", (event) => { const f = frameOf(event); if (f) showTip(f, event); });
  find("frames").addEventListener("mouseleave", hideTip);
  search.addEventListener("input", look);
  reset.addEventListener("click", () => zoom(root));
  window.addEventListener("resize", layout);
  window.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && search.value !== "") {
      search.value = "";
      look();
    } else if (event.key === "Escape") {
      zoom(root);
    }
  });

  function measure() {
    const text = root.text, before = text.textContent;

    text.textContent = "MMMMMMMMMM";
    letter = text.getComputedTextLength() / 10 || letter;
    text.textContent = before;
  }

  measure();
  tools.style.display = "";
  layout();
})();
