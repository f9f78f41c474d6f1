// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// What was found, in the order of the journal.

const NOTES = new Set([
  'first_link_unanchored',
  'tail_unattested',
  'time_unattested',
  'unsupported_schema_version',
  'clock_regressed',
  'schema_not_performed',
  'lineage_unresolved',
  'reconcile_not_performed',
]);
const UNCHECKED = new Set(['signature_not_performed', 'checkpoint_not_performed']);

// BEHIND_LINE is how far behind the first entry that could have said it the name of
// a segment is judged.
export const BEHIND_LINE = 0.5;

export class Findings {
  constructor() {
    this.all = [];
  }

  // add keeps a finding. line is the place in the journal that it belongs to; one
  // about the whole stands behind all.
  add(code, sequence, { line = Infinity, demanded = false, note = NOTES.has(code) } = {}) {
    const kind = note ? (demanded ? 'unchecked' : 'note') : UNCHECKED.has(code) ? 'unchecked' : 'broken';
    this.all.push({ code, class: kind, ...(sequence === undefined ? {} : { sequence }), line });
  }

  // dropName takes back what was said of the name of a segment behind an entry of
  // which the same is said.
  dropName(line) {
    this.all = this.all.filter((f) => f.line !== line + BEHIND_LINE);
  }

  // brokenUpTo says whether something is broken, at a line or before.
  brokenUpTo(line) {
    return this.all.some((f) => f.class === 'broken' && f.line <= line);
  }

  exitCode() {
    if (this.all.some((f) => f.class === 'broken')) return 1;
    return this.all.some((f) => f.class === 'unchecked') ? 2 : 0;
  }

  report() {
    const place = (f) => (f.line === Infinity ? Number.MAX_VALUE : f.line);
    return this.all.toSorted((a, b) => place(a) - place(b)).map(({ line, ...finding }) => finding);
  }
}
