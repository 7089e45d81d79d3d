// The rules of rules.py and text_rules.py for the page, with the same verdicts.
// `characters` are the classes of words.CHARACTERS; tests/browser compares both sides.
// No lookbehind or Unicode classes: browsers and Python must read it alike.
const pieceworkRules = (characters) => {
  const noWord = characters.spaces + characters.symbols;
  const letter = `[^${noWord}]`;
  const re = (source, flags = "") => new RegExp(source, "u" + flags);
  const invisible = re(`[${characters.invisible}]`, "g");
  const spaces = re(`[${characters.spaces}]+`, "g");
  const letters = re(letter);
  const symbolsFirst = re(`^[${noWord}]+`);
  const breaks = re(`[${characters.breaks}]+`);
  const unspaced = re(`[${characters.unspaced}]`, "g");
  const pointInNumber = re("([0-9])[.,](?=[0-9])", "g");
  const pointedLetters = re(`(^|[${noWord}])((?:${letter}\\.)+${letter}?)(?=$|[${noWord}])`, "g");
  const quote = `[${characters.double_quotes}]`;
  const quoted = re(`${quote}[^${characters.double_quotes}]*${quote}`, "g");
  const apostrophes = re(`[${characters.apostrophes}]`, "g");
  const closersLast = re(`[)\\]\\}*${characters.double_quotes}${characters.apostrophes}]+$`);
  const lastPieceOf = re(`(?:[^${noWord + characters.unspaced}]|')+$`);
  const number = re("^[0-9][0-9.,/]*");
  const lastUnspaced = re(`[${characters.unspaced}]$`);
  const wordEnds = re(`^(?:$|[${characters.unspaced}]|(?![${characters.hyphens}])[${noWord}])`);
  const lastMarks = re(`[!?${characters.wide_ends}]+$`);
  const wideEnd = re(`[${characters.wide_ends}](?=${letter})`, "g");

  const plain = (text) =>
    text.replace(invisible, "").normalize("NFC").replace(spaces, " ").replace(/^ +| +$/g, "");

  const words = (text) =>
    plain(text)
      .replace(pointInNumber, "$1")
      .replace(pointedLetters, (_, before, run) => before + run.split(".").join(""))
      .replace(unspaced, " $& ")
      .split(breaks)
      .filter((piece) => letters.test(piece));

  const folded = (text) => plain(text).replace(apostrophes, "'").toLowerCase();

  const beginsWith = (text, beginning) => {
    const opening = folded(plain(text).replace(symbolsFirst, ""));
    const sought = folded(beginning);
    return sought !== "" && opening.startsWith(sought)
      && (lastUnspaced.test(sought) || wordEnds.test(opening.slice(sought.length)));
  };

  const withoutQuotes = (text) =>
    letters.test(text.replace(quoted, " ")) ? text.replace(quoted, "quoted") : text;

  const lastPiece = (token) => {
    const found = token.replace(apostrophes, "'").match(lastPieceOf);
    return found ? found[0].toLowerCase() : "";
  };

  const nextWord = (tokens, i) =>
    tokens.slice(i + 1).find((token) => letters.test(token)).replace(symbolsFirst, "");

  const isCapital = (word) => {
    const first = Array.from(word)[0];
    return first !== first.toLowerCase();
  };

  const isAbbreviation = (tokens, i, word, points) => {
    const piece = lastPiece(word);
    const unit = piece.replace(number, "");
    const afterNumber = unit !== piece || (i > 0 && number.test(tokens[i - 1]));
    const beforeNumber = number.test(nextWord(tokens, i));
    return (
      Array.from(unit).length === 1 ||
      points.abbreviations.includes(unit) ||
      (afterNumber && points.after_number.includes(unit)) ||
      (beforeNumber && points.before_number.includes(unit))
    );
  };

  const endsSentence = (tokens, i, points) => {
    const token = tokens[i].replace(closersLast, "");
    if (token.endsWith(".") && !token.endsWith("..")) {
      return !isAbbreviation(tokens, i, token.slice(0, -1), points);
    }
    return lastMarks.test(token) && !points.names.includes(lastPiece(token.replace(lastMarks, "")))
      && (!/[!?]$/.test(token) || isCapital(nextWord(tokens, i)));
  };

  const isOneSentence = (text, points) => {
    const tokens = withoutQuotes(plain(text)).replace(wideEnd, "$& ").split(" ");
    let last = 0;
    tokens.forEach((token, i) => { if (letters.test(token)) last = i; });
    return !tokens.slice(0, last).some((_, i) => endsSentence(tokens, i, points));
  };

  const chosen = (value) => (Array.isArray(value) ? value : value ? [value] : []);
  const textOf = (value) => {
    if (typeof value === "number") return String(value);
    return plain(Array.isArray(value) ? value.join(" ") : value || "");
  };
  const required = (values, rule) => textOf(values[rule.field]) !== "";
  // Only a page that compares texts has _changes.js.
  const compared = typeof pieceworkChanges === "undefined"
    ? {} : pieceworkChanges({ re, noWord, plain, words, chosen, textOf });

  const kinds = {
    required,
    ...compared.kinds,
    min_words: (values, rule) => {
      const text = textOf(values[rule.field]);
      return text === "" || words(text).length >= rule.parameters.minimum;
    },
    max_words: (values, rule) =>
      words(textOf(values[rule.field])).length <= rule.parameters.maximum,
    max_capitals: (values, rule) => {
      const cased = Array.from(textOf(values[rule.field]))
        .filter((sign) => sign.toLowerCase() !== sign.toUpperCase());
      const capitals = cased.filter((sign) => sign !== sign.toLowerCase()).length;
      return cased.length < 4 || 100 * capitals <= rule.parameters.maximum * cased.length;
    },
    max_length: (values, rule) =>
      Array.from(textOf(values[rule.field])).length <= rule.parameters.maximum,
    one_sentence: (values, rule) => isOneSentence(textOf(values[rule.field]), rule.parameters),
    banned_prefixes: (values, rule) =>
      !rule.parameters.prefixes.some((prefix) => beginsWith(textOf(values[rule.field]), prefix)),
    exclusive_option: (values, rule) => {
      const options = chosen(values[rule.field]);
      return !options.includes(rule.parameters.option) || new Set(options).size === 1;
    },
    text_with_option: (values, rule) =>
      !chosen(values[rule.parameters.chosen_in]).includes(rule.parameters.option) ||
      required(values, rule),
    most_chosen: (values, rule) =>
      new Set(chosen(values[rule.field])).size <= rule.parameters.maximum,
    must_choose: (values, rule) =>
      chosen(values[rule.field]).includes(rule.parameters.option),
  };

  return {
    words,
    runs: compared.runs,
    length: (text) => Array.from(textOf(text)).length,
    // The rules that the values break, in the given order; `columns` are the item's.
    check: (rules, values, columns) =>
      rules.filter((rule) => !kinds[rule.kind](values, rule, columns || {})),
  };
};
