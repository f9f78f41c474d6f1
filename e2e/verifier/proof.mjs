// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Proofs (section 7).

import { base64Of } from './values.mjs';
import { readEntry } from './entry.mjs';
import { judgePlace, judgeTime } from './keys.mjs';
import { parseCheckpoint, signedBy } from './note.mjs';
import { isConsistent, leafHash, rootFromPath } from './tree.mjs';

const PROOF = /^c2sp\.org\/tlog-proof@v1\nindex (0|[1-9][0-9]{0,15})\n((?:[A-Za-z0-9+/]{43}=\n)*)\n/;
const CONSISTENCY = /^old (0|[1-9][0-9]{0,15})\n((?:[A-Za-z0-9+/]{43}=\n)*)\n/;

// verifyProof says why a .tlog-proof does not show that the journal has the entry,
// or null.
export function verifyProof(proof, line, keys, schemas) {
  const m = PROOF.exec(proof.toString('latin1'));
  const checkpoint = m && parseCheckpoint(proof.subarray(m[0].length));
  const path = m && hashes(m[2]);
  if (!checkpoint || !path) return 'the file is no inclusion proof';
  const entry = readEntry(line.at(-1) === 10 ? line.subarray(0, -1) : line, schemas);
  if (entry.code) return `the entry is ${entry.code}`;
  const index = Number(m[1]);
  if (entry.journalID !== checkpoint.origin) return 'the entry is of another journal';
  if (entry.sequence !== index + 1) return 'the proof is for another sequence';
  const root = rootFromPath(leafHash(entry.computed), index, checkpoint.size, path);
  if (!root?.equals(checkpoint.root)) return 'the path does not lead to the root';
  return trustedSigner(checkpoint, keys, entry.recordedAt) ? null : 'no trusted key signed the checkpoint';
}

// trustedSigner says whether a key that the registry trusts signed a checkpoint,
// judged at a time if there is one.
function trustedSigner(checkpoint, keys, at) {
  return [...(keys?.values() ?? [])].some(
    (k) => signedBy(checkpoint, k) && !judgePlace(k, checkpoint.origin, checkpoint.size) && !(at && judgeTime(k, at)),
  );
}

// verifyConsistency says why a consistency proof does not show that the newer
// checkpoint in it continues an older one, or null.
export function verifyConsistency(proof, note, keys) {
  const m = CONSISTENCY.exec(proof.toString('latin1'));
  const newer = m && parseCheckpoint(proof.subarray(m[0].length));
  const older = parseCheckpoint(note);
  const path = m && hashes(m[2]);
  if (!newer || !path || !older) return 'the files are no consistency proof and no checkpoint';
  if (Number(m[1]) !== older.size || newer.origin !== older.origin) return 'the proof is for another checkpoint';
  if (![older, newer].every((c) => trustedSigner(c, keys))) return 'no trusted key signed the checkpoints';
  return isConsistent(older.size, older.root, newer.size, newer.root, path) ? null : 'the newer tree does not begin with the older';
}

function hashes(text) {
  const all = text.split('\n').slice(0, -1).map((l) => base64Of(l, 32));
  return all.includes(null) || all.length > 63 ? null : all;
}
