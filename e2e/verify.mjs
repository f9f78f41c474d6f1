// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0
//
// Verifies journal segments line by line with nothing of Readtrail: another
// language, another RFC 8785 and another Ed25519. Written from docs/format.md.
// usage: node verify.mjs keys.json SEGMENT...

import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';

const [registry, ...segments] = process.argv.slice(2);
const keys = new Map(JSON.parse(readFileSync(registry, 'utf8')).keys.map((k) => [k.kid, k]));

// Entries hold no numbers but integers, so that JSON.stringify is enough for
// scalars; JavaScript compares strings by UTF-16 code units, as RFC 8785 wants.
const jcs = (v) => {
  if (Array.isArray(v)) return '[' + v.map(jcs).join(',') + ']';
  if (v && typeof v === 'object') {
    return '{' + Object.keys(v).sort().map((k) => JSON.stringify(k) + ':' + jcs(v[k])).join(',') + '}';
  }
  return JSON.stringify(v);
};

let previous;
let sequence = 0;
let count = 0;
const fail = (why) => {
  console.error(`line ${count}: ${why}`);
  process.exit(1);
};

for (const segment of segments) {
  const text = readFileSync(segment, 'utf8');
  if (!text.endsWith('\n')) fail(`${segment} is torn`);
  for (const line of text.slice(0, -1).split('\n')) {
    count++;
    const entry = JSON.parse(line);
    if (jcs(entry) !== line) fail('not canonical');
    const body = Object.keys(entry).find((k) => k !== 'integrity' && k !== 'schema_version');
    const { integrity } = entry;
    if (integrity.previous_event_hash !== previous) fail('broken chain');
    if (entry[body].sequence !== sequence + 1) fail('sequence gap');
    const key = keys.get(integrity.signature.key_id);
    if (!key) fail('unknown key');
    const { record_hash: recordHash, ...rest } = integrity;
    const { value, ...signature } = rest.signature;
    const payload = jcs({ ...entry, integrity: { ...rest, signature } });
    const digest = createHash('sha256').update(payload).digest();
    if ('sha256:' + digest.toString('hex') !== recordHash) fail('record hash mismatch');
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key.x }, format: 'jwk' });
    if (!verify(null, digest, publicKey, Buffer.from(value, 'base64'))) fail('bad signature');
    previous = recordHash;
    sequence = entry[body].sequence;
  }
}
console.log(`${count} entries valid`);
