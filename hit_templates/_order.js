// The same orders as in order.py, for the page.
const pieceworkOrder = (assignmentId) => {
  const rank = (what, name) => {
    let hashed = 0x811c9dc5;
    for (const byte of new TextEncoder().encode(`${assignmentId}|${what}|${name}`)) {
      hashed = Math.imul(hashed ^ byte, 0x01000193);
    }
    hashed ^= hashed >>> 16;
    hashed = Math.imul(hashed, 0x85ebca6b);
    hashed ^= hashed >>> 13;
    hashed = Math.imul(hashed, 0xc2b2ae35);
    return (hashed ^ (hashed >>> 16)) >>> 0;
  };
  // Python compares texts by code points, JavaScript by code units.
  const points = (text) => Array.from(text, (sign) => sign.codePointAt(0));
  const compare = (one, other) => {
    if (typeof one === "number") return one - other;
    const [a, b] = [points(one), points(other)];
    const at = a.findIndex((point, i) => point !== b[i]);
    if (at < 0) return a.length - b.length;
    return at < b.length ? a[at] - b[at] : 1;
  };
  const sortedBy = (things, key) => things
    .map((thing) => ({ thing, keys: key(thing) }))
    .sort((one, other) => one.keys.reduce((so, part, i) => so || compare(part, other.keys[i]), 0))
    .map(({ thing }) => thing);
  return {
    shuffled: (what, names) => sortedBy(names, (name) => [rank(what, name), name]),
    // Positions from 1; `groups` is empty or has each item's group.
    items: (itemIds, groups) => sortedBy(itemIds.map((_, i) => i + 1), (n) => {
      const itemId = itemIds[n - 1];
      const group = groups.length ? groups[n - 1] : itemId;
      return [rank("items", group), group, rank("items", `${group}|${itemId}`), itemId];
    }),
  };
};
