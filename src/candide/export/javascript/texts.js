// Texts to tokens, by the rules and the Unicode tables of the Python that exported the model.

const [WORD, SPACE, DIGIT, IGNORABLE, CASED] = [1, 2, 4, 8, 16];
const FLAGS = new Uint8Array(0x110000);
MODEL.unicode.flags.forEach((ranges, bit) => {
  let at = 0;
  const numbers = ranges.split(" ").map((number) => parseInt(number, 36));
  for (let i = 0; i + 1 < numbers.length; i += 2) {
    at += numbers[i];
    for (const end = at + numbers[i + 1]; at < end; at++) FLAGS[at] |= 1 << bit;
  }
});

const LOWER = new Map(MODEL.unicode.lowerTexts);
for (const [start, count, step, change] of MODEL.unicode.lowerRuns) {
  for (let i = 0; i < count; i++) LOWER.set(start + i * step, String.fromCodePoint(start + i * step + change));
}
const BARE = new Map(MODEL.unicode.bare ?? []);

function codeAt(text, at) {
  const code = text.codePointAt(at);
  return code >= 0xd800 && code < 0xe000 ? 0xfffd : code; // half of a surrogate pair
}

// Whether a capital sigma ends a word: a letter before it and none after it, marks aside.
function endsWord(text, at) {
  let i = at;
  let flags = IGNORABLE;
  while (i > 0 && flags & IGNORABLE) {
    i -= i > 1 && text.codePointAt(i - 2) > 0xffff ? 2 : 1;
    flags = FLAGS[codeAt(text, i)];
  }
  if (!(flags & CASED)) return false;
  flags = IGNORABLE;
  for (i = at + 1; i < text.length && flags & IGNORABLE; ) {
    const code = codeAt(text, i);
    flags = FLAGS[code];
    i += code > 0xffff ? 2 : 1;
  }
  return !(flags & CASED);
}

// Without accents: the compatibility decomposition without combining marks.
function bareText(text) {
  let out = "";
  for (const character of text) {
    const code = character.codePointAt(0);
    const syllable = code - 0xac00;
    if (syllable >= 0 && syllable < 11172) {
      out += String.fromCodePoint(0x1100 + Math.floor(syllable / 588), 0x1161 + Math.floor((syllable % 588) / 28));
      if (syllable % 28) out += String.fromCodePoint(0x11a7 + (syllable % 28));
    } else {
      out += BARE.get(code) ?? character;
    }
  }
  return out;
}

function normalize(text, how) {
  if (/^[\x00-\x7f]*$/.test(text)) {
    const lower = how.lowercase ? text.toLowerCase() : text;
    return how.foldNumbers ? lower.replace(/[0-9]/g, "0") : lower;
  }
  let out = "";
  for (let at = 0, code; at < text.length; at += code > 0xffff ? 2 : 1) {
    code = codeAt(text, at);
    let made = (how.lowercase ? LOWER.get(code) : undefined) ?? String.fromCodePoint(code);
    if (how.lowercase && code === 0x3a3) made = endsWord(text, at) ? "\u03c2" : "\u03c3";
    if (how.accents) made = bareText(made);
    if (how.accents === "ascii") made = made.replace(/[^\x00-\x7f]/g, "");
    if (how.foldNumbers) made = Array.from(made, (c) => (FLAGS[c.codePointAt(0)] & DIGIT ? "0" : c)).join("");
    out += made;
  }
  return out;
}

// Runs of word characters that are long enough; with `marks`, every other character that is no white space, too.
function wordsOf(text, rule) {
  const out = [];
  let begin = 0;
  let characters = 0;
  const add = (word) => rule.stop.has(word) || out.push(word);
  for (let at = 0, width; at <= text.length; at += width) {
    const code = at < text.length ? text.codePointAt(at) : 32;
    width = code > 0xffff ? 2 : 1;
    if (FLAGS[code] & WORD) {
      if (!characters++) begin = at;
      continue;
    }
    if (characters && characters >= rule.minLength) add(text.slice(begin, at));
    characters = 0;
    if (rule.marks && !(FLAGS[code] & SPACE)) add(text.slice(at, at + width));
  }
  return out;
}

function eachRun(pieces, low, high, glue, visit) {
  for (let n = low; n <= high && n <= pieces.length; n++) {
    for (let i = 0; i + n <= pieces.length; i++) visit(n === 1 ? pieces[i] : pieces.slice(i, i + n).join(glue), 1);
  }
}

const ANALYZERS = {
  word(text, own, visit) {
    const words = wordsOf(text, own);
    if (own.high === 1) return words.forEach((word) => visit(word, 1));
    return words.length && eachRun(own.ends ? ["", ...words, ""] : words, own.low, own.high, " ", visit);
  },
  place(text, own, visit) {
    const words = wordsOf(text, own);
    words.slice(0, 4).forEach((word, i) => visit(`${i}:${word}`, 1));
    words.slice(-3).reverse().forEach((word, i) => visit(`-${i}:${word}`, 1));
    for (let n = 2; n <= Math.min(4, words.length); n++) visit(words.slice(0, n).join(" "), 1);
  },
  char(text, own, visit) {
    const pieces = [];
    let spaces = [];
    const flush = () => {
      if (spaces.length) pieces.push(spaces.length > 1 ? " " : spaces[0]);
      spaces = [];
    };
    for (const character of text) {
      if (FLAGS[character.codePointAt(0)] & SPACE) {
        spaces.push(character);
      } else {
        flush();
        pieces.push(character);
      }
    }
    flush();
    eachRun(pieces, own.low, own.high, "", visit);
  },
  char_wb(text, own, visit) {
    const words = new Map();
    let begin = -1;
    for (let at = 0, width; at <= text.length; at += width) {
      const code = at < text.length ? text.codePointAt(at) : 32;
      width = code > 0xffff ? 2 : 1;
      if (!(FLAGS[code] & SPACE)) {
        if (begin < 0) begin = at;
      } else if (begin >= 0) {
        const word = text.slice(begin, at);
        words.set(word, (words.get(word) ?? 0) + 1);
        begin = -1;
      }
    }
    for (const [word, times] of words) {
      const padded = ` ${word} `;
      const pieces = /[\ud800-\udfff]/.test(word) ? Array.from(padded) : padded;
      for (let low = own.low; low <= own.high; low++) {
        const n = Math.min(low, pieces.length);
        for (let i = 0; i + n <= pieces.length; i++) {
          const part = pieces.slice(i, i + n);
          visit(typeof part === "string" ? part : part.join(""), times);
        }
        if (low >= pieces.length) break;
      }
    }
  },
};

function countTokens(text, own) {
  const found = new Map();
  ANALYZERS[own.analyzer](normalize(text, own), own, (token, times) => found.set(token, (found.get(token) ?? 0) + times));
  return found;
}

// The upper half of the hash of a token's bytes in UTF-8; 64 bits are two numbers of 32.
const [K0, K1, K2] = [
  [0x9e3779b9, 0x7f4a7c15],
  [0xd6e8feb8, 0x6659fd93],
  [0xa0761d64, 0x78bd642f],
];
let productHigh = 0;
let productLow = 0;
let high = 0;
let low = 0;

function multiply(a, b) {
  const [al, ah, bl, bh] = [a & 0xffff, a >>> 16, b & 0xffff, b >>> 16];
  const first = al * bl;
  const second = ah * bl + (first >>> 16);
  const third = al * bh + (second & 0xffff);
  productLow = ((third << 16) | (first & 0xffff)) >>> 0;
  productHigh = ah * bh + (second >>> 16) + (third >>> 16);
}

// (high, low) = the upper half of a product of 128 bits ^ its lower half.
function foldProduct(ah, al, [bh, bl]) {
  multiply(al, bl);
  const [h0, l0] = [productHigh, productLow];
  multiply(al, bh);
  const [h1, l1] = [productHigh, productLow];
  multiply(ah, bl);
  const middle = h0 + l1 + productLow;
  const [h2] = [productHigh];
  multiply(ah, bh);
  const upper = h1 + h2 + productLow + Math.floor(middle / 2 ** 32);
  low = (upper ^ l0) >>> 0;
  high = ((productHigh + Math.floor(upper / 2 ** 32)) ^ middle) >>> 0;
}

let bytes = new Uint8Array(256);
const UTF8 = new TextEncoder();
const STARTS = [];

function startOf(length) {
  const made = BigInt.asUintN(64, BigInt(length + 1) * 0x9e3779b97f4a7c15n);
  return (STARTS[length] = [Number(made >> 32n), Number(made & 0xffffffffn)]);
}

function hashOf(token) {
  if (bytes.length < 3 * token.length + 8) bytes = new Uint8Array(6 * token.length + 8);
  let length = 0;
  for (; length < token.length; length++) {
    const code = token.charCodeAt(length);
    if (code > 0x7f) break;
    bytes[length] = code;
  }
  if (length < token.length) length = UTF8.encodeInto(token, bytes).written;
  bytes.fill(0, length, length + 8);
  [high, low] = STARTS[length] ?? startOf(length);
  const word = (at) => bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
  let at = 0;
  do {
    foldProduct((high ^ word(at + 4)) >>> 0, (low ^ word(at)) >>> 0, K1);
    at += 8;
  } while (at < length);
  foldProduct((high ^ K2[0]) >>> 0, (low ^ K2[1]) >>> 0, K0);
  return high;
}

// The place of a token among those of the model; `others` where it has none.
function readCoding(coding, others) {
  if (coding.tokens) {
    const tokens = typeof coding.tokens === "string" ? coding.tokens.split("\n") : coding.tokens;
    const places = new Map(tokens.map((token, place) => [token, place]));
    return (token) => places.get(token) ?? others;
  }
  const buckets = Uint32Array.from(decodeArray(coding.steps));
  for (let i = 1; i < buckets.length; i++) buckets[i] += buckets[i - 1];
  const shift = 32 - coding.bits;
  return (token) => {
    const bucket = hashOf(token) >>> shift;
    let begin = 0;
    for (let end = buckets.length; begin < end; ) {
      const middle = (begin + end) >>> 1;
      if (buckets[middle] < bucket) begin = middle + 1;
      else end = middle;
    }
    return buckets[begin] === bucket ? begin : others;
  };
}

function readTokenizer(given) {
  return { ...given, stop: new Set(given.stop) };
}

// Tokens with a place; those that share a bucket are counted together.
function placedTokens(counts, placeOf) {
  const found = new Map();
  for (const [token, times] of counts) {
    const place = placeOf(token);
    if (place < 0) continue;
    const own = found.get(place);
    if (!own) found.set(place, { value: token, count: times });
    else {
      own.value += ` / ${token}`;
      own.count += times;
    }
  }
  return found;
}

function checkText(text) {
  if (typeof text !== "string") throw new TypeError(`expected a string, got ${text === null ? "null" : typeof text}`);
}
