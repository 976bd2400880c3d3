// Where the library's mistakes stand in a text: it names a line, a key such as tests[2].cost, or what is not filled in.

/** Return the mistakes that a message tells, each with the lines of the text that it is about (from 1; none if unknown). */
export function mistakesOf(detail, text, { numbered = true } = {}) {
  const [first, ...rest] = detail.replace(/^the problem: /, "").split("\n");
  return (rest.length ? rest : [first]).map((each) => ({ said: each.trim(), lines: numbered ? placeOf(each.trim(), text) : [] }));
}

function placeOf(said, text) {
  const place = said.match(/\bline (\d+)/);
  if (place) return [Number(place[1])];
  if (said.includes('"?"')) return linesWith(text, /=.*"\?"/);
  const key = said.match(/^([A-Za-z_][\w-]*(?:\[\d+\])?(?:\.[\w-]+(?:\[\d+\])?)*)[: ]/);
  return key ? linesOf(key[1], text) : [];
}

function linesWith(text, pattern) {
  return text.split("\n").flatMap((line, i) => (pattern.test(line.replace(/#.*$/, "")) ? [i + 1] : []));
}

/** Return the line of a key in a TOML text, or of the table that it should be in. */
export function linesOf(key, text) {
  const parts = key.split(".").map((part) => part.match(/^([^[]+)(?:\[(\d+)\])?$/).slice(1));
  const counts = new Map();
  let table = "";
  let best = { depth: 0, line: null };
  const consider = (path, line) => {
    const depth = shared(parts, path);
    if (depth > best.depth) best = { depth, line };
  };
  text.split("\n").forEach((raw, i) => {
    const line = raw.trim();
    const many = line.match(/^\[\[\s*([^\]]+?)\s*\]\]/);
    const one = line.match(/^\[\s*([^[\]]+?)\s*\]/);
    if (many) {
      counts.set(many[1], (counts.get(many[1]) ?? -1) + 1);
      table = `${many[1]}[${counts.get(many[1])}]`;
    } else if (one) [, table] = one;
    const own = line.match(/^("[^"]*"|'[^']*'|[\w-]+)\s*=/);
    if (many || one) consider(table, i + 1);
    else if (own) consider(table ? `${table}.${own[1].replace(/["']/g, "")}` : own[1], i + 1);
  });
  return best.line === null ? [] : [best.line];
}

/** Return how many parts of a key a path has, if it goes no other way. */
function shared(parts, path) {
  const own = path.split(".").map((part) => part.match(/^([^[]+)(?:\[(\d+)\])?$/)?.slice(1) ?? [part]);
  if (own.length > parts.length) return 0;
  for (const [i, [name, index]] of own.entries()) {
    const [wanted, at] = parts[i];
    if (name !== wanted || (at ?? "0") !== (index ?? "0")) return 0;
  }
  return own.length;
}
