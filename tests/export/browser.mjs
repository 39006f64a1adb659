// SPDX-License-Identifier: MIT
// Opens what was exported in a real browser: browser.mjs MODULES FLAMEGRAPH SPEEDSCOPE TOTALS [SCREENSHOT]
//
// MODULES is the folder with playwright-core, speedscope and ajv; TOTALS is what totals.py says of the speedscope file.
// The flame graph is looked at as somebody would who clicks, searches and points at frames. The other file is checked
// by speedscope's own schema and then opened in speedscope. Says what is wrong, a line each.
import fs from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";

const [modules, flamegraph, profile, totalsFile, screenshot] = process.argv.slice(2).map((name) => path.resolve(name));
const require = createRequire(path.join(modules, "node_modules", "x"));
const { chromium } = require("playwright-core");
const Ajv = require("ajv");

let failures = 0, checks = 0;

function check(what, is, seen) {
  checks++;
  if (is)
    return;
  failures++;
  console.log(`FAILED: ${what}` + (seen === undefined ? "" : `: ${JSON.stringify(seen)}`));
}

// Without the network, of which there may be none, and with pictures made by the CPU.
const launch = () => chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  timeout: 20000,
});

// A page whose errors, dialogs and requests are noted.
async function openPage(browser, address) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  const noted = { errors: [], dialogs: [], requests: [] };

  page.setDefaultTimeout(10000);
  page.on("pageerror", (error) => noted.errors.push(error.message));
  page.on("dialog", (dialog) => { noted.dialogs.push(dialog.message()); dialog.dismiss(); });
  page.on("request", (request) => noted.requests.push(request.url()));
  await page.goto(address);
  return { page, noted };
}

// ---- the flame graph ------------------------------------------------------------------------------------------------
// The first frame whose name begins so: where it is drawn, and its numbers.
const frameAt = (page, name) => page.evaluate((wanted) => {
  // Labels may be cut off, or not be there at all.
  const groups = Array.from(document.querySelectorAll(".f"));
  const group = groups.find((g) => g.getAttribute("aria-label").startsWith(wanted));

  if (!group)
    return null;
  const box = group.querySelector("rect").getBoundingClientRect();
  return { x: box.x, y: box.y, width: box.width, height: box.height, ...group.dataset,
           shown: group.style.display !== "none", colour: getComputedStyle(group.querySelector("rect")).fill };
}, name);

const tipOf = async (page, frame) => {
  await page.mouse.move(frame.x + frame.width / 2, frame.y + 8);
  return page.evaluate(() => Array.from(document.querySelectorAll("#tip tspan"), (line) => line.textContent));
};
const shownCount = (page) => page.evaluate(() =>
  Array.from(document.querySelectorAll(".f")).filter((g) => g.style.display !== "none").length);
const clickOn = (page, frame) => page.mouse.click(frame.x + frame.width / 2, frame.y + 8);
const grouped = (number) => Number(number).toLocaleString("en-US");

async function checkDrawn(page) {
  const all = await frameAt(page, "all"), main = await frameAt(page, "main"), total = Number(all.t);

  check("the outermost frame is as wide as the page", all.width > 1240 && all.width <= 1280, all);
  const isBelow = main.y > all.y && main.x >= all.x && main.x + main.width <= all.x + all.width + 1;
  check("a frame is below its caller's", isBelow, main);
  const difference = main.width / all.width - Number(main.t) / total;
  check("a frame is as wide as its part of all", Math.abs(difference) < 0.01, main);
  const tip = await tipOf(page, main);
  check("a tip tells the name", tip[0] === "main", tip);
  check("a tip tells the exact time", tip[2].includes(`(${grouped(main.t)}\u00a0ns)`), tip);
  check("a tip tells the part", tip[2].includes(`${(100 * Number(main.t) / total).toFixed(1)}\u00a0% of all`), tip);
  check("a tip tells calls", tip[4] === "1 call", tip);
}

async function checkZoom(page) {
  const before = await shownCount(page);

  check("the other threads are there", (await frameAt(page, "work")).shown);
  await clickOn(page, await frameAt(page, "main"));
  const zoomed = await frameAt(page, "main"), outer = await frameAt(page, "all");
  check("a frame that is clicked fills the page", zoomed.width > 1240 && zoomed.shown, zoomed);
  check("its callers stay", outer.width > 1240 && outer.shown, outer);
  check("others go", !(await frameAt(page, "work")).shown);
  const tip = await tipOf(page, zoomed);
  check("a tip tells the part of what is shown", tip[2].includes("100.0\u00a0% of what is shown"), tip);
  await page.click("#reset");
  check("the button shows all again", await shownCount(page) === before);
  await clickOn(page, await frameAt(page, "main"));
  await page.keyboard.press("Escape");
  check("so does Escape", await shownCount(page) === before);
}

async function checkSearch(page) {
  const main = await frameAt(page, "main"), total = Number((await frameAt(page, "all")).t);
  const part = (100 * Number(main.t) / total).toFixed(1);

  await page.keyboard.press("/");
  await page.keyboard.type("MAIN");
  const found = await page.textContent("#found"), marked = await frameAt(page, "main");
  check("what was found is counted, with its part", found === `1 found, ${part}\u00a0%`, found);
  check("what was found has another colour", marked.colour !== main.colour, marked);
  await page.fill("#search", "no such function");
  check("what is not there is said", await page.textContent("#found") === "not found");
  await page.fill("#search", "");
  check("without a search nothing is marked", (await frameAt(page, "main")).colour === main.colour);
}

async function checkHarm(page, noted) {
  const place = await frameAt(page, "<script>");

  check("a name that is a script is shown", place !== null && place.width > 1, place);
  if (place) {
    const label = await page.evaluate(() => document.querySelector('.f[aria-label^="<script>"] text').textContent);
    const tip = await tipOf(page, place);

    const beginning = label.slice(0, 21).replace("\u2026", "");
    check("as far as there is room", "<script>window.harm=1".startsWith(beginning), label);
    check("all of it in a tip", tip[0].startsWith("<script>window.harm=1;alert(1)</script><img src=x onerror="), tip);
    await clickOn(page, place);
    await page.fill("#search", "<script>");
    check("it can be searched", (await page.textContent("#found")).startsWith("1 found"));
    await page.fill("#search", "");
    await page.keyboard.press("Escape");
  }
  check("it does not run", await page.evaluate(() => window.harm === undefined));
  check("nobody is asked anything", noted.dialogs.length === 0, noted.dialogs);
  check("it is no element", await page.evaluate(() => document.querySelectorAll("script, img, image").length) === 1);
}

async function checkNarrow(page) {
  await page.setViewportSize({ width: 600, height: 500 });
  await page.waitForFunction(() => document.documentElement.getAttribute("width") === "600");
  const all = await frameAt(page, "all");
  check("a narrower window has narrower frames", all.width > 560 && all.width < 600, all);
  const overflowing = await page.evaluate(() => Array.from(document.querySelectorAll(".f")).filter((g) =>
    g.style.display !== "none" && g.querySelector("text").textContent !== "" &&
    g.querySelector("text").getBBox().width > g.querySelector("rect").getBBox().width).length);
  check("labels stay inside of their frames", overflowing === 0, overflowing);
}

async function checkFlamegraph(browser) {
  const { page, noted } = await openPage(browser, "file://" + flamegraph);

  await checkDrawn(page);
  if (screenshot)
    await page.screenshot({ path: screenshot });
  await checkZoom(page);
  await checkSearch(page);
  await checkHarm(page, noted);
  await checkNarrow(page);
  check("there are no errors", noted.errors.length === 0, noted.errors);
  check("nothing else is loaded", noted.requests.length === 1, noted.requests);
  await page.close();
}

// ---- speedscope -----------------------------------------------------------------------------------------------------
const release = path.join(modules, "node_modules", "speedscope", "dist", "release");

function checkSchema() {
  const schema = JSON.parse(fs.readFileSync(path.join(release, "file-format-schema.json")));
  const validate = new Ajv({ strict: false }).compile(schema);

  check("speedscope's schema is kept", validate(JSON.parse(fs.readFileSync(profile))), validate.errors);
}

// Speedscope is a page that wants a server.
async function serve() {
  const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };
  const server = http.createServer((request, response) => {
    const name = decodeURIComponent(request.url.split(/[?#]/)[0]);
    const asked = path.join(release, name === "/" ? "index.html" : path.normalize(name));
    const file = name === "/profile.json" ? profile : asked;
    const type = types[path.extname(file)] || "application/octet-stream";

    fs.readFile(file, (error, bytes) => {
      response.writeHead(error ? 404 : 200, { "content-type": type });
      response.end(error ? "" : bytes);
    });
  });

  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return server;
}

// "13.10ms (96%)"
function toNanoseconds(text) {
  const [, number, unit] = /^([\d.,]+)(ns|µs|us|ms|s)/.exec(text.trim()) || [];

  return number === undefined ? NaN : parseFloat(number) * { ns: 1, "µs": 1e3, us: 1e3, ms: 1e6, s: 1e9 }[unit];
}

const isNear = (shown, exact) => Math.abs(shown - exact) <= 0.006 * exact + 6;

async function checkSpeedscope(browser) {
  const server = await serve();
  const address = `http://127.0.0.1:${server.address().port}/#profileURL=/profile.json`;
  const { page, noted } = await openPage(browser, address);

  await page.getByText("Sandwich").click();
  await page.getByText("spend", { exact: true }).first().waitFor();
  const rows = new Map((await page.evaluate(() => Array.from(document.querySelectorAll("tr"), (row) =>
    Array.from(row.cells, (cell) => cell.innerText)))).filter((cells) => cells.length === 3)
    .map(([total, self, name]) => [name.trim(), [toNanoseconds(total), toNanoseconds(self)]]));
  const totals = fs.readFileSync(totalsFile, "utf8").trim().split("\n").map((line) => line.split("\t"));
  for (const [name, , total, self] of totals.filter(([name]) => name !== "down")) {
    const shown = rows.get(name);

    check(`speedscope shows ${name}`, shown !== undefined, Array.from(rows.keys()));
    if (shown)
      check(`the times of ${name} in speedscope`, isNear(shown[0], Number(total)) && isNear(shown[1], Number(self)),
            { shown, total, self });
  }
  check("speedscope has no errors", noted.errors.length === 0, noted.errors);
  server.close();
}

const browser = await launch();
try {
  checkSchema();
  await checkFlamegraph(browser);
  await checkSpeedscope(browser);
} finally {
  await browser.close();
}
console.log(`${checks} checks in the browser, ${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
