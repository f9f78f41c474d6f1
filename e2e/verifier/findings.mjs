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
]);
const UNCHECKED = new Set(['signature_not_performed', 'checkpoint_not_performed']);

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

  // brokenUpTo says whether an entry is broken, that of a line or one before. The
  // name of a segment, between two lines, is no entry.
  brokenUpTo(line) {
    return this.all.some((f) => f.class === 'broken' && f.line <= line && Number.isInteger(f.line));
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
