// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// The registry of trusted keys (section 5), and Ed25519 as a verifier must do it.

import { createHash, createPublicKey, verify } from 'node:crypto';
import { base64url, instant, isSequence } from './values.mjs';
import { isObject } from './json.mjs';

const P = 2n ** 255n - 19n;
const mod = (a) => ((a % P) + P) % P;
const pow = (base, exponent) => {
  let out = 1n;
  for (let b = mod(base), e = exponent; e > 0n; b = mod(b * b), e >>= 1n) if (e & 1n) out = mod(out * b);
  return out;
};
const D = mod(-121665n * pow(121666n, P - 2n));

// isGoodPoint says whether 32 bytes are the canonical encoding of a point of the
// curve that is none of the eight of small order.
export function isGoodPoint(bytes) {
  const encoded = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
  const y = encoded & (2n ** 255n - 1n);
  if (y >= P) return false;
  const xx = mod((y * y - 1n) * pow(D * y * y + 1n, P - 2n));
  if (xx === 0n) return false; // y is 1 or -1: orders 1 and 2
  if (pow(xx, (P - 1n) / 2n) !== 1n) return false;
  // Points of order 4 have y = 0; those of order 8 double to one of them, that
  // is, y^2 + x^2 = 0.
  return y !== 0n && mod(y * y + xx) !== 0n;
}

export const publicKey = (bytes) =>
  createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') }, format: 'jwk' });

export const isSignature = (key, message, signature) => signature.length === 64 && verify(null, message, key, signature);

const thumbprint = (x) =>
  createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url');

const REQUIRED = ['kty', 'crv', 'alg', 'x', 'kid', 'valid_from'];
const OPTIONAL = ['valid_until', 'revoked_at', 'revocation_reason', 'invalid_from_sequence', 'first_sequence'];

// registry takes the parsed keys.json and returns the keys by id, or throws: what
// is not understood could be what takes trust away.
export function registry(document) {
  const refuse = (why) => {
    throw new Error(`registry refused: ${why}`);
  };
  if (!isObject(document) || Object.keys(document).join() !== 'keys' || !Array.isArray(document.keys)) {
    refuse('it is no object with the one member keys');
  }
  const keys = new Map();
  for (const k of document.keys) {
    if (!isObject(k)) refuse('a key is no object');
    for (const name of Object.keys(k)) {
      if (!REQUIRED.includes(name) && !OPTIONAL.includes(name)) refuse('a key has an unknown member');
      if (k[name] === null || k[name] === '') refuse('a member of a key is null or empty');
    }
    if (REQUIRED.some((name) => typeof k[name] !== 'string')) refuse('a key lacks a member');
    if (k.kty !== 'OKP' || k.crv !== 'Ed25519' || k.alg !== 'EdDSA') refuse('a key is of another kind');
    const raw = base64url(k.x);
    if (!raw || raw.length !== 32 || !isGoodPoint(raw)) refuse('x is no public key');
    if (k.kid !== thumbprint(k.x)) refuse('kid is not the thumbprint of x');
    if (keys.has(k.kid)) refuse('a kid stands twice');
    const time = (name) => {
      if (!Object.hasOwn(k, name)) return undefined;
      const at = instant(k[name]);
      if (!at || at === '0001-01-01T00:00:00.') refuse('a time is none');
      return at;
    };
    const sequences = (name) => {
      const v = k[name];
      if (v === undefined) return {};
      const bad = ([id, n]) => id === '' || !isSequence(n);
      if (!isObject(v) || Object.keys(v).length === 0 || Object.entries(v).some(bad)) refuse('a sequence is none');
      return v;
    };
    const key = {
      id: k.kid,
      raw,
      key: publicKey(raw),
      validFrom: time('valid_from'),
      validUntil: time('valid_until'),
      revokedAt: time('revoked_at'),
      invalidFrom: sequences('invalid_from_sequence'),
      first: sequences('first_sequence'),
    };
    if (key.validUntil && key.validUntil <= key.validFrom) refuse('valid_until is not after valid_from');
    const reason = k.revocation_reason;
    if (reason !== undefined && typeof reason !== 'string') refuse('revocation_reason is no text');
    if (!key.revokedAt && (reason !== undefined || k.invalid_from_sequence !== undefined)) {
      refuse('a revocation without revoked_at');
    }
    keys.set(k.kid, key);
  }
  return keys;
}

// judgePlace is the part of the table of section 5 that no time can change.
export function judgePlace(key, journal, sequence) {
  if (!key || sequence < own(key.first, journal, 0)) return 'key_unknown';
  if (sequence >= own(key.invalidFrom, journal, Infinity)) return 'key_revoked';
  return null;
}

// judgeTime is the part that the time decides.
export function judgeTime(key, at) {
  if (key.revokedAt && at >= key.revokedAt) return 'key_revoked';
  if (at < key.validFrom) return 'key_not_yet_valid';
  if (key.validUntil && at >= key.validUntil) return 'key_expired';
  return null;
}

// beginsAt says whether the owner of the registry let the key begin there.
export const beginsAt = (key, journal, sequence) => !!key && own(key.first, journal, 0) === sequence;

const own = (object, name, otherwise) => (Object.hasOwn(object, name) ? object[name] : otherwise);
