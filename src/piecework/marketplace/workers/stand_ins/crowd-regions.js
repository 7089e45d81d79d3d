// Regions on a picture: the crowd elements for boxes, points, polygons, lines and masks.
// crowd-html-elements.js loads this module when a page has such an element.
// Coordinates are pixels of the picture as browsers show it, turned upright by its EXIF
// orientation. A pointer and the keyboard's cross do the same three things: press, move,
// release. So whatever a mouse draws, a finger and a keyboard draw too.
import { fill, maskImage, paint } from "./crowd-masks.js";
import { addStyle, cellsOf, MOST_CELLS, MOST_PIXELS, Tool } from "./crowd-tools.js";

const KINDS = {
  "crowd-bounding-box": { word: "box", shape: "box", part: "boundingBoxes", isMerged: true, tellsChange: true },
  "crowd-keypoint": { word: "point", shape: "point", part: "keypoints", isMerged: true },
  "crowd-polygon": { word: "polygon", shape: "polygon", part: "polygons", isMerged: true },
  "crowd-polyline": { word: "line", shape: "polyline", part: "polylines", tellsChange: true },
  "crowd-line": { word: "line", shape: "line", part: "lines", tellsChange: true },
  "crowd-semantic-segmentation": { word: "area", shape: "brush", isMask: true, tellsChange: true },
  "crowd-instance-segmentation": { word: "area", shape: "brush", isMask: true, hasInstances: true },
};
const SVG = "http://www.w3.org/2000/svg";
const LEAST = { box: 2, point: 1, polygon: 3, polyline: 2, line: 2, brush: 1 };
const MOST = { box: 2, point: 1, line: 2 };
const NEAR_MOUSE = 12;
const NEAR_FINGER = 22;
const SMALLEST = 3;
const BIGGEST_ZOOM = 16;
const WIDEST_PREVIEW = 2000;
const LEAST_HIGH = 300; // pixels of the window that a picture may have, however much is above it
const BELOW = 8; // pixels between a picture and the end of the window
const SETTLED_MS = 250; // after a window changed its size

const round = Math.round;
// What is not a number becomes 0.
const clamp = (value, most) => Math.min(Math.max(value, 0), most) || 0;
const drawn = (name, traits = {}) => {
  const node = document.createElementNS(SVG, name);
  Object.entries(traits).forEach(([key, value]) => node.setAttribute(key, value));
  return node;
};
const corners = ([[x0, y0], [x1, y1]]) => [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
const distance = ([x0, y0], [x1, y1]) => Math.hypot(x1 - x0, y1 - y0);
const toSegment = ([x, y], [x0, y0], [x1, y1]) => {
  const square = (x1 - x0) ** 2 + (y1 - y0) ** 2;
  const part = square ? clamp(((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / square, 1) : 0;
  return distance([x, y], [x0 + part * (x1 - x0), y0 + part * (y1 - y0)]);
};
const isInside = ([x, y], points) => points.reduce((inside, [x1, y1], n) => {
  const [x0, y0] = points.at(n - 1);
  return (y0 > y) !== (y1 > y) && x < ((x1 - x0) * (y - y0)) / (y1 - y0) + x0 ? !inside : inside;
}, false);
const side = ([x0, y0], [x1, y1], [x, y]) => Math.sign((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0));
const cross = (a, b, c, d) => side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
const crossesItself = (points, isClosed) => {
  const edges = points.slice(1).map((point, n) => [points[n], point]);
  if (isClosed && points.length > 2) edges.push([points.at(-1), points[0]]);
  return edges.some((edge, n) => edges.slice(n + 2).some((other) => cross(...edge, ...other)));
};
const pathOf = (points, isClosed) =>
  `M${points.map(([x, y]) => `${x} ${y}`).join("L")}${points.length === 1 ? "h0" : ""}${isClosed ? "Z" : ""}`;

class Regions extends Tool {
  constructor(element, kit) {
    super(element, kit, KINDS[element.localName].word);
    this.kind = KINDS[element.localName];
    this.shape = this.kind.shape;
    this.zoom = 1;
    this.pen = null;
    this.cursor = null;
    this.open = [];
    this.instances = this.kind.hasInstances ? this.withFirsts([]) : null;
    this.build();
  }

  // --- the page ---------------------------------------------------------------------
  // The picture with its marks.
  frame(alt) {
    const { make, translate } = this.kit;
    this.picture = make("img", { alt, draggable: "false" });
    this.layer = drawn("svg", { "aria-hidden": "true", preserveAspectRatio: "none" });
    this.drawing = drawn("path", { class: "crowd-drawing" });
    this.crosshair = drawn("path", { class: "crowd-cross" });
    this.handles = make("div", { class: "crowd-handles" });
    this.mask = this.kind.isMask ? make("canvas", { class: "crowd-mask", "aria-hidden": "true" }) : null;
    this.stage = make("div", { class: "crowd-stage" }, this.picture, ...(this.mask ? [this.mask] : []), this.layer, this.handles);
    this.view = make("div", { class: "crowd-view" }, this.stage);
    this.zooms = [this.button(translate("Larger"), () => this.setZoom(this.zoom * 2)),
      this.button(translate("Smaller"), () => this.setZoom(this.zoom / 2))];
  }
  build() {
    const { make, translate } = this.kit;
    this.frame(translate("The picture to mark"));
    Object.entries({
      tabindex: "0", role: "application", "aria-describedby": `${this.id}-keys`,
      "aria-label": translate("The picture. Arrow keys move the cross, Enter draws."),
    }).forEach(([name, value]) => this.stage.setAttribute(name, value));
    this.finishButton = this.button(translate("Finish"), () => this.finish());
    this.cornerButton = this.button(translate("Add a corner"), () => this.addCorner());
    this.bar = make("div", { class: "crowd-bar" }, this.finishButton, this.cornerButton,
      this.button(translate("Undo"), () => this.undo()), ...this.zooms);
    this.assemble(...(this.mask ? [this.tools()] : []), this.view, this.bar, this.keys());
    this.listen();
    this.watch();
    this.load();
    this.refresh();
  }
  keys() {
    const { translate } = this;
    const ends = this.shape === "point" ? translate("Enter places a point.")
      : this.isLong() ? translate("Enter sets each corner; press it twice at the last one.")
        : translate("Enter begins, and Enter again ends.");
    return translate("Keyboard: arrow keys move the cross, with Shift by one step. %(ends)s Escape cancels. Digits choose a label. Edit in the list moves a region and its corners with the arrow keys; Delete removes it. Two fingers scroll and enlarge.", { ends });
  }
  tools() {
    const { make, translate } = this.kit;
    this.width = make("input", { type: "range", min: 1, max: 100, value: 20, "aria-label": translate("Width of the brush") });
    const eraser = translate("Eraser");
    const shapes = { [translate("Brush")]: "brush", [translate("Polygon")]: "polygon", [eraser]: "brush" };
    const choose = (name) => {
      this.cancel();
      this.isErasing = name === eraser;
      this.shape = shapes[name];
      this.refresh();
    };
    return make("span", { class: "crowd-bar" }, this.choice(translate("Tool"), Object.keys(shapes), choose), this.width);
  }
  // A brush's width in pixels of the picture, so that zooming in paints finer.
  brush() { return Math.max(1, Number(this.width.value) * this.scale()); }
  load() {
    const source = this.element.getAttribute("src") || "";
    this.picture.addEventListener("load", () => this.begin());
    this.picture.addEventListener("error", () => this.fail(source));
    if (source) {
      this.picture.src = source;
    } else {
      this.fail(this.translate("the page names none"));
    }
  }
  fail(source) {
    this.isBroken = true;
    const values = { source: source.slice(0, 200) };
    this.say(this.translate("The picture did not load (%(source)s). Reload the page. If that does not help, return the HIT.", values), true);
  }
  begin() {
    [this.wide, this.high] = [this.picture.naturalWidth, this.picture.naturalHeight];
    if (!this.wide || !this.high) {
      this.fail(this.translate("it has no size of its own"));
      return;
    }
    this.isBroken = false;
    this.say("", true);
    this.layer.setAttribute("viewBox", `0 0 ${this.wide} ${this.high}`);
    this.layer.append(this.drawing, this.crosshair);
    this.fit();
    if (this.mask && this.wide * this.high > MOST_PIXELS) {
      this.isBroken = true;
      this.say(this.translate("The picture has more than %(most)s pixels, so its mask cannot be read. Return the HIT.", { most: MOST_PIXELS }), true);
      return;
    }
    if (this.mask) {
      const part = Math.min(1, WIDEST_PREVIEW / Math.max(this.wide, this.high));
      [this.mask.width, this.mask.height] = [Math.ceil(this.wide * part), Math.ceil(this.high * part)];
    }
    new ResizeObserver(() => this.resize()).observe(this.stage);
    this.resize();
    this.start();
  }
  start() {
    const stated = this.stated();
    const earlier = (Array.isArray(stated) ? stated : stated?.[this.kind.part]) || [];
    this.regions = (this.mask ? [] : earlier).map((region) => this.fromStated(region)).filter(Boolean);
    this.regions.forEach((region) => this.show(region));
    if (this.mask && stated?.src) this.readMask(stated);
    if (this.refuseStated()) return;
    this.changed();
    this.first = JSON.stringify(this.regions.map((region) => this.toSent(region)));
    this.resume();
    this.history = [];
  }
  // What is not a number, has no size or no label of the page cannot be shown.
  fromStated(mark) {
    const points = this.pointsOf(mark);
    if (!points.flat().every(Number.isFinite) || !this.labels.includes(mark.label)) return null;
    const region = { label: mark.label, shape: this.shape, points: points.map((point) => this.within(point)) };
    return this.faultOf(region, 1, true) ? null : region;
  }
  pointsOf(mark) {
    const numbers = (...values) => values.map((value) => Number(value ?? NaN));
    return this.shape === "box"
      ? (([x, y, wide, high]) => [[x, y], [x + wide, y + high]])(numbers(mark?.left, mark?.top, mark?.width, mark?.height))
      : this.shape === "point" ? [numbers(mark?.x, mark?.y)]
        : Array.from(mark?.vertices || [], (corner) => numbers(corner?.x, corner?.y));
  }
  async readMask({ src, labelMappings, instances }) {
    if (this.instances) this.readInstances(instances);
    const names = this.names();
    const colors = this.instances?.map(({ color }) => color) ?? names.map((name) => labelMappings?.[name]?.color);
    try {
      const { indexes, hasUnknown } = await maskImage(src, this.wide, this.high, colors);
      this.earlier = { names, indexes, hasUnknown, used: names.filter((_, n) => indexes.includes(n + 1)) };
      this.rebase();
      this.paintMask();
      this.refresh();
    } catch {
      this.isBroken = true;
      this.say(this.translate("The earlier mask did not load. Return the HIT."), true);
    }
  }

  readInstances(stated) {
    const counts = {};
    const named = (Array.isArray(stated) ? stated : []).filter((each) => this.labels.includes(each?.label));
    this.instances = this.withFirsts(named.map(({ color, label }) => {
      counts[label] = (counts[label] || 0) + 1;
      return { color, label, name: `${label} ${counts[label]}` };
    }));
    this.fillLabels();
  }
  // The earlier mask by the labels of now: what lost its label is not marked.
  rebase() {
    const { names, indexes } = this.earlier;
    const places = [0, ...names.map((name) => this.names().indexOf(name) + 1)];
    const isSame = places.every((place, n) => place === n);
    this.base = isSame ? indexes : indexes.map((index) => places[index]);
  }
  relabel() {
    super.relabel();
    if (this.earlier) this.rebase();
    if (this.mask) this.paintMask();
  }

  // --- places -----------------------------------------------------------------------
  scale() { return this.wide / (this.stage.clientWidth || 1); }
  // Only an observer knows how much of a frame is in the window around it.
  watch() {
    const frame = this.kit.make("div", { class: "crowd-frame", "aria-hidden": "true" });
    const sight = new IntersectionObserver(([{ intersectionRect, boundingClientRect }]) => {
      sight.disconnect();
      this.seen = intersectionRect.height || boundingClientRect.height;
      this.isAllSeen = this.seen > boundingClientRect.height - 1;
      this.fit();
    });
    let [wide, timer] = [0, 0];
    new ResizeObserver(() => {
      // Fingers change the height alone: the browser hides its bars while they scroll.
      if (frame.clientWidth === wide && !matchMedia("(pointer: fine)").matches) return;
      clearTimeout(timer);
      // A frame hears of its new size before it hears how much of it is in the window.
      timer = setTimeout(() => sight.observe(frame), wide ? SETTLED_MS : 0);
      wide = frame.clientWidth;
    }).observe(frame);
    this.root.append(frame);
  }
  // The picture is whole in the first screen. If too much is above it, it is whole in one
  // screen with its labels.
  fit() {
    if (!this.wide || !this.seen) return;
    const [view, labels] = [this.view, this.labelBox ?? this.root].map((node) => node.getBoundingClientRect());
    const first = this.seen - view.top - scrollY - BELOW;
    const room = first < LEAST_HIGH ? this.seen - (view.top - labels.top) - BELOW : first;
    // A frame that grows with its page would shrink with the picture, and the picture with it.
    const isWhole = this.isAllSeen && view.bottom + scrollY < this.seen;
    const high = Math.max(room, isWhole ? this.view.clientHeight : LEAST_HIGH);
    this.stage.style.setProperty("--fit", `${high * (this.wide / this.high)}px`);
    this.stage.style.setProperty("--least", `${Math.max(1, this.wide / this.high)}rem`);
  }
  resize() { this.layer.style.setProperty("--pixel", this.scale()); this.placeHandles(); }
  setZoom(zoom) {
    if (this.zoom === 1) this.view.style.height = `${this.view.offsetHeight}px`;
    // A portrait is narrower than its place, and can be made as wide as any other picture.
    const fitted = this.stage.offsetWidth / this.zoom;
    this.zoom = Math.min(Math.max(zoom, 1), BIGGEST_ZOOM * Math.max(1, this.view.clientWidth / fitted));
    if (this.zoom === 1) this.view.style.height = "";
    this.stage.style.setProperty("--zoom", this.zoom);
  }
  within([x, y]) { return [clamp(x, this.wide), clamp(y, this.high)]; }
  place(event) {
    const box = this.stage.getBoundingClientRect();
    return this.within([(event.clientX - box.left) * (this.wide / box.width), (event.clientY - box.top) * (this.high / box.height)]);
  }

  // --- pressing, moving, releasing --------------------------------------------------
  listen() {
    this.stage.addEventListener("pointerdown", (event) => {
      if (this.isBroken || !this.wide || event.button > 0 || !event.isPrimary) return;
      event.preventDefault();
      this.stage.focus({ preventScroll: true });
      this.stage.setPointerCapture(event.pointerId);
      this.cursor = null;
      this.isHeld = true;
      this.near = (event.pointerType === "mouse" ? NEAR_MOUSE : NEAR_FINGER) * this.scale();
      this.press(this.place(event));
    });
    this.stage.addEventListener("pointermove", (event) => {
      // A button that was let go outside of the window counts when the pointer is back.
      if (this.isHeld && event.isPrimary && !event.buttons) {
        this.lift(event);
      } else if (event.isPrimary && (this.isHeld || (this.open.length && !this.cursor))) {
        this.move(this.place(event));
      }
    });
    this.stage.addEventListener("pointerup", (event) => this.isHeld && event.isPrimary && this.lift(event));
    this.stage.addEventListener("pointercancel", () => {
      this.isHeld = false;
      this.drop();
    });
    // One finger draws. A second one scrolls and enlarges, as browsers do it.
    this.stage.addEventListener("touchmove", (event) => {
      if (event.touches.length > 1) {
        this.drop();
      } else if (this.pen) {
        event.preventDefault();
      }
    }, { passive: false });
    this.stage.addEventListener("dblclick", () => this.isLong() && this.open.length && this.finish());
    this.stage.addEventListener("blur", () => { this.crosshair.removeAttribute("d"); });
    this.stage.addEventListener("keydown", (event) => this.key(event));
  }
  lift(event) {
    this.isHeld = false;
    if (this.pen) this.release(this.place(event));
  }
  isLong() { return this.shape === "polygon" || this.shape === "polyline"; }
  press(at) {
    this.near ||= NEAR_MOUSE * this.scale();
    const handle = this.chosen && this.open.length === 0 ? this.handleNear(at) : -1;
    // Inside of a region a new one can begin: its middle and its outline move it.
    const isOnChosen = this.chosen && !this.mask
      && (distance(this.centre(this.chosen), at) <= this.near || this.isOn(this.chosen, at, false));
    if (this.isLong() && this.open.length) {
      this.pen = { from: at, act: "corner" };
    } else if (handle >= 0 || isOnChosen) {
      this.pen = { from: at, act: handle >= 0 ? handle : "all", before: structuredClone(this.chosen.points) };
    } else if (this.isLong()) {
      this.pen = { from: at, act: "corner" };
    } else {
      this.pen = { from: at, act: "new" };
      this.open = this.shape === "box" || this.shape === "line" ? [at, at] : [at];
    }
    this.move(at);
  }
  move(at) {
    const { pen } = this;
    if (pen?.before) {
      this.shift(this.chosen, pen.before, pen.act, [at[0] - pen.from[0], at[1] - pen.from[1]]);
    } else if (pen?.act === "new" && this.shape === "brush") {
      if (distance(this.open.at(-1), at) >= this.scale()) this.open.push(at);
    } else if (pen?.act === "new") {
      this.open[this.open.length - 1] = at;
    }
    this.preview(at);
  }
  release(at) {
    const pen = this.pen;
    this.pen = null;
    if (pen.before) {
      this.settleMove(pen);
      return;
    }
    const isStill = distance(pen.from, at) < SMALLEST * this.scale();
    const hit = isStill && !this.mask && !(this.isLong() && this.open.length) ? this.regionAt(at) : null;
    if (hit) {
      this.open = [];
      this.choose(hit);
    } else if (pen.act === "corner") {
      this.corner(at);
    } else {
      this.finish();
    }
    this.preview(at);
  }
  drop() {
    if (this.pen?.before) {
      this.chosen.points = this.pen.before;
      this.show(this.chosen);
    } else if (!this.isLong()) {
      this.open = [];
    }
    this.pen = null;
    this.preview(null);
    this.refresh();
  }
  cancel() {
    this.open = [];
    this.drop();
  }
  corner(at) {
    const isDone = this.open.length && (distance(at, this.open.at(-1)) < SMALLEST * this.scale()
      || (this.shape === "polygon" && this.open.length > 2 && distance(at, this.open[0]) < this.near));
    if (isDone) {
      this.finish();
    } else if (this.shape === "polygon" && !this.mask && crossesItself([...this.open, at], false)) {
      this.say(this.translate("The polygon would cross itself. Set this corner elsewhere."));
    } else {
      this.open.push(at);
      this.choose(null);
    }
    this.refresh();
  }
  finish() {
    const points = this.shape === "box" ? this.boxed(this.open) : this.open;
    const named = this.isErasing ? { label: null } : this.named(this.label);
    const region = { ...named, shape: this.shape, points };
    if (this.shape === "brush") region.width = this.brush();
    const fault = this.faultOf(region, SMALLEST * this.scale(), Boolean(this.mask));
    if (fault) {
      this.say(fault);
      if (!this.isLong()) this.open = [];
    } else {
      this.open = [];
      this.add(region);
      if (!this.mask) this.choose(region);
    }
    this.preview(null);
    this.refresh();
  }
  boxed(points) {
    const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]).sort((a, b) => a - b));
    return [[xs[0], ys[0]], [xs.at(-1), ys.at(-1)]];
  }
  faultOf({ shape, points, label }, least, mayCross) {
    const { translate } = this;
    const different = points.filter((point, n) => n === 0 || distance(point, points[n - 1]) > 0);
    if (label === undefined) return translate("Choose a label first.");
    if (different.length < LEAST[shape]) {
      return shape === "box" ? translate("A box needs a size. Draw from one corner to the opposite one.")
        : translate("A %(word)s needs at least %(least)s points.", { word: this.word, least: LEAST[shape] });
    }
    if (shape === "box" && (round(points[1][0]) - round(points[0][0]) < Math.max(1, least)
      || round(points[1][1]) - round(points[0][1]) < Math.max(1, least))) {
      return translate("A box needs a size. Draw from one corner to the opposite one.");
    }
    if (shape === "line" && distance(...points) < least) return translate("A line needs a length. Draw from one end to the other.");
    if (shape === "polygon" && !mayCross && crossesItself(points, true)) {
      return translate("The polygon would cross itself. Move or remove a corner.");
    }
    return "";
  }

  // --- changing a region ------------------------------------------------------------
  points(region) { return region.shape === "box" ? corners(region.points) : region.points; }
  handleNear(at) {
    if (this.chosen.shape === "brush") return -1;
    const far = this.points(this.chosen).map((point) => distance(point, at));
    const nearest = far.indexOf(Math.min(...far));
    return far[nearest] <= this.near ? nearest : -1;
  }
  centre(region) {
    const [[x0, y0], [x1, y1]] = this.boxed(region.points);
    return [(x0 + x1) / 2, (y0 + y1) / 2];
  }
  isOn(region, at, countsInside = true) {
    const points = this.points(region);
    const isClosed = region.shape === "box" || region.shape === "polygon";
    if (countsInside && isClosed && isInside(at, points)) return true;
    return points.some((point, n) => (n > 0 || isClosed || points.length === 1)
      && toSegment(at, points.at(n - 1), point) <= Math.max(this.near / 2, (region.width || 0) / 2));
  }
  // The smallest region at a place: a nested one can be chosen too.
  regionAt(at) {
    const size = (region) => {
      const [[x0, y0], [x1, y1]] = this.boxed(region.points);
      return (x1 - x0) * (y1 - y0);
    };
    return this.regions.filter((region) => this.isOn(region, at)).sort((a, b) => size(a) - size(b))[0] || null;
  }
  shift(region, before, act, [dx, dy]) {
    if (act === "all") {
      const [[x0, y0], [x1, y1]] = this.boxed(before);
      const [sx, sy] = [Math.min(Math.max(dx, -x0), this.wide - x1), Math.min(Math.max(dy, -y0), this.high - y1)];
      region.points = before.map(([x, y]) => [x + sx, y + sy]);
    } else if (region.shape === "box") {
      const at = corners(before)[act];
      const [x, y] = this.within([at[0] + dx, at[1] + dy]);
      const points = structuredClone(before);
      points[act === 0 || act === 3 ? 0 : 1][0] = x;
      points[act < 2 ? 0 : 1][1] = y;
      region.points = points;
    } else {
      region.points = before.map(([x, y], n) => (n === act ? this.within([x + dx, y + dy]) : [x, y]));
    }
    this.show(region);
    this.placeHandles();
  }
  settleMove({ before }) {
    const region = this.chosen;
    if (region.shape === "box") region.points = this.boxed(region.points);
    const fault = this.faultOf(region, 1, Boolean(this.mask));
    const after = region.points;
    region.points = before;
    if (fault) {
      this.say(fault);
    } else if (JSON.stringify(after) !== JSON.stringify(before)) {
      this.remember();
      region.points = after;
      this.changed();
    }
    this.show(region);
    this.refresh();
  }
  nudge(act, [dx, dy]) {
    const before = structuredClone(this.chosen.points);
    this.shift(this.chosen, before, act, [dx, dy]);
    this.settleMove({ before });
  }
  addCorner() {
    const points = structuredClone(this.chosen.points);
    // No line leads from the last corner of a polyline to its first.
    const after = Math.min(this.held ?? 0, points.length - (this.chosen.shape === "polyline" ? 2 : 1));
    const next = points[(after + 1) % points.length];
    points.splice(after + 1, 0, [(points[after][0] + next[0]) / 2, (points[after][1] + next[1]) / 2]);
    this.remember();
    this.chosen.points = points;
    this.show(this.chosen);
    this.changed();
    this.choose(this.chosen);
    this.handles.children[after + 2]?.focus();
  }
  removeCorner(n) {
    const points = this.chosen.points.filter((_, other) => other !== n);
    const fault = this.faultOf({ ...this.chosen, points }, 1, Boolean(this.mask));
    if (fault) {
      this.say(fault);
      return;
    }
    this.remember();
    this.chosen.points = points;
    this.show(this.chosen);
    this.changed();
    this.choose(this.chosen);
    this.handles.children[Math.min(n + 1, points.length)]?.focus();
  }

  // --- keys -------------------------------------------------------------------------
  step(event) {
    const size = (event.shiftKey ? 1 : 10) * Math.max(this.scale(), event.shiftKey ? 0 : 1 / 10);
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const least = event.shiftKey ? Math.max(1, size) : size;
    return steps[event.key]?.map((part) => part * least);
  }
  key(event) {
    if (event.target !== this.stage || this.isBroken || !this.wide || event.altKey) return;
    const step = this.step(event);
    if ((event.ctrlKey || event.metaKey) && event.key === "z") {
      this.undo();
    } else if (event.ctrlKey || event.metaKey) {
      return;
    } else if (step) {
      this.cursor = this.within([(this.cursor ?? this.middle())[0] + step[0], (this.cursor ?? this.middle())[1] + step[1]]);
      this.move(this.cursor);
      this.showCross();
    } else if (event.key === "Enter" || event.key === " ") {
      this.cursor ??= this.middle();
      this.enter();
      this.showCross();
    } else if (event.key === "Escape") {
      this.cancel();
      this.choose(null);
    } else if (event.key === "Backspace" && this.open.length && this.isLong()) {
      this.open.pop();
      this.preview(this.cursor);
      this.refresh();
    } else if (event.key === "Delete" && this.chosen) {
      this.remove(this.chosen);
    } else if (!this.digit(event.key)) {
      return;
    }
    event.preventDefault();
  }
  // By keyboard a first Enter presses and a second releases; a point needs one.
  enter() {
    this.near = SMALLEST * this.scale();
    if (this.pen) {
      this.release(this.cursor);
    } else {
      if (!this.open.length) this.choose(null);
      this.press(this.cursor);
      if (this.shape === "point" || this.isLong()) this.release(this.cursor);
    }
  }
  middle() {
    const [stage, view] = [this.stage, this.view].map((node) => node.getBoundingClientRect());
    return this.place({ clientX: (Math.max(stage.left, view.left) + Math.min(stage.right, view.right)) / 2,
      clientY: (stage.top + stage.bottom) / 2 });
  }
  showCross() {
    const [x, y] = this.cursor;
    const arm = 14 * this.scale();
    this.crosshair.setAttribute("d", `M${x - arm} ${y}H${x + arm}M${x} ${y - arm}V${y + arm}`);
    const part = this.stage.clientWidth / this.wide;
    this.view.scrollTo({ left: Math.min(this.view.scrollLeft, x * part - 20), behavior: "instant" });
    this.view.scrollTo({ left: Math.max(this.view.scrollLeft, x * part + 20 - this.view.clientWidth), behavior: "instant" });
    this.view.scrollTo({ top: Math.min(this.view.scrollTop, y * part - 20), behavior: "instant" });
    this.view.scrollTo({ top: Math.max(this.view.scrollTop, y * part + 20 - this.view.clientHeight), behavior: "instant" });
  }

  // --- showing ----------------------------------------------------------------------
  preview(at) {
    const points = this.open.length && at && this.isLong() ? [...this.open, at] : this.open;
    if (!points.length) {
      this.drawing.removeAttribute("d");
      return;
    }
    const isBox = this.shape === "box";
    this.drawing.setAttribute("d", pathOf(isBox ? corners(points) : points, isBox));
    this.drawing.style.strokeWidth = this.shape === "brush" ? this.brush() : "";
    this.drawing.classList.toggle("crowd-brush", this.shape === "brush");
    this.drawing.style.stroke = this.isErasing ? "#fff" : this.colorOf({ label: this.label });
  }
  show(region) {
    if (this.mask) {
      this.paintMask();
    } else {
      region.node ??= { group: drawn("g"), path: drawn("path"), name: drawn("text") };
      const { group, path, name } = region.node;
      const isClosed = region.shape === "box" || region.shape === "polygon";
      if (!group.isConnected) {
        group.append(path, name);
        this.layer.insertBefore(group, this.drawing);
      }
      const points = this.points(region);
      path.setAttribute("d", pathOf(points, isClosed));
      path.setAttribute("class", `crowd-${region.shape}${region === this.chosen ? " crowd-chosen" : ""}`);
      path.style.stroke = this.colorOf(region);
      path.style.fill = isClosed ? `${this.colorOf(region)}22` : "none";
      name.textContent = region.label;
      const top = points.reduce((a, b) => (b[1] < a[1] ? b : a));
      name.setAttribute("x", top[0]);
      name.setAttribute("y", top[1]);
    }
  }
  hide(region) {
    region.node?.group.remove();
    if (this.mask) this.paintMask();
  }
  paintMask() {
    cancelAnimationFrame(this.painting);
    this.painting = requestAnimationFrame(() =>
      paint(this.mask, this.wide, this.base, this.regions, (region) => this.colorOf(region), this.colors()));
  }
  choose(region) {
    // A deletion or an undo in the middle of a move ends the move.
    if (this.pen?.before) this.drop();
    const before = this.chosen;
    super.choose(region);
    this.regions.filter((other) => other === before || other === region).forEach((other) => this.show(other));
    this.held = null;
    this.handles.replaceChildren(...(region ? this.handleButtons(region) : []));
    this.placeHandles();
    this.refresh();
  }
  handleButtons(region) {
    const { make } = this.kit;
    const name = this.nameOf(region);
    const parts = region.shape === "brush" || region.shape === "point" ? [] : this.points(region);
    const button = (label, act) => {
      const made = make("button", { type: "button", class: act === "all" ? "crowd-move" : "crowd-corner", "aria-label": label });
      made.addEventListener("focus", () => { this.held = act === "all" ? null : act; });
      made.addEventListener("keydown", (event) => {
        const step = this.step(event);
        if (step) {
          this.nudge(act, step);
        } else if ((event.key === "Delete" || event.key === "Backspace") && act !== "all" && region.shape !== "box") {
          this.removeCorner(act);
        } else if (event.key === "Delete") {
          this.remove(region);
          this.stage.focus();
        } else if (event.key === "Escape") {
          this.choose(null);
          this.stage.focus();
        } else {
          return;
        }
        event.preventDefault();
        event.stopPropagation();
      });
      return made;
    };
    const { translate } = this;
    return [button(translate("Move %(name)s", { name }), "all"),
      ...parts.map((_, n) => button(translate("Corner %(number)s of %(name)s", { name, number: n + 1 }), n))];
  }
  placeHandles() {
    if (!this.chosen) return;
    const points = this.points(this.chosen);
    [this.centre(this.chosen), ...points].forEach(([x, y], n) => {
      const handle = this.handles.children[n];
      if (handle) {
        handle.style.left = `${(x / this.wide) * 100}%`;
        handle.style.top = `${(y / this.high) * 100}%`;
      }
    });
  }
  edit(region) {
    this.choose(region);
    this.handles.children[0].focus();
  }
  refresh() {
    super.refresh();
    this.finishButton.hidden = !(this.isLong() && this.open.length);
    this.cornerButton.hidden = !(this.chosen && (this.chosen.shape === "polygon" || this.chosen.shape === "polyline"));
  }

  // --- the answer -------------------------------------------------------------------
  toSent({ label, shape, points, width }) {
    if (this.mask) return { label, points, shape, width };
    const places = points.map(([x, y]) => ({ x: round(x), y: round(y) }));
    if (shape === "box") {
      const [from, to] = places;
      return { height: to.y - from.y, label, left: from.x, top: from.y, width: to.x - from.x };
    }
    return shape === "point" ? { label, ...places[0] } : { label, vertices: places };
  }
  answer() {
    const inputImageProperties = { height: this.high, width: this.wide };
    const isChanged = JSON.stringify(this.regions.map((region) => this.toSent(region))) !== this.first;
    const change = this.kind.tellsChange && this.element.hasAttribute("initial-value") ? { initialValueModified: isChanged } : {};
    if (!this.mask) {
      return { ...change, inputImageProperties, [this.kind.part]: this.regions.map((region) => this.toSent(region)) };
    }
    const labeledImage = { pngImageData: this.png || "" };
    if (this.instances) {
      const used = this.instances.filter(({ name }) => this.isUsed(name));
      const instances = used.map(({ label, name }) => ({ color: this.colorOf({ instance: name }), label }));
      return { inputImageProperties, instances, labeledImage };
    }
    const colors = this.colors();
    const labelMappings = Object.fromEntries(this.labels.map((label, n) => [label, { color: colors[n] }]));
    return { ...change, inputImageProperties, labelMappings, labeledImage };
  }
  // A mask has no color for a label that the page's script took away.
  unsendable() {
    if (!this.mask) return [];
    return this.regions.filter(({ label, instance }) => label !== null && !this.names().includes(instance ?? label));
  }
  excess() {
    const isArea = this.shape === "polygon" && !this.mask;
    const boxes = isArea ? this.regions.map(({ points }) => this.boxed(points).flat()) : [];
    return super.excess() || (cellsOf(this.wide, this.high, boxes) > MOST_CELLS ? this.tooWide() : "");
  }
  tooWide() { return this.translate("the areas cover too much of the picture together; mark fewer of them, or smaller ones"); }
  async settle() {
    if (!this.mask) return;
    const names = this.names();
    const indexOf = ({ label, instance }) => (label === null ? 0 : names.indexOf(instance ?? label) + 1);
    const { boxes, image } = await fill(this.wide, this.high, this.base, this.regions, indexOf, this.colors());
    if (cellsOf(this.wide, this.high, boxes) > MOST_CELLS) throw new Error(this.tooWide());
    this.png = image;
  }
}

// Marks that a worker judges: drawn, and not to be changed.
class Marks extends Regions {
  build() {
    const { make } = this.kit;
    this.frame(this.element.getAttribute("alt"));
    this.stage.classList.add("crowd-still");
    this.fault = make("p", { class: "crowd-fault", role: "alert" });
    this.legend = make("ul", { class: "crowd-bar crowd-legend" });
    this.root = make("div", { class: "crowd-tool" }, this.view, make("div", { class: "crowd-bar" }, ...this.zooms), this.legend, this.fault);
    this.watch();
    this.load();
  }
  async start() {
    const stated = this.stated();
    this.regions = this.mask ? [] : stated.map((mark) => (this.isInView(mark) ? this.fromStated(mark) : null));
    if (this.mask) await this.readMask(stated);
    if (this.regions.includes(null) || this.earlier?.hasUnknown) {
      this.isBroken = true;
      this.say(this.kit.MARKS_LACK, true);
      return;
    }
    this.regions.forEach((region) => this.show(region));
    this.isShown = !this.isBroken;
    const names = this.mask ? this.earlier?.used || [] : [...new Set(this.regions.map(({ label }) => label))];
    this.legend.replaceChildren(...names.map((name) => {
      const swatch = this.kit.make("span", { class: "crowd-swatch" });
      swatch.style.background = this.colorOf(this.named(name));
      return this.kit.make("li", {}, swatch, this.kit.make("span", {}, name));
    }));
  }
  // A mark wholly outside of the picture would be drawn at its edge, which is not its place.
  isInView(mark) {
    const points = this.pointsOf(mark);
    return points.length > 0 && [this.wide, this.high].every((most, axis) => {
      const along = points.map((point) => point[axis]);
      const [first, last] = [Math.min(...along), Math.max(...along)];
      return !(first < 0 && last <= 0) && !(last > most && first >= most);
    });
  }
  // A mark that is too small to be drawn is to be judged, too.
  faultOf() { return ""; }
  fillLabels() {}
  refresh() {}
}

const WHITE = "#ffffff";
// An element with the attributes of the one that made the marks; null if that cannot be known.
const elementOf = ({ source, alt, overlay }, make) => {
  const [[task, stated] = []] = Object.entries(overlay || {});
  const tag = `crowd-${String(task).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const { isMask, hasInstances } = KINDS[tag] || {};
  const marks = isMask ? (hasInstances ? stated?.instances : Object.entries(stated?.labelMappings || {}).map(([label, { color }]) => ({ label, color })))
    : stated?.value?.map?.((mark) => ({ ...mark, label: String(mark?.label) }));
  const isReadable = Array.isArray(marks) && (!isMask || (stated.src && (hasInstances || marks.length)
    && marks.every(({ color }) => /^#[0-9a-f]{6}$/i.test(color))));
  if (!KINDS[tag] || !isReadable) return null;
  // White is what has no label.
  const used = marks.filter(({ color }) => color?.toLowerCase() !== WHITE);
  const labels = [...new Set(used.map(({ label }) => label))];
  const colors = labels.map((name) => used.find(({ label }) => label === name).color);
  return make(tag, {
    src: source, alt, labels: JSON.stringify(labels), "label-colors": JSON.stringify(isMask ? colors : []),
    "initial-value": JSON.stringify(isMask ? stated : marks),
  });
};

export const showMarks = (place, kit, judged) => {
  addStyle(place.getRootNode(), kit.make);
  const element = elementOf(judged, kit.make);
  if (!element) {
    place.append(kit.make("img", { src: judged.source, alt: judged.alt }),
      kit.make("p", { class: "crowd-fault", role: "alert" }, kit.MARKS_LACK));
    return null;
  }
  const marks = new Marks(element, kit);
  place.append(marks.root);
  return marks;
};

export const create = (element, kit) => new Regions(element, kit);
