// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Checkpoints that were kept apart from the journal, and what they prove.

import { readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { cosignedAt, parseCheckpoint, signedBy } from './note.mjs';
import { judgePlace, judgeTime } from './keys.mjs';
import { timestampedAt } from './timestamp.mjs';

const MAX_FILE = 64 * 1024;
const MAX_TOKENS = 100; // of one checkpoint

// loadStores reads the checkpoints of all stores, by size. Each file counts for
// itself; problems name those that could not be taken, which silence no other.
export function loadStores(paths) {
  const store = { checkpoints: [], problems: [] };
  for (const place of paths) {
    const files = checkpointFiles(place);
    if (!files.length) store.problems.push(`${place} holds no checkpoint`);
    for (const path of files) {
      const bytes = readBounded(path);
      const checkpoint = bytes && parseCheckpoint(bytes);
      if (checkpoint) store.checkpoints.push({ ...checkpoint, tokens: tokensBeside(path, store) });
      else store.problems.push(`${path} is no checkpoint`);
    }
  }
  store.checkpoints.sort((a, b) => a.size - b.size || Buffer.compare(a.root, b.root));
  return store;
}

// readBounded returns the bytes of a regular file that is not too large, or null.
function readBounded(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() && stat.size <= MAX_FILE ? readFileSync(path) : null;
}

function checkpointFiles(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true }).flatMap((n) => {
    const inner = join(path, n.name);
    if (n.isDirectory()) return checkpointFiles(inner);
    return n.name.endsWith('.checkpoint') ? [inner] : [];
  });
}

function tokensBeside(path, store) {
  const stem = `${basename(path).slice(0, -'.checkpoint'.length)}.`;
  const names = readdirSync(dirname(path)).filter((n) => n.startsWith(stem) && n.endsWith('.tsr'));
  const tokens = names.length > MAX_TOKENS ? [null] : names.map((n) => readBounded(join(dirname(path), n)));
  if (tokens.includes(null)) store.problems.push(`a time stamp of ${path} cannot be read`);
  return tokens.filter((t) => t);
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
export function judgeCheckpoints(chain, checkpoints, { keys, policy, oldest, before, given }, findings) {
  const attested = [];
  const all = [];
  for (const c of checkpoints) {
    const key = keys.find((k) => signedBy(c, k));
    const { at, quorum } = key ? attest(c, policy) : {};
    // Without an attestation the time is that of an entry, of which only the root
    // says whether it is the same.
    const code = key && (judgePlace(key, c.origin, c.size) ?? (at ? judgeTime(key, at) : null));
    if (at) attested.push({ size: c.size, at });
    if (!key || code) findings.add('checkpoint_signature_invalid');
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

  const roots = chain.roots([...all, ...attested].map((c) => c.size), before);
  const known = all.filter((c) => c.size <= chain.last && roots.has(c.size));
  if (all.some((c) => c.named && c.size <= chain.last && !roots.has(c.size))) findings.add('checkpoint_not_performed', oldest.size);
  const passed = known.filter((c) => {
    if (c.named || !roots.get(c.size).equals(c.root)) return false;
    const recordedAt = chain.entryAt(c.size)?.recordedAt;
    if (c.at || !recordedAt || !judgeTime(c.key, recordedAt)) return true;
    findings.add('checkpoint_signature_invalid');
    return false;
  });
  const contradicting = known.filter((c) => !roots.get(c.size).equals(c.root));
  const uncompared = all.filter((c) => !c.named && c.size <= chain.last && !roots.has(c.size));
  const demanded = policy.demands('checkpoints');
  if (uncompared.length) {
    findings.add('checkpoint_not_performed', uncompared.at(-1).size, { note: true, demanded });
  } else if (demanded && !given) {
    findings.add('checkpoint_not_performed');
  }
  // What is not compared says nothing of time.
  return { passed, contradicting, attested: attested.filter((a) => roots.has(a.size)) };
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
