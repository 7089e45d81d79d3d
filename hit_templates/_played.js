// How much of the longest sound or video of each item was really played, per mille: by the
// ranges that a browser played, so a jump to the end counts for nothing. What was played
// before a page was loaded again counts only if it was more. Which is the longest is not
// known before the durations of all are; until then, only "nothing" is known.
{
  const plain = pieceworkMeasures;
  pieceworkMeasures = (names, inside) => {
    const measures = plain(names, inside);
    const kept = {};
    const sounds = {};
    const players = (node) => [...node.querySelectorAll("audio, video")];
    const isKnown = ({ duration }) => duration > 0 && duration < Infinity;
    const secondsOf = ({ played }) => Array.from({ length: played.length }, (_, k) => played.end(k) - played.start(k))
      .reduce((sum, each) => sum + each, 0);
    // A page's script may take a sound away once it was played, or load another one.
    const note = (n, node) => players(node).filter(isKnown).forEach((player) => {
      sounds[n] = sounds[n] || new Map();
      const own = sounds[n].get(player) || {};
      const seconds = Math.max(secondsOf(player), own[player.currentSrc]?.seconds || 0);
      sounds[n].set(player, { ...own, [player.currentSrc]: { duration: player.duration, seconds } });
    });
    // Only pages of one's own with one item have it.
    const items = () => (inside ? [[1, document]]
      : [...document.querySelectorAll(".item")].map((item) => [item.dataset.position, item]));
    const partOf = (n, node) => {
      note(n, node);
      const all = [...(sounds[n] || new Map()).values()].flatMap((own) => Object.values(own));
      const isPlayed = all.some(({ seconds }) => seconds > 0);
      if (isPlayed && !players(node).every(isKnown)) return kept[n];
      const [longest] = all.sort((a, b) => b.duration - a.duration);
      const part = longest ? Math.min(1000, Math.round((1000 * longest.seconds) / longest.duration)) : 0;
      return Math.max(kept[n] || 0, part);
    };
    ["timeupdate", "pause", "ended"].forEach((name) =>
      document.addEventListener(name, () => items().forEach(([n, node]) => note(n, node)), true));
    return {
      ...measures,
      restore: (stored) => {
        Object.entries(stored || {}).forEach(([n, measured]) => { kept[n] = measured.played_part || undefined; });
        measures.restore(stored);
      },
      read: () => {
        const counts = measures.read();
        items().filter(([n]) => counts[n]).forEach(([n, node]) => { counts[n].played_part = partOf(n, node); });
        return counts;
      },
    };
  };
}
