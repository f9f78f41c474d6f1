// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// One journal: everything that section 6 asks, in an order in which each step has
// what it needs.

import { readChain } from './chain.mjs';
import { Findings } from './findings.mjs';
import { judgeEntries } from './trust.mjs';
import { firstAttestation, judgeCheckpoints, reportContradictions } from './outside.mjs';
import { judgeArtifacts, judgeAudited, judgeBeginning, judgeGaps, judgeLineage, pruning, treeBefore } from './places.mjs';
import { nanoseconds } from './values.mjs';

// verifyJournal returns the report of one journal. keys is the registry or null,
// store what loadStores returns.
export function verifyJournal(journal, { keys, policy, store, schemas }) {
  const findings = new Findings();
  const chain = readChain(journal, schemas, findings);
  if (chain.first) judge(chain, { keys, policy, store }, findings);
  else if (chain.line || chain.torn) judgeTail(chain, [], policy, {}, findings);
  // A journal without an entry is not valid.
  const exit = findings.exitCode() || (chain.first ? 0 : 2);
  return { path: journal.path, journal_id: chain.id, exit_code: exit, findings: findings.report() };
}

function judge(chain, { keys, policy, store }, findings) {
  const { id, first } = chain;
  const listed = policy.of(id);
  if (!listed) findings.add('journal_id_mismatch', first.sequence, { line: first.line });
  const { keys: allowed, oldest_checkpoint: oldest } = listed ?? {};
  const pruned = keys && chain.clean && first.sequence !== 1 ? pruning(chain, keys) : undefined;
  const before = treeBefore(chain, pruned);
  const own = store.checkpoints.filter((c) => c.origin === id);
  const trusted = [...(keys?.values() ?? [])].filter((k) => !allowed || allowed.includes(k.id));
  for (const c of keys ? [] : own) findings.add('checkpoint_not_performed', c.size);
  const { passed, contradicting, attested } = judgeCheckpoints(
    chain, keys ? own : [], { keys: trusted, policy, oldest, before, given: own.length }, findings,
  );

  const attestedAt = firstAttestation(attested);
  const inTree = (e) => before && e.sequence > before.size && chain.entryAt(e.sequence) === e;
  judgeEntries(chain, keys, allowed, (e) => (inTree(e) && attestedAt(e.sequence)) || e.recordedAt, findings);
  if (id === undefined) judgeNameless(chain, store, findings);
  judgeBeginning(chain, pruned, !own.length || passed.length > 0, policy.demands, listed ?? {}, findings);
  reportContradictions(chain, contradicting, findings);
  judgeGaps(chain, passed, listed ?? {}, findings);
  judgeArtifacts(chain, policy.demands('artifacts'), findings);
  if (policy.demands('lineage')) judgeLineage(chain, findings);
  judgeAudited(chain, policy.demands('lineage') || policy.demands('artifacts'), findings);
  judgeTail(chain, passed, policy, listed ?? {}, findings);
  if (chain.entries.some((e) => e.key)) judgeTime(chain, passed, policy, findings);
  for (const f of findings.all) {
    if (f.code === 'unsupported_schema_version' && policy.demands('schema')) f.class = 'unchecked';
  }
}

// judgeNameless takes nothing as checked that needs the id of the journal.
function judgeNameless(chain, store, findings) {
  const bound = (k) => k && Object.keys(k.first).length + Object.keys(k.invalidFrom).length > 0;
  if (chain.entries.some((e) => bound(e.key))) findings.add('signature_not_performed');
  if (store.checkpoints.length) findings.add('checkpoint_not_performed');
}

// judgeTail says from which entry on nothing outside proves that it stood there.
function judgeTail(chain, passed, policy, listed, findings) {
  const proven = passed.filter((c) => c.quorum).at(-1);
  if (proven?.size === chain.last) return;
  const gap = listed.largest_gap_seconds;
  const from = proven && chain.entryAt(proven.size)?.recordedAt;
  const to = chain.before?.recordedAt;
  const young = gap !== undefined && from && to && nanoseconds(to) - nanoseconds(from) <= BigInt(gap) * 1000000000n;
  findings.add('tail_unattested', proven && proven.size + 1, { demanded: policy.demands('tail') && !young });
}

// judgeTime says from which entry on nothing outside proves when it existed.
function judgeTime(chain, passed, policy, findings) {
  const attested = passed.filter((c) => c.at).at(-1);
  if (attested?.size === chain.last) return;
  findings.add('time_unattested', attested && attested.size + 1, { demanded: policy.demands('time') });
}
