// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Where a journal begins, and what an entry names beside it (section 6).

import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { checkSignature } from './entry.mjs';
import { isDigest, isSequence, nanoseconds } from './values.mjs';
import { subtrees } from './tree.mjs';

// pruning returns the journal.pruned that says what went before the entries that
// stand here, or undefined. Whether its key is trusted is judged in its place.
export function pruning(chain, keys) {
  const first = chain.first.sequence;
  const announced = chain.entries.filter((e) => {
    const key = keys.get(e.signature.key_id);
    if (e.event !== 'journal.pruned' || !key || checkSignature(e, key) !== 'valid') return false;
    const { first_sequence: stays, anchor, tree_hashes: hashes } = e.detail;
    if (!isSequence(stays) || stays < 2 || stays < first || e.sequence <= stays || !isDigest(anchor)) return false;
    const wellFormed = Array.isArray(hashes) && hashes.every((h) => typeof h === 'string' && /^[0-9a-f]{64}$/.test(h));
    return wellFormed && hashes.length === subtrees(stays - 1);
  });
  const nearest = Math.min(...announced.map((e) => e.detail.first_sequence));
  return announced.filter((e) => e.detail.first_sequence === nearest).at(-1)?.detail;
}

// treeBefore is the tree over what was pruned, or null if that is not known.
export function treeBefore(chain, pruned) {
  if (chain.first.sequence === 1) return chain.unlinked ? null : { size: 0, hashes: [] };
  const stays = pruned && chain.entries.find((e) => !e.repeats && e.sequence === pruned.first_sequence);
  if (!stays || stays.previous !== pruned.anchor) return null;
  return { size: pruned.first_sequence - 1, hashes: pruned.tree_hashes.map((h) => Buffer.from(h, 'hex')) };
}

// judgeBeginning compares the first link with what the journal, or the policy,
// says went before it.
// confirmed says that no checkpoint was given, or that the journal gives the root of one.
export function judgeBeginning(chain, pruned, confirmed, demands, policy, findings) {
  const { first } = chain;
  const { first_sequence: begins, first_link: link } = policy;
  const behind = chain.clean && begins !== undefined && first.sequence > begins;
  if (behind) {
    findings.dropName(first.line);
    findings.add('sequence_gap', first.sequence, { line: first.line });
  }
  const anchors = [];
  if (pruned) anchors.push({ sequence: pruned.first_sequence, hash: pruned.anchor });
  if (link !== undefined && !behind) anchors.push({ sequence: begins, hash: link });
  for (const a of anchors) {
    const entry = chain.entries.find((e) => !e.repeats && e.sequence === a.sequence);
    if (!holds(chain, a)) findings.add('previous_hash_mismatch', a.sequence, { line: entry.line });
  }
  // What contradicts an anchor is judged, not unknown; behind a line that is no entry
  // there is no first link to judge.
  const judged = first.sequence === 1 || !chain.clean || chain.unlinked || (link !== undefined && begins === first.sequence);
  const reached = pruned && chain.last >= pruned.first_sequence;
  if (!judged && reached && !confirmed && anchors.every((a) => holds(chain, a))) {
    findings.add('first_link_unanchored', first.sequence, { demanded: demands('first_link') });
  }
  if (!judged && !reached) {
    findings.add('first_link_unanchored', pruned ? undefined : first.sequence, { line: first.line, demanded: demands('first_link') });
  }
}

// holds says whether the entry that an anchor is about does not contradict it.
function holds(chain, { sequence, hash }) {
  const entry = chain.entries.find((e) => !e.repeats && e.sequence === sequence);
  return !entry || entry.previous === hash;
}

// judgeGaps finds silence between neighbors that is longer than the policy allows.
export function judgeGaps(chain, passed, policy, findings) {
  const seconds = policy.largest_gap_seconds;
  if (seconds === undefined) return;
  const tooFar = (a, b) => nanoseconds(b) - nanoseconds(a) > BigInt(seconds) * 1000000000n;
  let before;
  for (const e of chain.entries.filter((entry) => !entry.repeats)) {
    if (before && e.adjoins && tooFar(before.recordedAt, e.recordedAt)) {
      findings.add('time_unattested', e.sequence, { line: e.line, demanded: true });
    }
    before = e;
  }
  let latest;
  for (const { size, at } of passed.filter((c) => c.at)) {
    if (latest && tooFar(latest, at)) findings.add('time_unattested', size, { demanded: true });
    if (!latest || at > latest) latest = at;
  }
}

// judgeArtifacts holds what crashes tore off against the entries that name it.
export function judgeArtifacts(chain, demanded, findings) {
  for (const e of chain.entries) {
    if (e.event !== 'journal.recovered') continue;
    const { kept_as: name, digest } = e.detail;
    const report = (code) => findings.add(code, e.sequence, { line: e.line });
    if (typeof name !== 'string' || name === '' || basename(name) !== name) {
      if (demanded) report('artifact_missing');
      continue;
    }
    const stat = lstatSync(join(e.directory, name), { throwIfNoEntry: false });
    if (!stat?.isFile()) {
      if (stat || demanded) report('artifact_missing');
      continue;
    }
    const found = createHash('sha256').update(readFileSync(join(e.directory, name))).digest('hex');
    if (`sha256:${found}` !== digest) report('artifact_digest_mismatch');
  }
}

// judgeLineage finds reads that no lineage entry names, each once.
export function judgeLineage(chain, findings) {
  const resolved = new Set(chain.entries.flatMap((e) => e.resolves ?? []));
  for (const e of chain.entries) {
    if (e.readID === undefined || resolved.has(e.readID)) continue;
    findings.add('lineage_unresolved', e.sequence, { line: e.line, demanded: true });
    resolved.add(e.readID);
  }
}

// judgeAudited says once that nothing was compared of what audit events name: it is
// elsewhere.
export function judgeAudited(chain, demanded, findings) {
  const first = chain.entries.find((e) => e.audited);
  if (first) findings.add('reconcile_not_performed', first.sequence, { demanded });
}
