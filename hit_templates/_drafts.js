// Keeps typed text in this browser, by assignment, until a week after it was sent: the
// network may lose what the worker believes is submitted.
// Storage may be refused (private windows, sandboxed frames): each access is guarded.
const pieceworkDrafts = (assignmentId) => {
  const prefix = "piecework.";
  const key = `${prefix}${assignmentId}`;
  const weekInMs = 7 * 24 * 3600 * 1000;
  let [kept, ours] = [true, 0];
  const stored = () => JSON.parse(localStorage.getItem(key) || "null");
  const guarded = (access, otherwise) => {
    try {
      return access();
    } catch {
      kept = false;
      return otherwise;
    }
  };
  return {
    isKept: () => kept,
    // Whether another tab has kept a draft since this one read or kept its own.
    isNewer: () => guarded(() => (stored()?.savedAt || 0) > ours, false),
    load: () => guarded(() => {
      ours = stored()?.savedAt || 0;
      return stored();
    }, null),
    save: (draft) => guarded(() => {
      ours = Date.now();
      localStorage.setItem(key, JSON.stringify({ ...draft, savedAt: ours }));
    }),
    // Whether this browser's worker has read the instructions of a task in the last week.
    hasRead: (task) => guarded(() => localStorage.getItem(`${prefix}read.${task}`) !== null, false),
    markRead: (task) => guarded(() => localStorage.setItem(
      `${prefix}read.${task}`, JSON.stringify({ savedAt: Date.now() }))),
    forgetOld: () => guarded(() => Object.keys(localStorage)
      .filter((name) => name.startsWith(prefix))
      .filter((name) => {
        const { savedAt } = JSON.parse(localStorage.getItem(name)) || {};
        return !(Date.now() - savedAt < weekInMs);
      })
      .forEach((name) => localStorage.removeItem(name))),
  };
};
