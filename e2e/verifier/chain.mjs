// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// The order of the entries: steps 1 to 5 and 9 to 12 of section 6, the names of
// the segments, and the tree over the record hashes.

import { readEntry } from './entry.mjs';
import { BEHIND_LINE } from './findings.mjs';
import { lines, wasBeingWritten } from './segments.mjs';
import { Tree } from './tree.mjs';

// readChain reads all segments and returns the entries that pass steps 1 to 5,
// with their places, and what is known of the whole.
export function readChain(journal, schemas, findings) {
  const chain = new Chain(journal, findings);
  journal.segments.forEach((seg, i) => {
    const last = i === journal.segments.length - 1;
    chain.beginSegment(seg, i);
    for (const { bytes, ended } of lines(seg)) {
      if (ended) chain.add(readEntry(bytes, schemas), seg);
      else if (!last) chain.add({ code: 'not_canonical' }, seg);
      else if (!wasBeingWritten(seg)) chain.tear();
    }
    chain.endSegment();
  });
  return chain;
}

class Chain {
  constructor(journal, findings) {
    this.findings = findings;
    this.entries = []; // that pass steps 1 to 5
    this.line = 0;
    this.id = undefined;
    this.first = undefined; // the first entry, where the chain begins
    this.before = undefined; // the entry before; those that repeat a sequence are left out
    this.skipped = []; // the lines since then that are no entry
    this.largest = 0; // sequence
    this.promised = journal.segments[0]?.name;
    // The runs of record hashes whose places are sure: {start, leaves}.
    this.runs = [];
    this.run = undefined; // the one that goes on
    this.torn = false;
  }

  // low and high are the sequences that the next entry may have, undefined where
  // nothing tells them.
  get low() {
    return this.before ? this.before.sequence + 1 : this.promised;
  }

  get high() {
    return this.low === undefined ? undefined : this.low + this.skipped.length;
  }

  // last is the sequence of the last entry, or of the last line that may be one.
  get last() {
    return Math.max(this.largest, (this.high ?? 1) - 1);
  }

  beginSegment(seg, index) {
    this.misnamed = undefined;
    if (index === 0 || seg.name === undefined || this.low === undefined) return;
    if (seg.name >= this.low && seg.name <= this.high) return;
    const code = seg.name > this.high ? 'sequence_gap' : 'sequence_duplicate';
    this.misnamed = { code, sequence: this.high };
  }

  // endSegment says what is wrong with the name of a segment, if nothing in it did.
  endSegment() {
    const { code, sequence } = this.misnamed ?? {};
    if (code) this.findings.add(code, sequence, { line: this.line - 1 + BEHIND_LINE });
    this.misnamed = undefined;
  }

  tear() {
    this.torn = true;
    this.findings.add('torn_tail', this.high, { line: this.line });
  }

  add(entry, seg) {
    const line = this.line++;
    if (entry.code) {
      this.findings.add(entry.code, this.high, { line });
      this.skip(entry);
      return;
    }
    Object.assign(entry, { line, directory: seg.directory });
    this.entries.push(entry);
    this.largest = Math.max(this.largest, entry.sequence);
    this.checkJournal(entry);
    if (this.checkPlace(entry)) this.advance(entry);
    this.endSegment();
  }

  checkJournal(entry) {
    if (entry.journalID === undefined) return;
    this.id ??= entry.journalID;
    if (entry.journalID !== this.id) this.findings.add('journal_id_mismatch', entry.sequence, { line: entry.line });
  }

  // checkPlace judges sequence, link and time, and says whether the chain goes on
  // with the entry.
  checkPlace(entry) {
    const { sequence, line } = entry;
    const report = (code) => this.findings.add(code, sequence, { line });
    const { low, high, before } = this;
    entry.adjoins = !!before && this.skipped.length === 0;
    entry.follows = entry.adjoins && sequence === low;
    entry.repeats = !!before && sequence < low;
    if (low !== undefined && (sequence < low || sequence > high)) {
      report(sequence < low ? 'sequence_duplicate' : 'sequence_gap');
      this.misnamed = undefined;
      if (entry.repeats) return false;
    }
    const hashes = this.predecessors(sequence);
    const lacks = before ? false : (sequence === 1) !== (entry.previous === undefined);
    if (!before) this.unlinked = lacks;
    if (lacks || (hashes && !hashes.includes(entry.previous))) report('previous_hash_mismatch');
    if (before && entry.recordedAt < before.recordedAt) report('clock_regressed');
    return true;
  }

  // predecessors are the hashes that an entry may name, undefined where that cannot
  // be known: behind a gap, or behind lines of which some are entries.
  predecessors(sequence) {
    const skipped = this.skipped.at(-1);
    if (this.low === undefined) return undefined;
    if (skipped && sequence === this.high) return skipped.named && [skipped.named, skipped.computed].map(digest);
    return sequence === this.low && this.before ? [digest(this.before.computed)] : undefined;
  }

  advance(entry) {
    if (!this.first) {
      this.first = entry;
      this.clean = this.skipped.length === 0;
    }
    if (!this.run || entry.sequence !== this.run.start + this.run.leaves.length) {
      this.run = { start: entry.sequence, leaves: [] };
      this.runs.push(this.run);
    }
    this.run.leaves.push({ hash: entry.computed, entry });
    this.before = entry;
    this.skipped = [];
  }

  // skip passes a line that fails one of steps 1 to 5.
  skip(entry) {
    // Of an entry in its place whose bytes were changed the hash counts that it names.
    const inPlace = entry.code === 'record_hash_mismatch' && this.skipped.length === 0 && entry.says === this.high;
    if (inPlace) this.run?.leaves.push({ hash: entry.named });
    else this.run = undefined;
    this.skipped.push(entry);
  }

  // roots returns the roots of the trees of those sizes that can be computed, from
  // the tree over what goes before.
  roots(sizes, before) {
    const wanted = new Set(sizes);
    const out = new Map();
    const leaves = before ? this.leavesFrom(before.size + 1) : [];
    if (!leaves.length) return out;
    const tree = new Tree(before.size, before.hashes);
    if (wanted.has(tree.size)) out.set(tree.size, tree.root());
    for (const leaf of leaves) {
      tree.append(leaf.hash);
      if (wanted.has(tree.size)) out.set(tree.size, tree.root());
    }
    return out;
  }

  leavesFrom(sequence) {
    const run = this.runs.find((r) => r.start <= sequence && sequence < r.start + r.leaves.length);
    return run ? run.leaves.slice(sequence - run.start) : [];
  }

  // entryAt returns the entry with a sequence, if its place is sure.
  entryAt(sequence) {
    return this.leavesFrom(sequence)[0]?.entry;
  }
}

const digest = (hash) => `sha256:${hash.toString('hex')}`;
