// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// DER (X.690): as much as time stamps need.

import { instant } from './values.mjs';

export const SEQUENCE = 0x30;
export const SET = 0x31;
export const OCTETS = 0x04;
export const OID = 0x06;
export const INTEGER = 0x02;
export const BOOLEAN = 0x01;
const GENERALIZED_TIME = 0x18;

// read returns the one value that the bytes hold, or throws.
export function read(bytes) {
  const [value, rest] = next(bytes);
  if (rest.length) throw new Error('something behind a DER value');
  return value;
}

function next(bytes) {
  if (bytes.length < 2 || (bytes[0] & 0x1f) === 0x1f) throw new Error('no DER value');
  let length = bytes[1];
  let head = 2;
  if (length >= 0x80) {
    const n = length & 0x7f;
    if (n === 0 || n > 4 || bytes.length < 2 + n) throw new Error('bad DER length');
    length = bytes.readUIntBE(2, n);
    head += n;
    if (length < 0x80 || (n > 1 && bytes[2] === 0)) throw new Error('bad DER length');
  }
  const end = head + length;
  if (bytes.length < end) throw new Error('DER value is cut off');
  return [{ tag: bytes[0], content: bytes.subarray(head, end), raw: bytes.subarray(0, end) }, bytes.subarray(end)];
}

// children returns the values in a constructed one, which must have that tag.
export function children(value, tag) {
  expect(value, tag);
  const out = [];
  for (let rest = value.content; rest.length; ) {
    const [v, more] = next(rest);
    out.push(v);
    rest = more;
  }
  return out;
}

export function expect(value, tag) {
  if (value?.tag !== tag) throw new Error('another DER value was expected');
  return value.content;
}

export function oid(value) {
  const bytes = expect(value, OID);
  const arcs = [];
  let n = 0n;
  for (const b of bytes) {
    n = (n << 7n) | BigInt(b & 0x7f);
    if (b & 0x80) continue;
    arcs.push(n);
    n = 0n;
  }
  const first = arcs.shift();
  const top = first < 80n ? first / 40n : 2n;
  return [top, first - top * 40n, ...arcs].join('.');
}

// time reads a GeneralizedTime in UTC.
export function time(value) {
  const m = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\.\d+)?Z$/.exec(expect(value, GENERALIZED_TIME).toString('latin1'));
  const at = m && instant(`${m[1]}-${m[2]}-${m[3]}T${m[4]}:${m[5]}:${m[6]}${m[7] ?? ''}Z`);
  if (!at) throw new Error('no time');
  return at;
}
