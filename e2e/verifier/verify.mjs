// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Verifies journals as docs/format.md says, with nothing of Readtrail: another
// language, another RFC 8785, another Ed25519, another JSON Schema.
//
// usage: node verify.mjs --keys FILE [--policy FILE] [--checkpoints PATH]... [--schemas DIR] PATH...
//        node verify.mjs --keys FILE --proof FILE (--entry FILE | --older CHECKPOINT)
//
// It prints one JSON object. The exit code is that of section 6; 2 also if
// something could not be read, 64 if the command line is wrong.

import { lstatSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parse } from './json.mjs';
import { verifyJournal } from './journal.mjs';
import { registry } from './keys.mjs';
import { loadStores } from './outside.mjs';
import { readPolicy } from './policy.mjs';
import { verifyConsistency, verifyProof } from './proof.mjs';
import { Schemas } from './schemas.mjs';
import { findJournals } from './segments.mjs';

const MAX_DOCUMENT = 1048576;

// document reads a JSON file that says what is trusted. A byte order mark makes it
// no JSON.
function document(path) {
  if (!statSync(path).isFile()) throw new Error(`${path} is no regular file`);
  if (lstatSync(path).size > MAX_DOCUMENT) throw new Error(`${path} is too large`);
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return parse(utf8.decode(readFileSync(path)), 64);
}

function run(options, paths) {
  const keys = options.keys === undefined ? null : registry(document(options.keys));
  const schemas = new Schemas(options.schemas ?? fileURLToPath(new URL('../../schema', import.meta.url)));
  if (options.proof !== undefined) {
    const proof = readFileSync(options.proof);
    const failure =
      options.older === undefined
        ? verifyProof(proof, readFileSync(options.entry), keys, schemas)
        : verifyConsistency(proof, readFileSync(options.older), keys);
    return { exit_code: failure ? 1 : 0, ...(failure && { errors: [failure] }) };
  }
  const policy = readPolicy(options.policy === undefined ? {} : document(options.policy));
  const store = loadStores(options.checkpoints ?? []);
  const errors = [...store.problems];
  const found = paths.flatMap(findJournals);
  if (!found.length) errors.push('no journal is there');
  const journals = found.map((j) => verifyJournal(j, { keys, policy, store, schemas }));
  for (const { journal_id: id } of policy.journals ?? []) {
    if (!journals.some((j) => j.journal_id === id)) errors.push(`journal ${id} of the policy is not there`);
  }
  const ids = journals.map((j) => j.journal_id).filter((id) => id !== undefined);
  for (const id of new Set(ids.filter((x, i) => ids.indexOf(x) !== i))) errors.push(`journal ${id} stands twice`);
  for (const origin of new Set(store.checkpoints.map((c) => c.origin))) {
    const whole = found.length === 1 && paths.includes(found[0].path);
    if (!whole && !journals.some((j) => j.journal_id === origin)) errors.push(`there are checkpoints of journal ${origin}, which is not there`);
  }
  const codes = journals.map((j) => j.exit_code);
  const exit = codes.includes(1) ? 1 : codes.includes(2) || errors.length ? 2 : 0;
  return { exit_code: exit, journals, ...(errors.length && { errors }) };
}

const { values: options, positionals: paths } = parseArgs({
  allowPositionals: true,
  options: {
    keys: { type: 'string' },
    policy: { type: 'string' },
    checkpoints: { type: 'string', multiple: true },
    schemas: { type: 'string' },
    entry: { type: 'string' },
    proof: { type: 'string' },
    older: { type: 'string' },
  },
});
let report;
try {
  report = run(options, paths);
} catch (e) {
  report = { exit_code: 2, journals: [], errors: [e.message] };
}
console.log(JSON.stringify(report, null, 2));
process.exitCode = report.exit_code;
