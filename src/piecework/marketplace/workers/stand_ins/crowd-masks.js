// Masks: areas painted on a picture, shown on a small canvas and sent as a PNG of the whole
// picture. The PNG has a palette, as Amazon's had: index 0, white, is what has no label. It
// is written row by row, so that pictures larger than a browser's largest canvas work, and
// without the mixed colours that a canvas leaves at edges. As few bits a pixel as the labels
// need keep it small: an answer has a limit.
const ROUND = 24;
const ROWS_AT_ONCE = 64;

// The picture's size and each area: later areas and erasers cover earlier ones.
export const paint = (canvas, wide, base, regions, colorOf, colors) => {
  const context = canvas.getContext("2d");
  const part = canvas.width / wide;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.globalCompositeOperation = "source-over";
  context.clearRect(0, 0, canvas.width, canvas.height);
  if (base) paintBase(context, canvas, wide, base, colors);
  context.setTransform(part, 0, 0, part, 0, 0);
  context.lineCap = "round";
  context.lineJoin = "round";
  regions.forEach((region) => {
    context.globalCompositeOperation = region.label === null ? "destination-out" : "source-over";
    context.fillStyle = region.label === null ? "#000" : colorOf(region);
    context.strokeStyle = context.fillStyle;
    context.beginPath();
    region.points.forEach(([x, y]) => context.lineTo(x, y));
    if (region.shape === "polygon") {
      context.fill("evenodd");
    } else {
      if (region.points.length === 1) context.lineTo(region.points[0][0], region.points[0][1]);
      context.lineWidth = region.width;
      context.stroke();
    }
  });
};

const bytesOf = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));

const paintBase = (context, canvas, wide, base, colors) => {
  const image = context.createImageData(canvas.width, canvas.height);
  const high = base.length / wide;
  const words = new Uint32Array(image.data.buffer);
  const palette = [0, ...colors.map(bytesOf).map(([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0)];
  for (let y = 0; y < canvas.height; y += 1) {
    const row = Math.floor((y * high) / canvas.height) * wide;
    for (let x = 0; x < canvas.width; x += 1) {
      words[y * canvas.width + x] = palette[base[row + Math.floor((x * wide) / canvas.width)]];
    }
  }
  context.putImageData(image, 0, 0);
};

// An earlier mask as one index for each pixel: 0 without a label, else the colour's place + 1.
// White and what is transparent have no label; any other colour that is not listed is unknown.
export const maskImage = async (source, wide, high, colors) => {
  const image = new Image();
  image.crossOrigin = "anonymous";
  image.src = source;
  await image.decode();
  const indexes = new Uint8Array(wide * high);
  const index = new Map([[0xffffff, 0]]);
  let hasUnknown = false;
  colors.forEach((color, n) => {
    if (/^#[0-9a-f]{6}$/i.test(color || "")) index.set(parseInt(color.slice(1), 16), n + 1);
  });
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [wide, ROWS_AT_ONCE];
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingEnabled = false;
  for (let top = 0; top < high; top += ROWS_AT_ONCE) {
    context.clearRect(0, 0, wide, ROWS_AT_ONCE);
    context.drawImage(image, 0, -top, wide, high);
    const { data: pixels } = context.getImageData(0, 0, wide, Math.min(ROWS_AT_ONCE, high - top));
    for (let n = 0; n < pixels.length; n += 4) {
      const isThere = pixels[n + 3] > 127;
      const color = (pixels[n] << 16) + (pixels[n + 1] << 8) + pixels[n + 2];
      if (isThere && index.has(color)) indexes[top * wide + n / 4] = index.get(color);
      else if (isThere) hasUnknown = true;
    }
  }
  return { indexes, hasUnknown };
};

// The polygons that an area covers: itself, or a capsule for each step of a brush.
const polygonsOf = ({ points, shape, width }) => {
  if (shape === "polygon") return [points];
  const ends = points.length === 1 ? [[points[0], points[0]]] : points.slice(1).map((point, n) => [points[n], point]);
  return ends.map(([[x0, y0], [x1, y1]]) => {
    const angle = Math.atan2(y1 - y0, x1 - x0);
    return Array.from({ length: 2 * ROUND }, (_, n) => {
      const turn = angle - Math.PI / 2 + (Math.PI * (n < ROUND ? n : n - 1)) / (ROUND - 1);
      const [x, y] = n < ROUND ? [x1, y1] : [x0, y0];
      return [x + (Math.cos(turn) * width) / 2, y + (Math.sin(turn) * width) / 2];
    });
  });
};
const edges = (polygon, index) => ({
  index, polygon, top: Math.min(...polygon.map(([, y]) => y)), bottom: Math.max(...polygon.map(([, y]) => y)),
});
// A pixel belongs to an area if its middle does.
const fillRow = (row, y, { index, polygon }) => {
  const at = [];
  polygon.forEach(([x1, y1], n) => {
    const [x0, y0] = polygon.at(n - 1);
    if ((y0 > y) !== (y1 > y)) at.push(x0 + ((y - y0) * (x1 - x0)) / (y1 - y0));
  });
  at.sort((a, b) => a - b);
  for (let n = 0; n + 1 < at.length; n += 2) {
    const [from, to] = [Math.ceil(at[n] - 0.5), Math.ceil(at[n + 1] - 0.5)];
    row.fill(index, Math.max(from, 0), Math.max(Math.min(to, row.length), 0));
  }
};

// The PNG, and a box around each colour that was used: left, top, right and bottom.
export const fill = async (wide, high, base, regions, indexOf, colors) => {
  const boxes = [];
  const widen = (index, x, y) => {
    const box = (boxes[index] ??= [x, y, x, y]);
    if (x < box[0]) box[0] = x;
    if (x > box[2]) box[2] = x;
    box[3] = y;
  };
  const shapes = regions.flatMap((region) => polygonsOf(region).map((polygon) => edges(polygon, indexOf(region))));
  const depth = [1, 2, 4, 8].find((bits) => colors.length < 2 ** bits);
  const above = new Uint8Array(Math.ceil((wide * depth) / 8) + 1);
  const rows = function* rows() {
    for (let top = 0; top < high; top += ROWS_AT_ONCE) {
      const count = Math.min(ROWS_AT_ONCE, high - top);
      const near = shapes.filter((shape) => shape.bottom >= top && shape.top <= top + count);
      const width = Math.ceil((wide * depth) / 8) + 1;
      const bytes = new Uint8Array(count * width);
      const row = new Uint8Array(wide);
      const packed = new Uint8Array(width);
      for (let n = 0; n < count; n += 1) {
        row.set(base ? base.subarray((top + n) * wide, (top + n + 1) * wide) : new Uint8Array(wide));
        near.forEach((shape) => fillRow(row, top + n + 0.5, shape));
        packed.fill(0);
        row.forEach((index, x) => {
          packed[1 + ((x * depth) >> 3)] |= index << (8 - depth - ((x * depth) & 7));
          if (index) widen(index, x, top + n);
        });
        // As the difference to the row above, which most rows equal.
        packed.forEach((byte, at) => { bytes[n * width + at] = byte - above[at]; });
        bytes[n * width] = 2;
        above.set(packed);
      }
      yield bytes;
    }
  };
  const image = await png(wide, high, depth, [[255, 255, 255], ...colors.map(bytesOf)].flat(), rows());
  return { boxes: boxes.filter(Boolean), image };
};

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) =>
  Array.from({ length: 8 }).reduce((code) => (code & 1 ? 0xedb88320 ^ (code >>> 1) : code >>> 1), byte));
const checksum = (bytes) => ~bytes.reduce((code, byte) => TABLE[(code ^ byte) & 255] ^ (code >>> 8), -1);
const chunk = (name, content) => {
  const bytes = new Uint8Array(content.length + 12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, content.length);
  bytes.set(Array.from(name, (letter) => letter.charCodeAt(0)), 4);
  bytes.set(content, 8);
  view.setInt32(content.length + 8, checksum(bytes.subarray(4, content.length + 8)));
  return bytes;
};
const png = async (wide, high, depth, palette, rows) => {
  const squeezed = new CompressionStream("deflate");
  const packed = new Response(squeezed.readable).arrayBuffer();
  const writer = squeezed.writable.getWriter();
  for (const bytes of rows) await writer.write(bytes);
  await writer.close();
  const head = new Uint8Array(13);
  new DataView(head.buffer).setUint32(0, wide);
  new DataView(head.buffer).setUint32(4, high);
  head.set([depth, 3], 8);
  const blob = new Blob([new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]), chunk("IHDR", head),
    chunk("PLTE", Uint8Array.from(palette)), chunk("IDAT", new Uint8Array(await packed)), chunk("IEND", [])]);
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result.split(",")[1]));
    reader.addEventListener("error", reject);
    reader.readAsDataURL(blob);
  });
};
