"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const verdicts = { f: ["✗", "fail"], h: ["‼", "harness error"], o: ["∅", "never seen"], w: ["!", "warn"], k: ["≈", "known"],
  u: ["?", "not judged"], p: ["✓", "pass"], i: ["i", "info"], n: ["–", "not applicable"], ".": ["", "not in this run"] };
const order = "fhowkupin";

// el makes an element. Texts are never HTML.
function el(name, props, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(props || {})) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (v !== undefined && v !== false) e.setAttribute(k === "cls" ? "class" : k, v === true ? "" : v);
  }
  e.append(...children.filter((c) => c !== undefined && c !== null && c !== ""));
  return e;
}
const columnName = (c) => (data.runs.length > 1 ? data.runs[c.run].client + " " : "") + c.revision;
const checkName = (i) => data.checks[i].s + "/" + data.checks[i].c;
const checkPage = (i) => data.pages + data.checks[i].s + ".md#" + data.checks[i].c;
const link = (url, text) => /^https?:/.test(url) ? el("a", { href: url, rel: "noreferrer" }, text) : text;

// Findings of one check, verdict and message (but for numbers), in several columns.
const groups = [];
const groupOf = new Map(); // column and check → group
{
  const known = new Map();
  for (const f of data.findings) {
    const key = [f.check, f.cell, f.message.replace(/\d+/g, "0")].join("\n");
    let g = known.get(key);
    if (!g) known.set(key, g = { members: [], index: groups.push(null) - 1 });
    groups[g.index] = g;
    g.members.push(f);
    if (!groupOf.has(f.column + " " + f.check)) groupOf.set(f.column + " " + f.check, g);
  }
  groups.sort((a, b) => order.indexOf(a.members[0].cell) - order.indexOf(b.members[0].cell) || a.index - b.index);
}

function runs() {
  for (const r of data.runs) {
    $("runs").append(el("p", {}, el("strong", {}, r.client), " ", el("span", { cls: r.failed ? "v-f" : "v-p" }, r.headline), " ",
      el("span", { cls: "soft whole" }, `mcp-conform ${r.tool} · seed ${r.seed}`)));
    for (const p of r.problems || [])
      $("runs").append(el("p", { cls: "v-f" }, `baseline ${p.place || ""} ${p.check}: ${p.kind}: ${p.message}`));
  }
  for (const v of order) $("legend").append(el("span", { cls: "v-" + v }, `${verdicts[v][0]} ${verdicts[v][1]}`));
}

// tally is the bar and the counts of a scenario in a column.
function tally(column, indexes) {
  const counts = {};
  for (const i of indexes) counts[column.cells[i]] = (counts[column.cells[i]] || 0) + 1;
  const shown = [...order].filter((v) => counts[v]);
  const title = shown.map((v) => `${counts[v]} ${verdicts[v][1]}`).join(", ");
  const bar = el("span", { cls: "bar", "aria-hidden": true });
  for (const v of shown) bar.append(el("span", { cls: "v-" + v, style: `flex:${counts[v]}` }));
  const box = el("div", { cls: "tally" }, shown.length ? bar : "");
  const bad = shown.filter((v) => "fhowk".includes(v));
  const best = [[..."pin"].find((v) => counts[v]), "u"].filter((v) => counts[v]);
  for (const v of bad.length ? bad : best) box.append(el("span", { cls: "v-" + v }, `${counts[v]} ${verdicts[v][0]} `));
  return el("td", { title, cls: column.cls }, box);
}

function checkRow(i) {
  const row = el("tr", { cls: "check" }, el("th", { scope: "row" }, link(checkPage(i), data.checks[i].c)));
  data.columns.forEach((column, n) => {
    const v = column.cells[i];
    const title = `${checkName(i)}, ${columnName(column)}: ${verdicts[v][1]}` + (v === "." ? "" : `: ${data.texts[column.messages[i]]}`);
    const group = groupOf.get(n + " " + i);
    const sign = group ? el("button", { cls: "cell v-" + v, type: "button", title, "aria-label": title, onclick: () => show(group) },
      verdicts[v][0]) : el("span", { cls: "cell v-" + v, title }, verdicts[v][0]);
    row.append(el("td", { cls: column.cls }, sign));
  });
  return row;
}

function overview() {
  const scenarios = new Map();
  data.checks.forEach((c, i) => scenarios.set(c.s, [...(scenarios.get(c.s) || []), i]));
  const clients = el("tr", {}, el("td"));
  const revisions = el("tr", {}, el("th", {}, "scenario"));
  data.columns.forEach((c, n) => {
    const first = n === 0 || data.columns[n - 1].run !== c.run;
    c.cls = `c${n}${first ? " first" : ""}`;
    if (first) {
      const name = data.runs[c.run].client;
      data.runs[c.run].head = el("th", { cls: "first", title: name }, name);
      clients.append(data.runs[c.run].head);
    }
    revisions.append(el("th", { cls: c.cls }, c.revision));
  });
  $("overview").append(el("thead", {}, clients, revisions));
  const folds = [];
  for (const [name, indexes] of scenarios) {
    const body = el("tbody");
    const button = el("button", { type: "button", "aria-expanded": "false", onclick: () => fold(!open) }, "▸ " + name);
    let open = false;
    const fold = (to) => {
      open = to;
      button.setAttribute("aria-expanded", String(open));
      button.textContent = (open ? "▾ " : "▸ ") + name;
      while (body.rows.length > 1) body.rows[1].remove();
      const differ = (i) => new Set(data.columns.map((c) => c.cells[i]).filter((v) => v !== ".")).size > 1;
      if (open) body.append(...indexes.filter((i) => !$("differ").checked || differ(i)).map(checkRow));
    };
    folds.push((to) => fold(to === undefined ? open : to));
    body.append(el("tr", {}, el("th", { scope: "row" }, button), ...data.columns.map((c) => tally(c, indexes))));
    $("overview").append(body);
  }
  let all = false;
  $("unfold").addEventListener("click", () => {
    all = !all;
    $("unfold").textContent = all ? "fold all" : "unfold all";
    folds.forEach((fold) => fold(all));
  });
  $("differ").addEventListener("change", () => folds.forEach((fold) => fold()));
}

// path splits params.messages[2].content into its steps.
const split = (path) => (path.match(/[^.[\]]+/g) || []);

// Digits is a number as it is written, such as 1.0, or one that JavaScript would round. Older browsers do not give the source.
class Digits { constructor(text) { this.text = text; } }
const digits = (key, v, context) => (typeof v === "number" && context && context.source ? new Digits(context.source) : v);

// pretty writes JSON, and marks the values at the paths. Of a missing value it marks the parent.
function pretty(text, paths) {
  const out = el("pre", { tabindex: 0 }); // it scrolls
  let value;
  try { value = JSON.parse(text, digits); } catch { return null; }
  const wanted = paths.map((p) => ({ steps: split(p.path), missing: p.missing }));
  const write = (v, indent, wanted, into) => {
    const here = wanted.some((w) => w.steps.length === 0);
    if (here) { const m = el("mark"); into.append(m); into = m; }
    if (v instanceof Digits) { into.append(v.text); return; }
    if (v === null || typeof v !== "object") { into.append(JSON.stringify(v)); return; }
    const list = Array.isArray(v), keys = Object.keys(v), pad = "  ".repeat(indent + 1);
    into.append(list ? "[" : "{");
    keys.forEach((k, n) => {
      into.append("\n" + pad + (list ? "" : JSON.stringify(k) + ": "));
      const below = wanted.filter((w) => w.steps.length && w.steps[0] === k).map((w) => ({ ...w, steps: w.steps.slice(1) }));
      write(v[k], indent + 1, below, into);
      if (n < keys.length - 1) into.append(",");
    });
    for (const w of wanted) if (w.steps.length === 1 && !keys.includes(w.steps[0]))
      into.append("\n" + pad, el("mark", { cls: "missing" }, `← ${w.steps[0]} is missing`));
    into.append((keys.length ? "\n" + "  ".repeat(indent) : "") + (list ? "]" : "}"));
  };
  write(value, 0, wanted, out);
  return out;
}

// excerpt is a line of JSON with its place marked.
function excerpt(x) {
  const text = [...x.text];
  return el("pre", {}, text.slice(0, x.start).join(""), el("mark", {}, text.slice(x.start, x.start + x.length).join("")),
    text.slice(x.start + x.length).join(""), x.missing ? el("span", { cls: "missing" }, `  ← ${x.path} is missing`) : "");
}

// places are the paths of a step's message that the verdict rests on. Lines of its text may begin with more exact ones.
function places(step, f) {
  let all = (step.excerpts || []).map((x) => ({ path: x.path, missing: x.missing }));
  for (const e of f.evidence) {
    if (e.seq !== step.seq || e.case !== step.case) continue;
    const lines = (e.text || "").split("\n").map((l) => l.match(/^([\w$]+(?:\[\d+\]|\.[\w$-]+)+)  /)).filter(Boolean);
    const base = e.path || "";
    if (lines.length) all = all.filter((p) => p.path !== base || p.missing);
    for (const l of lines) all.push({ path: (base ? base + "." : "") + l[1] });
    if (!lines.length && base) all.push({ path: base });
  }
  return all;
}

function message(step, f) {
  if (step.message < 0) {
    const parts = (step.excerpts || []).map(excerpt);
    return parts.length ? parts : [el("pre", { cls: "soft" }, "this page has no message: make it from a folder of --out")];
  }
  const text = data.texts[step.message];
  return [pretty(text, places(step, f)) || el("pre", { tabindex: 0 }, text)];
}

// picture is the sequence of messages: server, a gateway if there is one, client, model.
function picture(f) {
  const gateway = (f.around || []).some((step) => step.from === "gateway" || step.to === "gateway");
  const lanes = ["server", ...(gateway ? ["gateway"] : []), "client", "model"];
  const box = el("div", { cls: gateway ? "sequence four" : "sequence" }, el("div", { cls: "lanes" }, ...lanes.map((l) => el("span", {}, el("span", {}, l)))));
  const last = {}; // by case: the session's own messages have numbers of their own
  for (const step of f.around || []) {
    const of = step.case || "";
    if (last[of] && step.seq > last[of] + 40) box.append(el("div", { cls: "gap" }, "⋮"));
    last[of] = step.seq;
    const from = lanes.indexOf(step.from), to = lanes.indexOf(step.to);
    const arrow = from >= 0 && to >= 0 && from !== to;
    const at = arrow ? Math.min(from, to) * 2 + 2 : Math.max(from, 0) * 2 + 1;
    const says = el("span", { cls: arrow ? (from < to ? "right" : "left") : "",
      style: `--at: ${at} / span ${arrow ? Math.abs(from - to) * 2 : 2}` },
      el("span", { cls: arrow ? "label" : "label note" }, `#${step.seq} ${step.says}`),
      arrow ? el("span", { cls: "arrow" }) : "");
    const details = el("details", { cls: "step" + (step.marked ? " marked" : "") },
      el("summary", { title: `${step.from}${step.to ? " → " + step.to : ""}: ${step.says}` }, says));
    details.addEventListener("toggle", () => {
      if (!details.open || details.children.length > 1) return;
      details.append(...message(step, f));
      const mark = details.querySelector("mark"), pre = mark && mark.closest("pre");
      if (pre) pre.scrollTop += mark.getBoundingClientRect().top - pre.getBoundingClientRect().top - pre.clientHeight / 3;
    });
    box.append(details);
  }
  return box;
}

// copied is a text with a button that copies it. navigator.clipboard is missing in a page from a file.
function copied(text) {
  const code = el("code", {}, text);
  const button = el("button", { type: "button", cls: "copy", onclick: () => {
    getSelection().selectAllChildren(code);
    if (document.execCommand("copy")) button.textContent = "copied";
  } }, "copy");
  return [code, " ", button];
}

function body(f) {
  const dl = el("dl");
  const line = (label, ...text) => { if (text.some(Boolean)) dl.append(el("dt", {}, label), el("dd", {}, ...text)); };
  if (f.known) line("known", [f.known.reason, f.known.owner, f.known.until && "until " + f.known.until, f.known.flaky && "flaky"]
    .filter(Boolean).join(" · "));
  if (f.known && f.known.issue) line("issue", link(f.known.issue, f.known.issue));
  for (const e of f.evidence)
    line(e.label, el("span", { cls: "soft" }, [e.event, e.path, e.seq ? `[${e.case || "session"} #${e.seq}]` : ""].filter(Boolean).join("  ")),
      e.text ? "\n" : "", e.text ? el("code", {}, e.text) : "");
  if (f.requirement) line("requirement", f.requirement.text || "", " ", link(f.requirement.url, f.requirement.id));
  line("same cause as", f.same_as || "");
  line("likely cause", f.cause || "");
  line("fix", f.fix || "");
  line("about the check", link(checkPage(f.check), "rule, causes, and an example that fails"));
  if (f.reproduce) line("reproduce", ...copied(f.reproduce));
  const parts = [dl];
  if ((f.around || []).length) parts.push(el("h3", {}, "What happened", el("span", { cls: "soft" }, ` in ${f.case} · click a message to read it`)), picture(f));
  const failing = (f.cases || []).filter((c) => c.verdict === f.verdict);
  if (failing.length > 1) parts.push(el("h3", {}, `${failing.length} cases`), el("ul", {},
    ...failing.map((c) => el("li", {}, el("code", {}, c.case), " ", c.message))));
  return parts;
}

function details(g) {
  const f = g.members[0], v = f.cell;
  const chips = g.members.slice(0, 6).map((m) => el("span", { cls: "chip" }, columnName(data.columns[m.column])));
  if (g.members.length > 6) chips.push(el("span", { cls: "chip" }, `${g.members.length - 6} more`));
  g.node = el("details", { cls: "finding v-" + v, id: "finding-" + g.index }, el("summary", {},
    el("span", { cls: "verdict v-" + v }, `${verdicts[v][0]} ${verdicts[v][1]} `), el("strong", {}, checkName(f.check)), " ",
    f.difference ? el("span", { cls: "whole" }, f.difference + " ") : "", el("span", { cls: "soft" }, f.level + " "), ...chips,
    el("span", { cls: "says" }, f.message)));
  g.fill = () => {
    if (g.node.children.length > 1) return;
    const inside = el("div", { cls: "body" });
    const choose = (m) => inside.replaceChildren(...(g.members.length > 1 ? [picker(m)] : []), ...body(m));
    const picker = (m) => el("label", {}, "shown: ", select(g.members.map((one) => columnName(data.columns[one.column])),
      g.members.indexOf(m), (n) => choose(g.members[n])));
    choose(f);
    g.node.append(inside);
  };
  g.node.addEventListener("toggle", () => { if (g.node.open) g.fill(); });
  g.text = [checkName(f.check), f.level, f.difference || "", verdicts[v][1], ...g.members.map((m) => m.message + " " + (m.fix || "") + " " + (m.dialects || "") +
    " " + (m.cases || []).map((c) => c.case).join(" "))].join(" ").toLowerCase();
  return g.node;
}

function select(options, chosen, change) {
  const s = el("select", { onchange: () => change(s.selectedIndex) }, ...options.map((o) => el("option", {}, o)));
  s.selectedIndex = chosen;
  return s;
}

const hidden = new Set();
function filters() {
  const fill = (id, label, values) => {
    $(id).append(el("option", { value: "" }, label), ...values.map(([value, text]) => el("option", { value }, text)));
    $(id).addEventListener("change", filter);
  };
  const distinct = (values) => [...new Set(values)].map((v) => [v, v]);
  fill("scenario", "all", distinct(data.findings.map((f) => data.checks[f.check].s)));
  fill("revision", "all", distinct(data.columns.map((c) => c.revision)));
  fill("client", "all", data.runs.map((r, i) => [String(i), r.client]));
  if (data.runs.length < 2) $("client").parentElement.hidden = true;
  for (const v of order) {
    const n = groups.filter((g) => g.members[0].cell === v).length;
    if (n === 0) continue;
    const button = el("button", { type: "button", "aria-pressed": "true", cls: "v-" + v, onclick: () => {
      if (!hidden.delete(v)) hidden.add(v);
      button.setAttribute("aria-pressed", String(!hidden.has(v)));
      button.classList.toggle("off", hidden.has(v));
      filter();
    } }, `${verdicts[v][0]} ${verdicts[v][1]} ${n}`);
    $("verdicts").append(button, " ");
  }
  $("query").addEventListener("input", filter);
  $("filters").addEventListener("submit", (e) => e.preventDefault());
}

function filter() {
  const words = $("query").value.toLowerCase().split(/\s+/).filter(Boolean);
  const scenario = $("scenario").value, revision = $("revision").value, client = $("client").value;
  let n = 0;
  for (const g of groups) {
    const fits = (m) => (!revision || data.columns[m.column].revision === revision) &&
      (!client || String(data.columns[m.column].run) === client);
    const shown = !hidden.has(g.members[0].cell) && (!scenario || data.checks[g.members[0].check].s === scenario) &&
      g.members.some(fits) && words.every((w) => g.text.includes(w));
    g.node.hidden = !shown;
    if (shown) n++;
  }
  columns((c) => (!revision || c.revision === revision) && (!client || String(c.run) === client));
  $("count").textContent = groups.length === 0 ? "Nothing failed." : `${n} of ${groups.length} findings`;
}

// columns hides the columns of the overview that do not fit.
const style = document.head.appendChild(el("style"));
function columns(fits) {
  style.textContent = data.columns.map((c, n) => fits(c) ? "" : `.c${n} { display: none; }`).join("");
  data.runs.forEach((r, i) => {
    if (!r.head) return;
    r.head.colSpan = data.columns.filter((c) => c.run === i && fits(c)).length || 1;
    r.head.hidden = !data.columns.some((c) => c.run === i && fits(c));
  });
}

// show opens a finding, and clears filters that hide it.
function show(g) {
  if (g.node.hidden) {
    hidden.delete(g.members[0].cell);
    for (const id of ["query", "scenario", "revision", "client"]) $(id).value = "";
    filter();
  }
  g.node.open = true;
  g.node.scrollIntoView({ block: "start" });
  g.node.firstChild.focus();
}

function theme() {
  const now = document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
}

function keys(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
  if (e.key === "/") { e.preventDefault(); $("query").focus(); }
  if (e.key === "t") theme();
  if (e.key === "j" || e.key === "k") {
    const shown = groups.filter((g) => !g.node.hidden);
    const at = shown.findIndex((g) => g.node.contains(document.activeElement));
    const next = shown[Math.min(Math.max(at + (e.key === "j" ? 1 : -1), 0), shown.length - 1)];
    if (next) next.node.firstChild.focus();
  }
}

runs();
overview();
$("findings").append(...groups.map(details));
filters();
filter();
$("theme").addEventListener("click", theme);
document.addEventListener("keydown", keys);
addEventListener("beforeprint", () => groups.forEach((g) => { if (!g.node.hidden) { g.fill(); g.node.open = true; } }));
const fromHash = () => {
  const wanted = decodeURIComponent(location.hash.slice(1));
  const g = groups.find((g) => checkName(g.members[0].check) === wanted || g.node.id === wanted);
  if (g) show(g);
};
addEventListener("hashchange", fromHash);
fromHash();
if (groups.length === 1) groups[0].node.open = true;
})();
