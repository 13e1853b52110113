// Colours by op, by source line, by operation or name scope of the framework, by padding. The
// classes that take most memory get a colour of their own, the rest is grey.

const PALETTE = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#9d7ad2", "#3fa7a3", "#d8b02e",
                 "#ec7fb0", "#9c755f", "#6fb1e0", "#8a9a3b", "#c2693d", "#5b6fd6", "#38b27d"];
const OTHER = "#9aa3b2";
// Quiet colours for what stands there throughout, and for what is not known.
const FIXED = new Map([["parameter", "#8698b3"], ["constant", "#b5a480"], ["not known", "#a9a6a0"],
                       ["no source", "#a9a6a0"], ["no name", "#a9a6a0"]]);
const PADDING_STEPS = [["no padding", 0, "#8fa3bf"], ["below 25 %", 0.25, "#e0c341"],
                       ["below 50 %", 0.5, "#f0973a"], ["half or more", 1.01, "#dc4a3d"]];

const COLORINGS = {
  op: { title: "by op", of: (model, v) => textOf(model, v, "op") || "not known" },
  source: { title: "by source line", of: (model, v) => sourceOf(model, v) || "no source" },
  operation: {
    title: "by operation", of: (model, v) => lastPart(textOf(model, v, "op_name")) || "no name",
  },
  scope: { title: "by name scope", of: (model, v) => scopeOf(textOf(model, v, "op_name")) },
  kind: {
    title: "by allocation",
    of: (model, v) => KINDS[model.allocations.kind[model.values.allocation[v]]],
  },
  padding: { title: "by padding", of: paddingClass, classes: paddingClasses },
};

// "jit(step)/transformer/layer_0/mlp/dot_general" is in transformer/layer_0,
// "state[1][0]" in state.
function scopeOf(opName) {
  const isWrapper = part => /^(jit|jvp|transpose)\(.*\)?$/.test(part);
  const parts = opName.split("/").filter(part => part && !isWrapper(part));
  if (parts.length <= 1) return (parts[0] || "no name").replace(/\[.*/, "");
  return parts.slice(0, Math.min(2, parts.length - 1)).join("/");
}

function paddingClass(model, v) {
  const share = model.values.bytes[v] > 0 ? paddingOf(model, v) / model.values.bytes[v] : 0;
  return PADDING_STEPS.find(([, limit]) => share <= 0 ? limit === 0 : share < limit)[0];
}
function paddingClasses() { return PADDING_STEPS.map(([name, , color]) => ({ name, color })); }

// Gives each value of a space the number of its class; classes stand in the order of their memory.
function makeColoring(model, space, key) {
  const coloring = COLORINGS[key];
  const weight = new Map(), names = new Map();
  let total = 0;
  for (const v of space.values) {
    const name = coloring.of(model, v);
    names.set(v, name);
    const area = model.values.bytes[v] * (model.to[v] - model.from[v]);
    weight.set(name, (weight.get(name) || 0) + area);
    total += area;
  }
  const classes = coloring.classes ? coloring.classes().filter(c => weight.has(c.name))
    : [...weight.keys()].sort((a, b) => weight.get(b) - weight.get(a) || (a < b ? -1 : 1))
      .slice(0, PALETTE.length).map(name => ({ name, color: FIXED.get(name) }));
  let taken = 0;
  for (const c of classes) c.color = c.color || PALETTE[taken++];
  const number = new Map(classes.map((c, i) => [c.name, i]));
  for (const c of classes) c.share = weight.get(c.name) / total;
  if (weight.size > classes.length) {
    const rest = 1 - classes.reduce((sum, c) => sum + c.share, 0);
    classes.push({ name: `${weight.size - number.size} others`, color: OTHER, share: rest });
  }
  const of = new Int16Array(model.count);
  for (const v of space.values) of[v] = number.get(names.get(v)) ?? classes.length - 1;
  for (const c of classes) c.ink = inkOn(c.color);
  return { classes, of };
}

function inkOn(color) {
  const [r, g, b] = [1, 3, 5].map(at => parseInt(color.slice(at, at + 2), 16));
  const isBright = 0.299 * r + 0.587 * g + 0.114 * b > 150;
  return isBright ? "rgba(16, 22, 32, .88)" : "rgba(255, 255, 255, .95)";
}
