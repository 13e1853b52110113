// Puts the parts together. `window.hilo` is for scripts: where a value is drawn, and what is
// selected.

function start() {
  const model = readModel(byId("data").textContent);
  const app = {
    model, space: firstSpace(model), shown: "all", coloring: "op", colors: null, picked: -1,
    view: { t0: 0, t1: 1, y0: 0, y1: 1 }, selected: -1, hovered: -1, moment: 0, matches: null,
    matchList: [], matchAt: -1, allRows: false, drag: null, theme: null, waiting: false,
  };
  startTheme(app);
  showTitle(app);
  showControls(app);
  measure(app);
  enterSpace(app, app.space);
  showCollectives(app);
  showRemarks(app);
  listen(app);
  selectFromAddress(app);
  window.hilo = {
    rectangle: name => {
      const v = findValue(app, name);
      return v < 0 ? null : rectangleOf(app, v);
    },
    limit: () => limitY(app),
    state: () => ({
      selected: app.selected < 0 ? "" : nameOf(model, app.selected), moment: app.moment,
      matches: app.matchList.length, view: { ...app.view }, coloring: app.coloring,
      space: app.space.space, values: model.count,
    }),
  };
}

function firstSpace(model) {
  const none = { space: 0, name: "memory", capacity: 0, limit: 0, total: 0, temp: 0, lower_bound: -1,
                 fragmentation: -1, in_use: [], peak_moment: -1, peak_bytes: -1 };
  if (model.spaces.length === 0) {
    stackAllocations(model, none);
    model.spaces.push(none);
  }
  return model.spaces.reduce((best, s) => (s.total > best.total ? s : best));
}

function findValue(app, name) {
  for (const v of app.order) if (nameOf(app.model, v) === name) return v;
  return -1;
}

function enterSpace(app, space) {
  app.space = space;
  app.selected = app.hovered = -1;
  app.picked = -1;
  placeValues(app);
  app.colors = makeColoring(app.model, space, app.coloring);
  app.moment = Math.max(0, space.peak_moment);
  app.allRows = false;
  app.view = wholeView(app);
  showSpaces(app);
  showLegend(app);
  showDetail(app);
  showLive(app);
  setSearch(app, byId("search").value);
}

function select(app, v, bring) {
  if (v >= 0 && app.model.values.space[v] !== app.space.space) {
    const space = app.model.spaces.find(s => s.space === app.model.values.space[v]);
    if (space) enterSpace(app, space);
  }
  app.selected = v;
  if (v >= 0 && bring && isShown(app, v)) {
    bringIntoView(app, v);
    if (app.moment < app.model.from[v] || app.moment >= app.model.to[v])
      setMoment(app, app.model.from[v]);
  }
  showDetail(app);
  markLiveRow(app);
  drawOverlay(app);
  announce(app, v);
}

function announce(app, v) {
  const { model } = app;
  byId("announcement").textContent = v < 0 ? "" :
    `${nameOf(model, v)}, ${bytesText(model.values.bytes[v])}, ${sourceOf(model, v)}`;
  const address = v < 0 ? location.pathname : `#${encodeURIComponent(nameOf(model, v))}`;
  try { history.replaceState(null, "", address); } catch { /* a sandbox forbids it */ }
}

function selectFromAddress(app) {
  let name = "";
  try { name = decodeURIComponent(location.hash.slice(1)); } catch { return; }
  if (!name) return;
  for (let v = 0; v < app.model.count; ++v)
    if (nameOf(app.model, v) === name) return select(app, v, true);
}

function setMoment(app, moment) {
  app.moment = Math.min(app.model.moments - 1, Math.max(0, moment));
  app.allRows = false;
  const { t0, t1 } = app.view;
  if (app.moment < t0 || app.moment >= t1)
    setView(app, { ...app.view, t0: app.moment - (t1 - t0) / 2, t1: app.moment + (t1 - t0) / 2 });
  showLive(app);
  drawOverlay(app);
}

function goToPeak(app) {
  if (app.space.peak_moment >= 0) setMoment(app, app.space.peak_moment);
}

function measure(app) {
  const plot = byId("plot");
  app.width = plot.clientWidth;
  app.height = plot.clientHeight;
  app.areas = areasOf(app);
}
function resize(app) {
  measure(app);
  redraw(app);
}

function startTheme(app) {
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const use = name => { root.dataset.theme = name; app.theme = null; };
  use(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => { use(dark.matches ? "dark" : "light"); redraw(app); });
  byId("theme").addEventListener("click", () => {
    use(root.dataset.theme === "dark" ? "light" : "dark");
    redraw(app);
  });
}

function showTitle(app) {
  const { module, made_from, machine, machine_reason } = app.model.raw;
  document.title = `Memory of ${module}`;
  byId("module").textContent = module;
  const chip = machine_reason ? `${machine} (${machine_reason})` : machine;
  byId("origin").textContent = [made_from, chip, `${countText(app.model.count)} values`]
    .filter(part => part).join(" · ");
}

function showControls(app) {
  const coloring = byId("coloring");
  for (const [key, { title }] of Object.entries(COLORINGS))
    coloring.append(el("option", { value: key }, title));
  coloring.addEventListener("change", () => {
    app.coloring = coloring.value;
    app.picked = -1;
    app.colors = makeColoring(app.model, app.space, app.coloring);
    showLegend(app);
    showLive(app);
    redraw(app);
  });
  byId("shown").addEventListener("change", event => {
    app.shown = event.target.value;
    placeValues(app);
    setSearch(app, byId("search").value);
    setView(app, wholeView(app));
  });
  byId("search").addEventListener("input", event => setSearch(app, event.target.value));
  byId("search").addEventListener("keydown", event => {
    if (event.key === "Enter") stepMatch(app, event.shiftKey ? -1 : 1);
  });
  byId("next").addEventListener("click", () => stepMatch(app, 1));
  byId("previous").addEventListener("click", () => stepMatch(app, -1));
  byId("reset").addEventListener("click", () => setView(app, wholeView(app)));
  byId("help").addEventListener("click", () => byId("keys").showModal());
  fill(byId("keys"),
    el("h2", {}, "Keys"),
    el("dl", {}, KEYS.map(([key, what]) =>
      [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)])),
    el("form", { method: "dialog" }, el("button", {}, "Close")));
}

function showSpaces(app) {
  fill(byId("spaces"), app.model.spaces.map(space => {
    const most = Math.max(space.peak_bytes, space.total);
    const share = space.capacity > 0 ? space.total / space.capacity : 0;
    const lost = space.fragmentation > 0 ? `, ${bytesText(space.fragmentation)} lost to gaps` : "";
    const fill = el("i", { className: share > 1 ? "full" : "",
                           style: `width:${Math.min(100, 100 * share)}%` });
    return el("button", {
      className: "space", role: "tab", "aria-selected": String(space === app.space),
      title: `temporaries ${bytesText(space.temp)}${lost}`,
      onclick: () => { app.selected = -1; enterSpace(app, space); },
    }, el("div", {}, el("b", {}, space.name), most > 0 && space.peak_bytes >= 0
      ? `  peak ${bytesText(space.peak_bytes)}` : ""),
    el("div", { className: "figures" }, `${bytesText(space.total)} allocated` +
      (space.capacity > 0 ? ` of ${bytesText(space.capacity)}` : "")),
    space.limit > 0 ? el("div", { className: "figures" }, limitText(space)) : null,
    space.capacity > 0 ? el("div", { className: "bar" }, fill) : null);
  }));
}

function limitText(space) {
  const over = space.total - space.limit;
  return `limit ${bytesText(space.limit)}: ${over > 0 ? `${bytesText(over)} too much` : "fits"}`;
}

function showLegend(app) {
  fill(byId("legend"), app.colors.classes.map((c, number) => el("button", {
    className: "class", title: `${c.name}: ${percentText(c.share)} of memory times time`,
    "aria-pressed": String(app.picked === number),
    onclick: () => {
      app.picked = app.picked === number ? -1 : number;
      showLegend(app);
      redraw(app);
    },
  }, el("i", { style: `background:${c.color}` }), el("span", {}, c.name),
  el("small", {}, percentText(c.share)))));
}
