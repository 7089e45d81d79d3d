// What a worker changed in a text, and the rules about it: the part of _rules.js for pages
// that compare an answer with a column of the item.
const pieceworkChanges = ({ re, noWord, plain, words, chosen, textOf }) => {
  const around = re(`^[${noWord}]+|[${noWord}]+$`, "g");
  const wordsOf = (text) => words(text).map((word) => word.replace(around, "").toLowerCase());
  // The changes between two lists, as runs [removed, inserted] between equal ones.
  const runs = (before, after) => {
    const common = Array.from({ length: before.length + 1 }, () => new Array(after.length + 1).fill(0));
    for (let i = before.length - 1; i >= 0; i -= 1) {
      for (let j = after.length - 1; j >= 0; j -= 1) {
        common[i][j] = before[i] === after[j]
          ? common[i + 1][j + 1] + 1
          : Math.max(common[i + 1][j], common[i][j + 1]);
      }
    }
    const found = [];
    let open = null;
    let [i, j] = [0, 0];
    while (i < before.length || j < after.length) {
      if (i < before.length && j < after.length && before[i] === after[j]) {
        found.push({ kept: [i, j] });
        open = null;
        i += 1;
        j += 1;
        continue;
      }
      if (!open) {
        open = { removed: [], inserted: [] };
        found.push(open);
      }
      if (i < before.length && common[i + 1][j] === common[i][j]) open.removed.push(i++);
      else open.inserted.push(j++);
    }
    return found;
  };
  const changes = (before, after) => {
    const [old, now] = [wordsOf(before), wordsOf(after)];
    return runs(old, now).filter((run) => !run.kept).map((run) => ({
      removed: run.removed.map((i) => old[i]), inserted: run.inserted.map((j) => now[j]),
    }));
  };
  const columnOf = (columns, name) => columns[name] || "";

  return {
    runs,
    kinds: {
      edited_with_option: (values, rule, columns) => {
        const options = chosen(values[rule.parameters.chosen_in]);
        const text = textOf(values[rule.field]);
        if (!options.length || text === "") return true;
        const isSame = plain(columnOf(columns, rule.parameters.column)) === text;
        return options.includes(rule.parameters.option) !== isSame;
      },
      few_words_changed: (values, rule, columns) => {
        const text = textOf(values[rule.field]);
        const found = changes(columnOf(columns, rule.parameters.column), text);
        return text === "" || found.reduce((sum, { removed, inserted }) =>
          sum + Math.max(removed.length, inserted.length), 0) <= rule.parameters.maximum;
      },
      words_within: (values, rule, columns) => {
        const text = textOf(values[rule.field]);
        const { among, groups, column, where } = rule.parameters;
        if (text === "" || !among.includes(columnOf(columns, where))) return true;
        const sets = groups.map((group) => group.split(" "));
        return changes(columnOf(columns, column), text).every(({ removed, inserted }) =>
          removed.length === inserted.length && removed.every((word, i) =>
            sets.some((some) => some.includes(word) && some.includes(inserted[i]))));
      },
    },
  };
};
