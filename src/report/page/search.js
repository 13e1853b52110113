// Finds values by name, op, op_name or source; matches keep their colour and all others lose it.

function setSearch(app, text) {
  const wanted = text.trim().toLowerCase();
  app.matchAt = -1;
  app.matchList = [];
  app.matches = null;
  if (wanted) {
    const found = foundInstructions(app.model, wanted);
    for (const v of app.order)
      if (found.has(app.model.values.instruction[v]) || matchesIndex(app, v, wanted))
        app.matchList.push(v);
    app.matches = new Set(app.matchList);
    app.matchList.sort((a, b) => app.model.from[a] - app.model.from[b] || a - b);
  }
  showMatches(app);
  redraw(app);
}

// "fusion.3{1}" names one part of a result.
function matchesIndex(app, v, wanted) {
  return wanted.includes("{") && nameOf(app.model, v).toLowerCase().includes(wanted);
}

function foundInstructions(model, wanted) {
  const lower = lowerTexts(model), columns = model.instructions, out = new Set();
  for (let i = 0; i < columns.name.length; ++i) {
    const file = lower[columns.file[i]];
    if (lower[columns.name[i]].includes(wanted) || lower[columns.op[i]].includes(wanted) ||
        lower[columns.op_name[i]].includes(wanted) ||
        (file && `${file}:${columns.line[i]}`.includes(wanted))) out.add(i);
  }
  return out;
}
function lowerTexts(model) {
  model.lower = model.lower || model.texts.map(text => text.toLowerCase());
  return model.lower;
}

function showMatches(app) {
  const count = app.matchList.length;
  const bytes = app.matchList.reduce((sum, v) => sum + app.model.values.bytes[v], 0);
  const at = app.matchAt >= 0 ? `${countText(app.matchAt + 1)} of ` : "";
  byId("matches").textContent = app.matches ? `${at}${countText(count)}, ${bytesText(bytes)}` : "";
}

function stepMatch(app, by) {
  const count = app.matchList.length;
  if (count === 0) return;
  app.matchAt = app.matchAt < 0 ? (by > 0 ? 0 : count - 1) : (app.matchAt + by + count) % count;
  showMatches(app);
  select(app, app.matchList[app.matchAt], true);
}
