// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Checkpoints that were kept apart from the journal, and what they prove.

import { readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { cosignedAt, parseCheckpoint, signedBy } from './note.mjs';
import { judgePlace, judgeTime } from './keys.mjs';
import { timestampedAt } from './timestamp.mjs';

const MAX_FILE = 64 * 1024;

// loadStores reads the checkpoints of all stores, by size. Each file counts for
// itself.
export function loadStores(paths) {
  const checkpoints = [];
  const problems = [];
  for (const place of paths) {
    const files = checkpointFiles(place);
    if (!files.length) problems.push(`${place} holds no checkpoint`);
    for (const path of files) {
      const checkpoint = statSync(path).size <= MAX_FILE ? parseCheckpoint(readFileSync(path)) : null;
      if (checkpoint) checkpoints.push({ ...checkpoint, tokens: tokensBeside(path) });
      else problems.push(`${path} is no checkpoint`);
    }
  }
  const order = (a, b) => a.size - b.size || Buffer.compare(a.root, b.root);
  return { checkpoints: checkpoints.sort(order), problems };
}

function checkpointFiles(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true }).flatMap((n) => {
    const inner = join(path, n.name);
    if (n.isDirectory()) return checkpointFiles(inner);
    return n.isFile() && n.name.endsWith('.checkpoint') ? [inner] : [];
  });
}

function tokensBeside(path) {
  const stem = `${basename(path).slice(0, -'.checkpoint'.length)}.`;
  return readdirSync(dirname(path), { withFileTypes: true })
    .filter((n) => n.isFile() && n.name.startsWith(stem) && n.name.endsWith('.tsr'))
    .map((n) => join(dirname(path), n.name))
    .filter((p) => statSync(p).size <= MAX_FILE)
    .map((p) => readFileSync(p));
}

// attest returns when a checkpoint was attested from outside, or null, and
// whether the quorum of witnesses has cosigned it.
function attest(checkpoint, policy) {
  const cosigned = policy.witnesses.map((w) => cosignedAt(checkpoint, w)).filter((at) => at !== null).sort();
  const quorum = cosigned.length >= policy.quorum;
  const times = checkpoint.tokens.map((t) => timestampedAt(t, checkpoint.text, policy.roots)).filter((at) => at !== null);
  if (policy.quorum && quorum) times.push(cosigned[policy.quorum - 1]);
  return { at: times.sort()[0] ?? null, quorum };
}

// judgeCheckpoints holds the checkpoints of a journal against it, and the one that
// the policy names. It returns those that passed, all that say when entries
// existed, and those that contradict the entries: what these are depends on whether
// the entries are broken.
export function judgeCheckpoints(chain, checkpoints, { keys, policy, oldest, before }, findings) {
  const attested = [];
  const all = [];
  for (const c of checkpoints) {
    const key = keys.find((k) => signedBy(c, k));
    const { at, quorum } = key ? attest(c, policy) : {};
    // Without an attestation the time is that of an entry, of which only the root
    // says whether it is the same.
    const code = key && (judgePlace(key, c.origin, c.size) ?? (at ? judgeTime(key, at) : null));
    if (at) attested.push({ size: c.size, at });
    if (!key || code) findings.add('checkpoint_signature_invalid', c.size);
    else all.push({ ...c, key, at, quorum });
  }
  if (oldest) all.push({ size: oldest.size, root: Buffer.from(oldest.root, 'base64'), named: true });
  all.sort((a, b) => a.size - b.size);

  all.slice(1).forEach((c, i) => {
    const other = all[i];
    if (other.size !== c.size || other.root.equals(c.root)) return;
    findings.add(c.named || other.named ? 'checkpoint_inconsistent' : 'fork', c.size);
  });
  const behind = all.some((c) => c.size > chain.last);
  if (behind) findings.add('truncated', chain.last + 1);

  const roots = chain.roots(all.map((c) => c.size), before);
  const known = all.filter((c) => c.size <= chain.last && roots.has(c.size));
  if (all.some((c) => c.named && c.size <= chain.last && !roots.has(c.size))) findings.add('checkpoint_not_performed', oldest.size);
  const passed = known.filter((c) => {
    if (c.named || !roots.get(c.size).equals(c.root)) return false;
    const recordedAt = chain.entryAt(c.size)?.recordedAt;
    if (c.at || !recordedAt || !judgeTime(c.key, recordedAt)) return true;
    findings.add('checkpoint_signature_invalid', c.size);
    return false;
  });
  const contradicting = known.filter((c) => !roots.get(c.size).equals(c.root));
  return { passed, contradicting, attested };
}

// reportContradictions names the checkpoints that the entries contradict.
export function reportContradictions(chain, contradicting, findings) {
  for (const c of contradicting) {
    const broken = findings.brokenUpTo(chain.entryAt(c.size)?.line ?? chain.line);
    findings.add(c.named || broken ? 'checkpoint_inconsistent' : 'fork', c.size);
  }
}

// firstAttestation returns a function from a sequence to the earliest time at
// which a checkpoint that covers it was attested.
export function firstAttestation(attested) {
  const sorted = attested.toSorted((a, b) => b.size - a.size);
  const earliest = [];
  for (const a of sorted) {
    const best = earliest.at(-1)?.at;
    earliest.push({ size: a.size, at: best && best < a.at ? best : a.at });
  }
  earliest.reverse(); // by size, each with the earliest time of it and all larger
  return (sequence) => {
    let low = 0;
    let high = earliest.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (earliest[middle].size < sequence) low = middle + 1;
      else high = middle;
    }
    return earliest[low]?.at;
  };
}
