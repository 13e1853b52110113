// Numbers as people read them, and elements of the page. Texts of the data only ever become text
// nodes.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

function bytesText(bytes) {
  if (bytes < 0) return "not known";
  let unit = 0;
  while (bytes >= 1023.5 && unit + 1 < UNITS.length) bytes /= 1024, ++unit;
  const digits = unit === 0 || bytes >= 100 ? 0 : bytes >= 10 ? 1 : 2;
  return `${bytes.toFixed(digits)} ${UNITS[unit]}`;
}
function countText(number) { return number.toLocaleString("en-US"); }
function bytesExact(bytes) {
  return bytes < 1024 ? bytesText(bytes) : `${bytesText(bytes)} (${countText(bytes)} B)`;
}
function amountText(number) {
  const names = [" ", " k", " M", " G", " T", " P", " E"];
  let unit = 0;
  while (number >= 1000 && unit + 1 < names.length) number /= 1000, ++unit;
  return `${number.toPrecision(3).replace(/\.0+$/, "")}${names[unit]}`;
}
function secondsText(seconds) {
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  return seconds >= 1e-3 ? `${(1e3 * seconds).toFixed(2)} ms` : `${(1e6 * seconds).toFixed(2)} us`;
}
function percentText(share) { return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`; }
function lastPart(path) { return path.slice(path.lastIndexOf("/") + 1); }

function el(tag, properties, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(properties || {})) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key.startsWith("aria-") || key === "role") node.setAttribute(key, value);
    else if (key === "style") node.style.cssText = value;
    else node[key] = value;
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== "") node.append(child);
  return node;
}
// Puts the children that are there into a node, instead of those it had.
function fill(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter(child => child !== null && child !== ""));
}
function byId(id) { return document.getElementById(id); }
