// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// JSON as section 2 allows it: every name once, plain integers, a depth that is
// bounded before anything recurses. JSON.parse would round numbers and drop
// members that stand twice without a word.

export class Malformed extends Error {}

const NUMBER = /-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const ESCAPES = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

// parse reads one JSON value. spans, a Map, receives for the members of the
// three outer levels where they begin (at the name) and end, by path.
export function parse(text, maxDepth, spans = new Map()) {
  let at = 0;
  const fail = (what) => {
    throw new Malformed(what);
  };
  const space = () => {
    while (at < text.length && ' \t\r\n'.includes(text[at])) at++;
  };
  const take = (c) => {
    if (text[at] !== c) fail('unexpected character');
    at++;
  };

  const string = () => {
    take('"');
    let out = '';
    let from = at;
    for (;;) {
      if (at >= text.length) fail('string has no end');
      const c = text[at];
      if (c === '"') break;
      if (c < ' ') fail('control character in a string');
      if (c !== '\\') {
        at++;
        continue;
      }
      out += text.slice(from, at);
      const e = text[at + 1];
      if (e === 'u') {
        const hex = text.slice(at + 2, at + 6);
        if (!/^[0-9a-fA-F]{4}$/.test(hex)) fail('bad escape');
        out += String.fromCharCode(parseInt(hex, 16));
        at += 6;
      } else if (e !== undefined && Object.hasOwn(ESCAPES, e)) {
        out += ESCAPES[e];
        at += 2;
      } else {
        fail('bad escape');
      }
      from = at;
    }
    out += text.slice(from, at);
    at++;
    if (!out.isWellFormed()) fail('lone surrogate');
    return out;
  };

  const number = () => {
    NUMBER.lastIndex = at;
    const m = NUMBER.exec(text);
    if (!m) fail('unexpected character');
    // The digits are compared, since 2^53 and 2^53+1 are the same double.
    if (!/^(0|-?[1-9][0-9]{0,15})$/.test(m[0])) fail('number is not a plain integer');
    const value = BigInt(m[0]);
    if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < -BigInt(Number.MAX_SAFE_INTEGER)) fail('number is too large');
    at += m[0].length;
    return Number(value);
  };

  const word = (w, value) => {
    if (!text.startsWith(w, at)) fail('unexpected character');
    at += w.length;
    return value;
  };

  const value = (path, depth) => {
    if (depth > maxDepth) fail('nested too deep');
    space();
    let v;
    switch (text[at]) {
      case '{':
        v = object(path, depth);
        break;
      case '[':
        v = array(depth);
        break;
      case '"':
        v = string();
        break;
      case 't':
        v = word('true', true);
        break;
      case 'f':
        v = word('false', false);
        break;
      case 'n':
        v = word('null', null);
        break;
      default:
        v = number();
    }
    return v;
  };

  const object = (path, depth) => {
    // Without a prototype, so that no name means more than another.
    const out = Object.create(null);
    take('{');
    space();
    if (text[at] === '}') {
      at++;
      return out;
    }
    for (;;) {
      space();
      const start = at;
      const name = string();
      if (Object.hasOwn(out, name)) fail('member name twice');
      space();
      take(':');
      const inner = path && path.length < 3 ? [...path, name] : null;
      out[name] = value(inner, depth + 1);
      if (inner) spans.set(JSON.stringify(inner), { start, end: at });
      space();
      if (text[at] === '}') break;
      take(',');
    }
    at++;
    return out;
  };

  const array = (depth) => {
    const out = [];
    take('[');
    space();
    if (text[at] === ']') {
      at++;
      return out;
    }
    for (;;) {
      out.push(value(null, depth + 1));
      space();
      if (text[at] === ']') break;
      take(',');
    }
    at++;
    return out;
  };

  const result = value([], 1);
  space();
  if (at !== text.length) fail('something behind the value');
  return result;
}

export const isObject = (v) => typeof v === 'object' && v !== null && !Array.isArray(v);
