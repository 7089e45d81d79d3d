// How much of the longest sound or video of each item was really played, per mille: by the
// ranges that a browser played, so a jump to the end counts for nothing. What was played
// before a page was loaded again counts only if it was more.
{
  const plain = pieceworkMeasures;
  pieceworkMeasures = (names, inside) => {
    const measures = plain(names, inside);
    const kept = {};
    const note = (n, node) => {
      const [longest] = [...node.querySelectorAll("audio, video")]
        .filter(({ duration }) => duration > 0 && duration < Infinity)
        .sort((a, b) => b.duration - a.duration);
      if (!longest) return;
      const { played, duration } = longest;
      let seconds = 0;
      for (let k = 0; k < played.length; k += 1) seconds += played.end(k) - played.start(k);
      kept[n] = Math.max(kept[n] || 0, Math.min(1000, Math.round((1000 * seconds) / duration)));
    };
    // A page of one's own does not say which item a sound belongs to: 0 stands for all.
    const noteAll = () => {
      if (inside) note(0, document);
      else document.querySelectorAll(".item").forEach((item) => note(item.dataset.position, item));
    };
    // A page's script may take a sound away once it was played.
    ["timeupdate", "pause", "ended"].forEach((name) => document.addEventListener(name, noteAll, true));
    return {
      ...measures,
      restore: (stored) => {
        Object.entries(stored || {}).forEach(([n, { played }]) => { kept[n] = played || 0; });
        measures.restore(stored);
      },
      read: () => {
        noteAll();
        const counts = measures.read();
        if (inside) counts[0] = {};
        Object.keys(counts).forEach((n) => { counts[n].played = kept[inside ? 0 : n] || 0; });
        return counts;
      },
    };
  };
}
