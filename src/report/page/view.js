// What part of time and memory the plot shows, and where a moment and a byte lie in it. Time runs
// to the right in moments, memory upwards in bytes of the stacked allocations.

const MARGIN = { left: 74, right: 104, top: 24, strip: 84, gap: 16, bottom: 28 };

function areasOf(app) {
  const width = Math.max(50, app.width - MARGIN.left - MARGIN.right);
  const top = MARGIN.top + MARGIN.strip + MARGIN.gap;
  return {
    strip: { x: MARGIN.left, y: MARGIN.top, width, height: MARGIN.strip },
    map: { x: MARGIN.left, y: top, width, height: Math.max(40, app.height - top - MARGIN.bottom) },
  };
}
function stackOf(app) { return app.space.stacks[app.shown]; }

// The limit where it is not far above what is drawn, else 0.
function nearLimit(space, bytes) {
  return space.limit > 0 && space.limit < 2 * bytes ? space.limit : 0;
}

function wholeView(app) {
  const { height } = stackOf(app);
  const limit = app.shown === "all" ? nearLimit(app.space, height) : 0;
  return { t0: 0, t1: app.model.moments, y0: 0, y1: Math.max(height, limit) * 1.02 };
}
// Where the limit of the space lies; only all allocations together compare with it.
function limitY(app) {
  return app.space.limit > 0 && app.shown === "all" ? yOf(app, app.space.limit) : null;
}

function xOf(app, t) {
  const { x, width } = app.areas.map;
  return x + (t - app.view.t0) / (app.view.t1 - app.view.t0) * width;
}
function yOf(app, byte) {
  const { y, height } = app.areas.map;
  return y + height - (byte - app.view.y0) / (app.view.y1 - app.view.y0) * height;
}
function timeAt(app, x) {
  const area = app.areas.map;
  return app.view.t0 + (x - area.x) / area.width * (app.view.t1 - app.view.t0);
}
function byteAt(app, y) {
  const area = app.areas.map;
  return app.view.y0 + (area.y + area.height - y) / area.height * (app.view.y1 - app.view.y0);
}
function momentAt(app, x) {
  return Math.min(app.model.moments - 1, Math.max(0, Math.floor(timeAt(app, x))));
}
function isIn(area, x, y) {
  return x >= area.x && x < area.x + area.width && y >= area.y && y < area.y + area.height;
}

function rectangleOf(app, v) {
  const low = app.low[v];
  const x = xOf(app, app.model.from[v]), y = yOf(app, low + app.model.values.bytes[v]);
  return { x, y, width: xOf(app, app.model.to[v]) - x, height: yOf(app, low) - y };
}
function isShown(app, v) { return app.low[v] >= 0; }

// One axis of the view within its limits.
function clampSpan(from, to, limit, least) {
  const span = Math.min(limit, Math.max(least, to - from));
  const low = Math.min(Math.max(0, (from + to) / 2 - span / 2), limit - span);
  return [low, low + span];
}
function setView(app, view) {
  const whole = wholeView(app);
  const [t0, t1] = clampSpan(view.t0, view.t1, whole.t1, Math.min(whole.t1, 4));
  const [y0, y1] = clampSpan(view.y0, view.y1, whole.y1, Math.min(whole.y1, 256));
  app.view = { t0, t1, y0, y1 };
  redraw(app);
}

// Zooms by a factor below 1 inwards; the point (x, y) of the plot stays where it is.
function zoomAt(app, x, y, timeFactor, byteFactor) {
  const t = timeAt(app, x), b = byteAt(app, y), { t0, t1, y0, y1 } = app.view;
  setView(app, {
    t0: t - (t - t0) * timeFactor, t1: t + (t1 - t) * timeFactor,
    y0: b - (b - y0) * byteFactor, y1: b + (y1 - b) * byteFactor,
  });
}
// By shares of what is seen; positive is right and up.
function pan(app, right, up) {
  const { t0, t1, y0, y1 } = app.view;
  const dt = (t1 - t0) * right, dy = (y1 - y0) * up;
  setView(app, { t0: t0 + dt, t1: t1 + dt, y0: y0 + dy, y1: y1 + dy });
}
function zoomTo(app, v) {
  const low = app.low[v], bytes = Math.max(app.model.values.bytes[v], 64);
  const { from, to } = app.model, time = Math.max(2, to[v] - from[v]);
  setView(app, {
    t0: from[v] - time * 0.4, t1: to[v] + time * 0.4,
    y0: low - bytes * 2, y1: low + bytes * 3,
  });
}
// Moves the view, where it must, so that the value is in it.
function bringIntoView(app, v) {
  const { t0, t1, y0, y1 } = app.view, low = app.low[v];
  const { from, to } = app.model, high = low + app.model.values.bytes[v];
  const seen = from[v] < t1 && to[v] > t0 && low < y1 && high > y0;
  const { width, height } = rectangleOf(app, v);
  if (!seen) {
    const t = (from[v] + to[v]) / 2, y = (low + high) / 2;
    setView(app, { t0: t - (t1 - t0) / 2, t1: t + (t1 - t0) / 2,
                   y0: y - (y1 - y0) / 2, y1: y + (y1 - y0) / 2 });
  } else if (width < 2 && height < 2) zoomTo(app, v);
}
