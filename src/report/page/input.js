// Pointer and keys.

const KEYS = [
  ["click", "select a value, and the step below the pointer"],
  ["drag", "move"],
  ["wheel", "zoom; Shift: time only, Alt: memory only"],
  ["double click", "zoom to a value"],
  ["W S", "zoom time in, out; with Shift memory"],
  ["A D", "move left, right; with Shift down, up"],
  ["← →", "one step earlier, later; with Shift ten"],
  ["↑ ↓", "select the value above, below at this step"],
  ["Enter", "zoom to the selected value"],
  ["P", "go to the peak"],
  ["0", "the whole program"],
  ["/", "search; Enter and Shift+Enter step through what is found"],
  ["Esc", "clear the search, the colour, the selection"],
];

function listen(app) {
  const plot = byId("plot");
  plot.addEventListener("pointermove", event => pointerMoved(app, event));
  plot.addEventListener("pointerleave", () => hover(app, -1));
  plot.addEventListener("pointerdown", event => startDrag(app, event));
  plot.addEventListener("dblclick", event => {
    const v = valueAt(app, event.offsetX, event.offsetY);
    if (v >= 0) zoomTo(app, v);
  });
  plot.addEventListener("wheel", event => wheelTurned(app, event), { passive: false });
  document.addEventListener("keydown", event => keyPressed(app, event));
  new ResizeObserver(() => resize(app)).observe(plot);
}

// The smallest of those below the pointer, which is drawn last.
function valueAt(app, x, y) {
  if (!isIn(app.areas.map, x, y)) return -1;
  const t = timeAt(app, x), b = byteAt(app, y), { model, low, order } = app;
  const slackTime = (app.view.t1 - app.view.t0) / app.areas.map.width;
  const slackBytes = (app.view.y1 - app.view.y0) / app.areas.map.height;
  let near = -1;
  for (let i = order.length - 1; i >= 0; --i) {
    const v = order[i], high = low[v] + model.values.bytes[v];
    if (t >= model.from[v] && t < model.to[v] && b >= low[v] && b < high) return v;
    if (near < 0 && t >= model.from[v] - slackTime && t < model.to[v] + slackTime &&
        b >= low[v] - slackBytes && b < high + slackBytes) near = v;
  }
  return near;
}

function pointOf(event) {
  const box = byId("plot").getBoundingClientRect();
  return { x: event.clientX - box.left - 1, y: event.clientY - box.top - 1 };
}

function pointerMoved(app, event) {
  const { x, y } = pointOf(event);
  if (app.drag) return dragged(app, x, y);
  hover(app, valueAt(app, x, y), x, y);
}

function hover(app, v, x, y) {
  const changed = v !== app.hovered;
  app.hovered = v;
  showTooltip(app, x, y);
  if (changed) drawOverlay(app);
}

function startDrag(app, event) {
  if (event.button !== 0) return;
  const { x, y } = pointOf(event);
  app.drag = { x, y, view: { ...app.view }, moved: false };
  byId("plot").setPointerCapture(event.pointerId);
  const end = () => {
    byId("plot").removeEventListener("pointerup", end);
    byId("plot").removeEventListener("pointercancel", end);
    byId("plot").classList.remove("dragging");
    const { moved } = app.drag;
    app.drag = null;
    if (!moved) clicked(app, x, y);
  };
  byId("plot").addEventListener("pointerup", end);
  byId("plot").addEventListener("pointercancel", end);
}

function dragged(app, x, y) {
  const { drag, areas: { map } } = app;
  if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < 4) return;
  drag.moved = true;
  byId("plot").classList.add("dragging");
  hover(app, -1);
  const { t0, t1, y0, y1 } = drag.view;
  const dt = (x - drag.x) / map.width * (t1 - t0), dy = (y - drag.y) / map.height * (y1 - y0);
  setView(app, { t0: t0 - dt, t1: t1 - dt, y0: y0 + dy, y1: y1 + dy });
}

function clicked(app, x, y) {
  const { strip, map } = app.areas;
  if (!isIn(map, x, y) && !isIn(strip, x, y)) return;
  setMoment(app, momentAt(app, x));
  const v = valueAt(app, x, y);
  if (v >= 0 || isIn(map, x, y)) select(app, v, false);
}

function wheelTurned(app, event) {
  event.preventDefault();
  const { x, y } = pointOf(event);
  const step = event.deltaMode === 0 ? event.deltaY || event.deltaX : 30 * event.deltaY;
  const factor = Math.exp(Math.max(-120, Math.min(120, step)) * 0.0025);
  zoomAt(app, x, y, event.altKey ? 1 : factor, event.shiftKey ? 1 : factor);
}

function keyPressed(app, event) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "Escape") return clearAll(app);
  if (typing || event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
  const onPlot = event.target === byId("plot") || event.target === document.body;
  const { map } = app.areas, x = xOf(app, app.moment + 0.5), shift = event.shiftKey;
  const center = isIn(map, x, map.y) ? x : map.x + map.width / 2;
  const middle = map.y + map.height / 2;
  const zoom = by => zoomAt(app, center, middle, shift ? 1 : by, shift ? by : 1);
  const anywhere = {
    w: () => zoom(0.75), s: () => zoom(1 / 0.75),
    a: () => (shift ? pan(app, 0, -0.15) : pan(app, -0.15, 0)),
    d: () => (shift ? pan(app, 0, 0.15) : pan(app, 0.15, 0)),
    p: () => goToPeak(app), 0: () => setView(app, wholeView(app)),
    "/": () => byId("search").focus(), "?": () => byId("keys").showModal(),
  };
  const inPlot = {
    arrowleft: () => setMoment(app, app.moment - (shift ? 10 : 1)),
    arrowright: () => setMoment(app, app.moment + (shift ? 10 : 1)),
    arrowup: () => selectBeside(app, 1), arrowdown: () => selectBeside(app, -1),
    enter: () => app.selected >= 0 && isShown(app, app.selected) && zoomTo(app, app.selected),
  };
  const key = event.key.toLowerCase();
  const action = anywhere[key] || (onPlot && inPlot[key]);
  if (!action) return;
  event.preventDefault();
  action();
}

// The next value up or down of those at the moment.
function selectBeside(app, up) {
  const { model, low } = app;
  const here = [...app.order].filter(v => model.from[v] <= app.moment && app.moment < model.to[v])
    .sort((a, b) => low[a] - low[b] || a - b);
  if (here.length === 0) return;
  const at = here.indexOf(app.selected);
  const next = at < 0 ? (up > 0 ? 0 : here.length - 1) : at + up;
  if (next >= 0 && next < here.length) select(app, here[next], true);
}

function clearAll(app) {
  if (byId("keys").open) return;
  byId("search").value = "";
  app.picked = -1;
  setSearch(app, "");
  showLegend(app);
  select(app, -1, false);
  byId("plot").focus();
}
