// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Values that have exactly one spelling: base64, hex, digests and times.

export const MAX_SEQUENCE = Number.MAX_SAFE_INTEGER;

// base64 returns the bytes, or null if text is not their one padded spelling.
export function base64(text) {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}

// base64url is base64 without padding and with - and _ (JWK).
export function base64url(text) {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

// base64Of is base64 for text that must hold n bytes.
export function base64Of(text, n) {
  const bytes = typeof text === 'string' ? base64(text) : null;
  return bytes && bytes.length === n ? bytes : null;
}

export const isDigest = (v) => typeof v === 'string' && /^sha256:[0-9a-f]{64}$/.test(v);
export const digestBytes = (v) => Buffer.from(v.slice('sha256:'.length), 'hex');
export const isSequence = (v) => Number.isSafeInteger(v) && v >= 1;

const TIME = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?Z$/;

// instant returns a time as text that compares like the time itself: RFC 3339
// in UTC without the zeros that end its fraction. null if there is no such time.
export function instant(text) {
  const m = typeof text === 'string' && TIME.exec(text);
  if (!m) return null;
  const [year, month, day, hour, minute, second] = m.slice(1, 7).map(Number);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  return `${text.slice(0, 19)}.${(m[7] ?? '').replace(/0+$/, '')}`;
}

// entryTime is instant for a time as entries have it, with nine digits.
export const entryTime = (text) => (typeof text === 'string' && /\.\d{9}Z$/.test(text) ? instant(text) : null);

export const fromUnix = (seconds) => instant(new Date(seconds * 1000).toISOString());

// nanoseconds since 1970 of an instant, for differences.
export function nanoseconds(at) {
  const [whole, fraction] = at.split('.');
  return BigInt(Date.parse(`${whole}Z`)) * 1000000n + BigInt(fraction.padEnd(9, '0').slice(0, 9));
}

function daysIn(year, month) {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
