// Keeps what was typed in this browser until it is submitted, by assignment.
// Storage may be refused (private windows, sandboxed frames): each access is guarded.
const pieceworkDrafts = (assignmentId) => {
  const key = `piecework.${assignmentId}`;
  let kept = true;
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
    load: () => guarded(() => JSON.parse(window.localStorage.getItem(key) || "null"), null),
    save: (draft) => guarded(() => window.localStorage.setItem(key, JSON.stringify(draft))),
    clear: () => guarded(() => window.localStorage.removeItem(key)),
  };
};
