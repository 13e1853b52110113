// Beside the plot: the selected value, what is in use at the moment, advice and notes.

const FIRST_ROWS = 60;

function usesOf(model, v) {
  const out = [], { use_instructions, use_operands } = model.raw;
  for (let u = model.firstUse[v]; u < model.firstUse[v + 1]; ++u)
    out.push({ instruction: use_instructions[u], operand: use_operands[u] });
  return out;
}

function showDetail(app) {
  const section = byId("detail"), { model } = app, v = app.selected;
  if (v < 0) {
    fill(section, el("h2", {}, "Nothing selected"), el("p", { className: "quiet" },
      "Click a rectangle, or a row below. The table lists what is in use at the step that the " +
      "vertical line marks."));
    return;
  }
  const rows = [];
  const row = (title, ...content) => {
    if (content.flat(Infinity).some(c => c !== "" && c !== null)) rows.push([title, content]);
  };
  describeValue(app, v, row);
  const text = model.instructions.text ? textOf(model, v, "text") : "";
  fill(section,
    el("h2", { className: "name" }, nameOf(model, v)),
    el("dl", {}, rows.flatMap(([title, content]) =>
      [el("dt", {}, title), el("dd", { className: MONO.has(title) ? "mono" : "" }, content)])),
    text ? el("pre", {}, text) : null);
}

const MONO = new Set(["shape", "op", "op_name", "source", "users", "same place"]);

function describeValue(app, v, row) {
  const { model } = app, { values } = model, i = values.instruction[v];
  const padding = paddingOf(model, v);
  row("op", textOf(model, v, "op"));
  row("shape", shapeOf(model, v));
  row("size", bytesExact(values.bytes[v]));
  if (values.unpadded[v] >= 0)
    row("padding", padding === 0 ? "none"
      : `${bytesExact(padding)}, ${percentText(padding / values.bytes[v])}`);
  row("op_name", textOf(model, v, "op_name"));
  row("source", sourceOf(model, v));
  row("in", textOf(model, v, "computation"));
  row("live", lifeOf(app, v));
  row("lies in", allocationName(model, values.allocation[v]) + ", offset " +
    countText(values.offset[v]));
  row("users", userList(app, v));
  row("same place", mateList(app, v));
  row("cost", costText(model, i));
}

function lifeOf(app, v) {
  const { values } = app.model;
  if (!(values.start[v] <= values.end[v])) return "not known";
  const end = moment => el("button", {
    className: "link", title: `Go to step ${moment}`, onclick: () => setMoment(app, moment),
  }, `${countText(moment)} ${instructionAt(app.model, moment)}`);
  return [end(values.start[v]), el("br"), "to ", end(values.end[v])];
}

function userList(app, v) {
  const uses = usesOf(app.model, v);
  if (uses.length === 0) return app.model.raw.use_instructions.length > 0 ? "none" : "not known";
  return el("ul", { className: "list" }, uses.map(({ instruction, operand }) => {
    const name = app.model.texts[app.model.instructions.name[instruction]];
    const suffix = operand > 0 ? ` operand ${operand}` : "";
    const made = (app.model.valuesOf.get(instruction) || []).find(w => isShown(app, w));
    return el("li", {}, made === undefined ? name : valueLink(app, made, name),
              el("span", { className: "quiet" }, suffix));
  }));
}

function mateList(app, v) {
  const { values } = app.model;
  const mates = app.space.values.filter(w => w !== v && values.buffer[w] === values.buffer[v]);
  return mates.length === 0 ? "" : el("ul", { className: "list" }, mates.slice(0, 100).map(w =>
    el("li", {}, valueLink(app, w, nameOf(app.model, w)))));
}

function valueLink(app, v, name) {
  return el("button", { className: "link", onclick: () => select(app, v, true) }, name);
}

function costText(model, i) {
  const { flops, transcendentals, traffic, runs } = model.instructions;
  if (!flops || !(flops[i] + transcendentals[i] + traffic[i] > 0)) return "";
  const parts = [`${amountText(flops[i])}flop`];
  if (transcendentals[i] > 0) parts.push(`${amountText(transcendentals[i])}transcendentals`);
  parts.push(`${bytesText(traffic[i])} moved`);
  if (runs[i] !== 1) parts.push(`${countText(runs[i])} times`);
  return parts.join(", ");
}

function showLive(app) {
  const { model, space } = app;
  const live = inUseAt(model, space, app.moment);
  const total = space.in_use[app.moment];
  const shown = app.allRows ? live : live.slice(0, FIRST_ROWS);
  const most = Math.max(1, ...shown.slice(0, 1).map(v => model.values.bytes[v]));
  const title = model.hasSchedule ? `In use at step ${countText(app.moment)}` : "Values";
  fill(byId("live"),
    el("div", { className: "head" }, el("h2", {}, title),
       el("span", { className: "quiet" }, total === undefined ? "" : bytesText(total))),
    el("p", { className: "quiet mono" }, instructionAt(model, app.moment)),
    el("table", {},
       el("thead", {}, el("tr", {}, el("th", { className: "bytes" }, "size"), el("th", {}, "value"),
                          el("th", {}, "source"))),
       el("tbody", {}, shown.map(v => liveRow(app, v, most)))),
    live.length > shown.length ? el("button", {
      className: "more", onclick: () => { app.allRows = true; showLive(app); },
    }, `Show all ${countText(live.length)}`) : null);
}

function liveRow(app, v, most) {
  const { model } = app, bytes = model.values.bytes[v];
  const cell = el("td", { className: "bytes" }, bytesText(bytes));
  cell.style.setProperty("--share", `${100 * bytes / most}%`);
  const name = nameOf(model, v), source = sourceOf(model, v);
  const row = el("tr", {
    tabIndex: 0, onclick: () => select(app, v, true),
    onkeydown: event => { if (event.key === "Enter") select(app, v, true); },
    "aria-selected": String(v === app.selected),
  }, cell,
  el("td", { className: "mono", title: `${name}\n${shapeOf(model, v)}` },
     el("i", { style: `background:${app.colors.classes[app.colors.of[v]].color}` }), name),
  el("td", { className: "quiet", title: `${source}\n${textOf(model, v, "op_name")}` },
     lastPart(source) || lastPart(textOf(model, v, "op_name"))));
  row.dataset.value = v;
  return row;
}

function markLiveRow(app) {
  for (const row of byId("live").querySelectorAll("tbody tr"))
    row.setAttribute("aria-selected", String(Number(row.dataset.value) === app.selected));
}

// What devices send each other, how long nothing is computed meanwhile, and behind what the rest
// hides.
function showCollectives(app) {
  const all = app.model.raw.collectives || [];
  if (all.length === 0) return;
  const timed = all.some(one => one.seconds !== undefined);
  const head = title => el("th", { className: title === "source" ? "" : "bytes" }, title);
  const columns = timed ? ["exposed", "hidden"] : [];
  fill(byId("collectives"),
    el("div", { className: "head" }, el("h2", {}, "Collectives"),
       el("span", { className: "quiet" },
          bytesText(all.reduce((sum, one) => sum + one.bytes * one.runs, 0)))),
    el("table", {},
       el("thead", {}, el("tr", {}, ["sent", ...columns].map(head), el("th", {}, "collective"),
                          head("source"))),
       el("tbody", {}, all.slice(0, FIRST_ROWS).map(one => collectiveRow(one, timed)))));
}

function collectiveRow(one, timed) {
  const cell = text => el("td", { className: "bytes" }, text);
  const times = timed ? [one.exposed_seconds, one.hidden_seconds].map(seconds =>
    cell(seconds === undefined ? "" : secondsText(seconds * one.runs))) : [];
  const behind = one.hidden_by || [];
  const name = `${one.kind} ${one.name}`;
  return el("tr", {}, cell(bytesText(one.bytes * one.runs)), times,
            el("td", { className: "mono", title: [name, ...behind].join("\nbehind ") }, name,
               el("span", { className: "quiet" },
                  behind.length === 0 ? "" : ` behind ${behind.join(", ")}`)),
            el("td", { className: "quiet" }, one.source));
}

function showRemarks(app) {
  const { advice, notes, faults } = app.model.raw, parts = [];
  if (advice.length > 0) parts.push(el("h2", {}, "What would help"));
  for (const a of advice)
    parts.push(el("p", {}, el("b", {}, a.saved < 0 ? "" : `${bytesText(a.saved)} less: `),
                  a.text, " ",
                  a.values.slice(0, 3).map(v => [valueLink(app, v, nameOf(app.model, v)), " "])));
  if (notes.length + faults.length > 0) parts.push(el("h2", {}, "Notes"));
  for (const note of [...notes, ...faults]) parts.push(el("p", { className: "quiet" }, note));
  fill(byId("remarks"), parts);
}

function showTooltip(app, x, y) {
  const box = byId("tooltip"), { model } = app, v = app.hovered;
  box.hidden = v < 0;
  if (v < 0) return;
  const { values } = model;
  const figures = [bytesText(values.bytes[v])];
  if (paddingOf(model, v) > 0)
    figures.push(`${percentText(paddingOf(model, v) / values.bytes[v])} padding`);
  if (values.start[v] <= values.end[v])
    figures.push(`live ${countText(values.start[v])} to ${countText(values.end[v])}`);
  const more = [shapeOf(model, v), figures.join(", "), textOf(model, v, "op_name"), sourceOf(model, v)];
  fill(box, el("div", { className: "name" }, nameOf(model, v)),
       more.filter(text => text).map(text => el("div", { className: "more" }, text)));
  const left = x + 16 + box.offsetWidth > app.width ? x - 12 - box.offsetWidth : x + 16;
  const top = y + 16 + box.offsetHeight > app.height ? y - 12 - box.offsetHeight : y + 16;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, top)}px`;
}
