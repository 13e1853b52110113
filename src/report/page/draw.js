// The plot: the bytes in use over time, and below the rectangles of the values.

const TINY = 1.5;  // pixels: smaller rectangles share a dot
const MOST_LABELS = 500;

// The values of the space in the order of drawing, large ones first, and where each lies.
function placeValues(app) {
  const { model, space } = app, { values } = model, { base } = stackOf(app);
  app.low = new Float64Array(model.count).fill(-1);
  const shown = [];
  for (const v of space.values) {
    const at = base.get(values.allocation[v]);
    if (at === undefined) continue;
    app.low[v] = at + values.offset[v];
    shown.push(v);
  }
  const area = v => values.bytes[v] * (model.to[v] - model.from[v]);
  shown.sort((a, b) => area(b) - area(a) || a - b);
  app.order = Int32Array.from(shown);
}

function redraw(app) {
  if (app.waiting) return;
  app.waiting = true;
  requestAnimationFrame(() => {
    app.waiting = false;
    drawBase(app);
    drawOverlay(app);
  });
}

function theme(app) {
  if (app.theme) return app.theme;
  const style = getComputedStyle(document.documentElement);
  const names = ["plot", "ink", "quiet", "line", "grid", "muted", "accent", "mark", "usage",
                 "usage-base"];
  app.theme = Object.fromEntries(names.map(n => [n, style.getPropertyValue(`--${n}`).trim()]));
  app.theme.font = style.getPropertyValue("--mono").trim();
  return app.theme;
}

function sizeCanvas(app, canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.round(app.width * ratio), height = Math.round(app.height * ratio);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, app.width, app.height);
  return g;
}

function drawBase(app) {
  const g = sizeCanvas(app, byId("base")), colors = theme(app);
  g.font = "11px system-ui, sans-serif";
  g.textBaseline = "middle";
  drawGrid(app, g, colors);
  clipped(g, app.areas.strip, () => drawUsage(app, g, colors));
  clipped(g, app.areas.map, () => drawValues(app, g, colors));
  drawAllocations(app, g, colors);
  drawLimit(app, g, colors);
  drawPeak(app, g, colors);
}

function clipped(g, area, body) {
  g.save();
  g.beginPath();
  g.rect(area.x, area.y, area.width, area.height);
  g.clip();
  body();
  g.restore();
}

// Round numbers, about one each `apart` pixels; of bytes powers of two.
function ticks(from, to, pixels, apart, base) {
  const rough = (to - from) / Math.max(1, pixels / apart);
  let step = base === 2 ? 2 ** Math.ceil(Math.log2(Math.max(1, rough)))
    : 10 ** Math.ceil(Math.log10(Math.max(1, rough)));
  if (base === 10) step = [step / 5, step / 2, step].find(s => s >= rough && s >= 1) || step;
  const out = [];
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) out.push(t);
  return out;
}

function drawGrid(app, g, colors) {
  const { map, strip } = app.areas, { view } = app;
  g.strokeStyle = colors.grid;
  g.fillStyle = colors.quiet;
  g.lineWidth = 1;
  g.textAlign = "center";
  const times = app.model.hasSchedule ? ticks(view.t0, view.t1, map.width, 90, 10) : [];
  for (const t of times) {
    const x = Math.round(xOf(app, t)) + 0.5;
    line(g, x, strip.y, x, strip.y + strip.height);
    line(g, x, map.y, x, map.y + map.height);
    g.fillText(countText(t), x, map.y + map.height + 14);
  }
  g.textAlign = "right";
  for (const b of ticks(view.y0, view.y1, map.height, 46, 2)) {
    const y = Math.round(yOf(app, b)) + 0.5;
    line(g, map.x, y, map.x + map.width, y);
    g.fillText(bytesText(b), map.x - 7, y);
  }
  g.fillText("in use", map.x - 7, strip.y + 7);
  if (app.model.hasSchedule) g.fillText("step", map.x - 7, map.y + map.height + 14);
  g.strokeStyle = colors.line;
  for (const { x, y, width, height } of [map, strip])
    g.strokeRect(x - 0.5, y - 0.5, width + 1, height + 1);
}

function line(g, x0, y0, x1, y1) {
  g.beginPath();
  g.moveTo(x0, y0);
  g.lineTo(x1, y1);
  g.stroke();
}

// Bytes in use; the paler part are the caller's arrays and constants.
function drawUsage(app, g, colors) {
  const { strip } = app.areas, { space, view } = app;
  const use = space.in_use;
  if (use.length === 0) return;
  const top = Math.max(1, space.peak_bytes, nearLimit(space, space.peak_bytes)) * 1.12;
  const y = bytes => strip.y + strip.height - bytes / top * strip.height;
  const first = Math.max(0, Math.floor(view.t0));
  const last = Math.min(use.length - 1, Math.ceil(view.t1));
  g.fillStyle = colors.usage;
  g.beginPath();
  g.moveTo(xOf(app, first), strip.y + strip.height);
  let column = -1, most = 0;
  for (let t = first; t <= last; ++t) {  // the largest of each column of pixels
    const x0 = xOf(app, t), x1 = xOf(app, t + 1);
    most = Math.floor(x0) === column ? Math.max(most, use[t]) : use[t];
    column = Math.floor(x0);
    if (Math.floor(x1) === column && t < last) continue;
    g.lineTo(x0, y(most));
    g.lineTo(x1, y(most));
  }
  g.lineTo(xOf(app, last + 1), strip.y + strip.height);
  g.fill();
  const fixed = Math.min(space.fixed, space.peak_bytes);
  g.fillStyle = colors["usage-base"];
  g.fillRect(strip.x, y(fixed), strip.width, strip.y + strip.height - y(fixed));
  g.strokeStyle = colors.mark;
  g.setLineDash([5, 4]);
  for (const most of [space.capacity, space.limit])
    if (most > 0 && most < top) line(g, strip.x, y(most), strip.x + strip.width, y(most));
  g.setLineDash([]);
}

// All allocations together must stay below it.
function drawLimit(app, g, colors) {
  const { map } = app.areas, y = limitY(app);
  if (y === null || y < map.y || y > map.y + map.height) return;
  g.strokeStyle = g.fillStyle = colors.mark;
  g.lineWidth = 2;
  line(g, map.x, Math.round(y), map.x + map.width + 4, Math.round(y));
  g.lineWidth = 1;
  g.font = "600 11.5px system-ui, sans-serif";
  g.textAlign = "right";
  g.fillText(`limit ${bytesText(app.space.limit)}`, map.x + map.width - 5, y - 9);
}

function isEmphasised(app, v) {
  if (app.picked >= 0 && app.colors.of[v] !== app.picked) return false;
  return !app.matches || app.matches.has(v);
}

function drawValues(app, g, colors) {
  const filtered = app.matches || app.picked >= 0;
  if (filtered) drawLayer(app, g, v => !isEmphasised(app, v), () => colors.muted);
  const labels = drawLayer(app, g, filtered ? v => isEmphasised(app, v) : null,
                           v => app.colors.classes[app.colors.of[v]].color);
  g.font = `11px ${colors.font}`;
  g.textAlign = "left";
  for (const label of labels.slice(0, MOST_LABELS)) drawLabel(app, g, label);
}

// Rectangles that a filter lets through; gives those with room for a name.
function drawLayer(app, g, filter, colorOf) {
  const { model, view, low, areas: { map } } = app, { bytes } = model.values;
  const perMoment = map.width / (view.t1 - view.t0), perByte = map.height / (view.y1 - view.y0);
  const columns = Math.ceil(map.width) + 2;
  const dots = new Uint8Array(columns * (Math.ceil(map.height) + 2));
  const labels = [];
  let current = "";
  for (const v of app.order) {
    if (model.to[v] <= view.t0 || model.from[v] >= view.t1) continue;
    if (low[v] + bytes[v] < view.y0 || low[v] > view.y1) continue;
    if (filter && !filter(v)) continue;
    const left = Math.max(0, (model.from[v] - view.t0) * perMoment);
    const right = Math.min(map.width, (model.to[v] - view.t0) * perMoment);
    const under = Math.max(0, (low[v] - view.y0) * perByte);
    const over = Math.min(map.height, (low[v] + bytes[v] - view.y0) * perByte);
    let width = right - left, height = over - under;
    if (width < TINY && height < TINY) {
      const dot = Math.floor(left) + Math.floor(under) * columns;
      if (dots[dot]) continue;
      dots[dot] = 1;
    }
    const color = colorOf(v);
    if (color !== current) g.fillStyle = current = color;
    width = width > 4 ? width - 1 : Math.max(1, width);
    height = height > 4 ? height - 1 : Math.max(1, height);
    const x = map.x + left, y = map.y + map.height - under - height;
    g.fillRect(x, y, width, height);
    if (width > 54 && height > 13) labels.push({ v, x, y, width, height });
  }
  return labels;
}

function drawLabel(app, g, { v, x, y, width, height }) {
  const room = Math.floor((width - 8) / 6.7);
  const name = nameOf(app.model, v);
  const text = name.length <= room ? name : `${name.slice(0, room - 1)}…`;
  g.fillStyle = app.colors.classes[app.colors.of[v]].ink;
  g.fillText(text, x + 5, y + height / 2 + 0.5);
}

// Edges of the allocations, and their names at the right where there is room.
function drawAllocations(app, g, colors) {
  const { map } = app.areas;
  g.textAlign = "left";
  g.font = "11px system-ui, sans-serif";
  let free = Infinity;
  for (const row of stackOf(app).rows) {
    const y0 = yOf(app, row.base), y1 = yOf(app, row.base + row.bytes);
    if (y0 < map.y || y1 > map.y + map.height) continue;
    if (y0 < map.y + map.height && y0 - y1 > 3) {
      g.strokeStyle = colors.line;
      line(g, map.x, Math.round(y0) + 0.5, map.x + map.width + 4, Math.round(y0) + 0.5);
    }
    const middle = (Math.max(y1, map.y) + Math.min(y0, map.y + map.height)) / 2;
    if (free - middle < 12 || y0 - y1 < 3) continue;
    free = middle;
    const { allocations, texts } = app.model;
    g.fillStyle = colors.quiet;
    g.fillText(KINDS[allocations.kind[row.allocation]] + texts[allocations.label[row.allocation]],
               map.x + map.width + 7, middle, MARGIN.right - 10);
  }
}

function drawPeak(app, g, colors) {
  const { strip, map } = app.areas, { peak_moment, peak_bytes } = app.space;
  if (peak_moment < 0) return;
  const x = xOf(app, peak_moment + 0.5);
  const text = `peak ${bytesText(peak_bytes)} at ${countText(peak_moment)}`;
  if (x < strip.x - 1 || x > strip.x + strip.width + 1) return;
  g.strokeStyle = g.fillStyle = colors.mark;
  g.setLineDash([3, 3]);
  line(g, x, strip.y, x, map.y + map.height);
  g.setLineDash([]);
  g.font = "600 11.5px system-ui, sans-serif";
  const half = g.measureText(text).width / 2;
  g.textAlign = "center";
  const middle = Math.min(Math.max(x, strip.x + half), strip.x + strip.width - half);
  g.fillText(text, middle, strip.y - 11);
}

// What follows the pointer: the moment, the selection with its uses, the value below the pointer.
function drawOverlay(app) {
  const g = sizeCanvas(app, byId("overlay")), colors = theme(app);
  const { strip, map } = app.areas;
  const x = xOf(app, app.moment + 0.5);
  if (app.model.hasSchedule && x >= map.x && x <= map.x + map.width) {
    g.strokeStyle = colors.ink;
    line(g, x, strip.y, x, map.y + map.height);
    g.fillStyle = colors.ink;
    g.beginPath();
    g.moveTo(x - 5, map.y + map.height + 6);
    g.lineTo(x + 5, map.y + map.height + 6);
    g.lineTo(x, map.y + map.height);
    g.fill();
  }
  clipped(g, map, () => {
    if (app.hovered >= 0 && app.hovered !== app.selected)
      outline(app, g, app.hovered, colors.ink, 1.5);
    if (app.selected >= 0 && isShown(app, app.selected)) {
      outline(app, g, app.selected, colors.plot, 5);
      outline(app, g, app.selected, colors.accent, 2.5);
      drawUses(app, g, colors);
    }
  });
}

function outline(app, g, v, color, width) {
  const r = rectangleOf(app, v);
  g.strokeStyle = color;
  g.lineWidth = width;
  g.strokeRect(r.x, r.y, Math.max(r.width - 1, 1), Math.max(r.height - 1, 1));
  g.lineWidth = 1;
}

function drawUses(app, g, colors) {
  const v = app.selected, r = rectangleOf(app, v);
  g.fillStyle = colors.accent;
  for (const { instruction } of usesOf(app.model, v)) {
    const moment = app.model.instructions.moment[instruction];
    if (moment < 0) continue;
    const x = xOf(app, moment + 0.5);
    g.fillRect(x - 1, r.y - 4, 2, 8);
  }
}
