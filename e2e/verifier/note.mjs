// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Signed notes, checkpoints and verifier keys (section 7).

import { createHash } from 'node:crypto';
import { base64, base64Of, fromUnix } from './values.mjs';
import { isGoodPoint, isSignature, publicKey } from './keys.mjs';

const MAX_NOTE = 64 * 1024;
const MAX_SIGNATURES = 100;
const ED25519 = 1;
const COSIGNATURE = 4;

const keyHash = (name, kind, key) =>
  createHash('sha256').update(`${name}\n`).update(Buffer.from([kind])).update(key).digest().subarray(0, 4);

// parseCheckpoint returns {text, origin, size, root, signatures}, nothing of it
// verified, or null.
export function parseCheckpoint(bytes) {
  if (bytes.length > MAX_NOTE) return null;
  let note;
  try {
    note = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
  const m = /^(([^\n]+)\n([1-9][0-9]{0,15})\n([^\n]{44})\n)\n((?:\u2014 [^\n]+\n)+)$/.exec(note);
  if (!m || /[\u0000-\u0009\u000b-\u001f]/.test(note)) return null;
  const [, text, origin, size, root, tail] = m;
  const hash = base64Of(root, 32);
  if (!hash || !Number.isSafeInteger(Number(size))) return null;
  const signatures = [];
  for (const line of tail.slice(0, -1).split('\n')) {
    const [, name, value] = /^\u2014 (\S+) (\S+)$/u.exec(line) ?? [];
    const data = value && base64(value);
    if (!data || data.length < 5 || name.includes('+')) return null;
    signatures.push({ name, id: data.subarray(0, 4), value: data.subarray(4) });
  }
  if (signatures.length > MAX_SIGNATURES) return null;
  return { text, origin, size: Number(size), root: hash, signatures };
}

// signedBy says whether a key of the journal signed a checkpoint.
export function signedBy(checkpoint, key) {
  const id = keyHash(checkpoint.origin, ED25519, key.raw);
  const message = Buffer.from(checkpoint.text);
  return checkpoint.signatures.some(
    (s) => s.name === checkpoint.origin && s.id.equals(id) && isSignature(key.key, message, s.value),
  );
}

// parseWitness reads a C2SP verifier key: a name, the key hash, and a byte for
// the kind of signature before the key. ML-DSA-44, which the format allows besides
// and the crypto module of Node 20 lacks, is refused rather than passed over.
export function parseWitness(text) {
  const m = /^([^\s+]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text);
  const data = m && base64(m[3]);
  if (!data || data.length !== 33 || data[0] !== COSIGNATURE) throw new Error('a witness is no Ed25519 cosigner key');
  const raw = data.subarray(1);
  const id = keyHash(m[1], COSIGNATURE, raw);
  if (id.toString('hex') !== m[2] || !isGoodPoint(raw)) throw new Error('a witness is no Ed25519 cosigner key');
  return { name: m[1], id, key: publicKey(raw) };
}

// cosignedAt returns when a witness cosigned a checkpoint, the first time that
// verifies, or null.
export function cosignedAt(checkpoint, witness) {
  const times = [];
  for (const s of checkpoint.signatures) {
    if (s.name !== witness.name || !s.id.equals(witness.id) || s.value.length !== 72) continue;
    const seconds = s.value.readBigUInt64BE();
    const message = `cosignature/v1\ntime ${seconds}\n${checkpoint.text}`;
    if (seconds === 0n || seconds > 253402300799n) continue;
    if (isSignature(witness.key, Buffer.from(message), s.value.subarray(8))) times.push(fromUnix(Number(seconds)));
  }
  return times.sort()[0] ?? null;
}
