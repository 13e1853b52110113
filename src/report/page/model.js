// The picture as the page works with it: columns of numbers, texts by number.

const KINDS = ["parameter", "constant", "output", "temporary", "thread-local"];

function readModel(text) {
  const raw = JSON.parse(text);
  const model = {
    raw,
    texts: raw.texts,
    instructions: raw.instructions,
    sequence: raw.sequence,
    moments: Math.max(1, raw.sequence.length),
    hasSchedule: raw.sequence.length > 0,
    values: numberColumns(raw.values),
    allocations: raw.allocations,
    spaces: raw.spaces,
  };
  model.count = model.values.bytes.length;
  giveRanges(model);
  findUses(model);
  for (const space of model.spaces) stackAllocations(model, space);
  return model;
}

function numberColumns(columns) {
  const out = {};
  for (const key of Object.keys(columns)) out[key] = Float64Array.from(columns[key]);
  return out;
}

// What has no range of its own is drawn throughout: parameters and constants stand in memory at
// every moment, and of the rest it is not known.
function giveRanges(model) {
  const { values, allocations } = model;
  const last = model.moments - 1;
  model.from = new Float64Array(model.count);
  model.to = new Float64Array(model.count);  // one past the last moment
  for (let v = 0; v < model.count; ++v) {
    const known = values.start[v] <= values.end[v];
    const a = values.allocation[v];
    const throughout = !known || (a >= 0 && allocations.kind[a] <= 1);
    model.from[v] = throughout ? 0 : values.start[v];
    model.to[v] = (throughout ? last : values.end[v]) + 1;
  }
}

function findUses(model) {
  model.firstUse = new Float64Array(model.count + 1);
  for (let v = 0; v < model.count; ++v)
    model.firstUse[v + 1] = model.firstUse[v] + model.values.use_count[v];
  model.valuesOf = new Map();  // by instruction
  for (let v = 0; v < model.count; ++v) {
    const i = model.values.instruction[v];
    if (!model.valuesOf.has(i)) model.valuesOf.set(i, []);
    model.valuesOf.get(i).push(v);
  }
}

// Allocations stand on each other, those of the caller below and the temporary ones on top.
function stackAllocations(model, space) {
  const { allocations } = model;
  const order = [];
  for (let a = 0; a < allocations.bytes.length; ++a)
    if (allocations.space[a] === space.space && allocations.kind[a] !== 4) order.push(a);
  order.sort((a, b) => allocations.kind[a] - allocations.kind[b] || a - b);
  space.stacks = {
    all: stack(model, order),
    temp: stack(model, order.filter(a => allocations.kind[a] >= 2)),
  };
  const base = new Map(space.stacks.all.rows.map(row => [row.allocation, true]));
  space.values = [];
  for (let v = 0; v < model.count; ++v)
    if (base.has(model.values.allocation[v])) space.values.push(v);
  space.fixed = order.filter(a => allocations.kind[a] <= 1)
    .reduce((sum, a) => sum + allocations.bytes[a], 0);
}

function stack(model, order) {
  const rows = [], base = new Map();
  let height = 0;
  for (const a of order) {
    rows.push({ allocation: a, base: height, bytes: model.allocations.bytes[a] });
    base.set(a, height);
    height += model.allocations.bytes[a];
  }
  return { rows, base, height: Math.max(1, height) };
}

function nameOf(model, v) {
  return model.texts[model.instructions.name[model.values.instruction[v]]] +
    model.texts[model.values.index[v]];
}
function textOf(model, v, column) {
  return model.texts[model.instructions[column][model.values.instruction[v]]];
}
function shapeOf(model, v) { return model.texts[model.values.shape[v]]; }
function sourceOf(model, v) {
  const i = model.values.instruction[v];
  const file = model.texts[model.instructions.file[i]];
  if (!file) return "";
  const line = model.instructions.line[i];
  return line > 0 ? `${file}:${line}` : file;
}
function instructionAt(model, moment) {
  const i = model.sequence[moment];
  return i === undefined ? "" : model.texts[model.instructions.name[i]];
}
function paddingOf(model, v) {
  const { bytes, unpadded } = model.values;
  return unpadded[v] < 0 ? 0 : Math.max(0, bytes[v] - unpadded[v]);
}
function allocationName(model, a) {
  const { number, kind, label } = model.allocations;
  return `${number[a]}: ${KINDS[kind[a]]}${model.texts[label[a]]}`;
}

// What a space holds at a moment, one value for each buffer, the largest first, then by name.
function inUseAt(model, space, moment) {
  const { values, allocations } = model;
  const best = new Map();
  const alive = v => values.start[v] <= moment && moment <= values.end[v];
  for (const v of space.values) {
    if (!alive(v) && allocations.kind[values.allocation[v]] > 1) continue;
    const other = best.get(values.buffer[v]);
    const before = other === undefined ||
      (alive(v) - alive(other) || values.bytes[v] - values.bytes[other]) > 0;
    if (before) best.set(values.buffer[v], v);
  }
  return [...best.values()].sort((a, b) => values.bytes[b] - values.bytes[a] ||
    (nameOf(model, a) < nameOf(model, b) ? -1 : 1));
}
