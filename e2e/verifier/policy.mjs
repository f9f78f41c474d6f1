// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// What the user of a verifier demands (section 6, the policy).

import { base64Of, base64url, isDigest, isSequence } from './values.mjs';
import { isObject } from './json.mjs';
import { parseWitness } from './note.mjs';
import { parseRoots } from './timestamp.mjs';

const DEMANDS = ['tail', 'time', 'first_link', 'schema', 'lineage', 'artifacts', 'checkpoints'];

const LONGEST_GAP = 100 * 365 * 24 * 60 * 60; // seconds

const text = (v) => typeof v === 'string' && v !== '';
const list = (ok) => (v) => Array.isArray(v) && v.length > 0 && v.every(ok);
const object = (members, required) => (v) =>
  isObject(v) &&
  Object.entries(v).every(([k, x]) => Object.hasOwn(members, k) && members[k](x)) &&
  required.every((k) => Object.hasOwn(v, k));

const JOURNAL = object(
  {
    journal_id: text,
    first_sequence: isSequence,
    first_link: isDigest,
    keys: list((v) => text(v) && base64url(v)?.length === 32),
    oldest_checkpoint: object({ size: isSequence, root: (v) => !!base64Of(v, 32) }, ['size', 'root']),
    largest_gap_seconds: (v) => isSequence(v) && v <= LONGEST_GAP,
  },
  ['journal_id'],
);

const POLICY = object(
  {
    journals: list(JOURNAL),
    witnesses: list(text),
    quorum: isSequence,
    timestamp_roots: list(text),
    demand: list((v) => DEMANDS.includes(v)),
  },
  [],
);

// readPolicy returns the policy or throws: it must not be understood by half.
export function readPolicy(document) {
  if (!POLICY(document)) throw new Error('policy refused: it has a member or a value that it must not have');
  const witnesses = (document.witnesses ?? []).map(parseWitness);
  const quorum = document.quorum ?? 0;
  if (quorum > witnesses.length || (witnesses.length && !quorum)) {
    throw new Error('policy refused: quorum does not fit the witnesses');
  }
  if (new Set(document.witnesses).size !== witnesses.length) throw new Error('policy refused: a witness stands twice');
  if (document.journals?.some((j) => j.first_link !== undefined && !(j.first_sequence > 1))) {
    throw new Error('policy refused: first_link without a first_sequence behind 1');
  }
  const ids = (document.journals ?? []).map((j) => j.journal_id);
  if (new Set(ids).size !== ids.length) throw new Error('policy refused: a journal stands twice');
  return {
    journals: document.journals,
    // of returns what is demanded of a journal, undefined if it should not be there.
    of: (id) => (document.journals ? document.journals.find((j) => j.journal_id === id) : {}),
    witnesses,
    quorum,
    roots: parseRoots(document.timestamp_roots ?? []),
    demands: (what) => (document.demand ?? []).includes(what),
  };
}
