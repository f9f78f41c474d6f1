// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// The files of journals (section 1), read as they were when the verifier began.

import { closeSync, fstatSync, lstatSync, openSync, readSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MAX_LINE } from './entry.mjs';

const SEGMENT = /^(?!0{20})[0-9]{20}\.events$/;
const CACHES = ['tiles', 'index'];

// findJournals returns the journals at and below a path: one for each directory
// with segments. A path to a file is a journal of one segment, or of several that
// were joined.
export function findJournals(path) {
  if (!statSync(path).isDirectory()) return [{ path, segments: [segment(path)] }];
  const names = readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  const files = names.filter((n) => n.isFile() && SEGMENT.test(n.name)).map((n) => join(path, n.name));
  const journals = files.length ? [{ path, segments: files.map(segment) }] : [];
  for (const n of names) {
    if (!n.isDirectory() || (files.length && CACHES.includes(n.name))) continue;
    journals.push(...findJournals(join(path, n.name)));
  }
  return journals;
}

const segment = (path) => ({
  path,
  directory: dirname(path),
  name: SEGMENT.test(basename(path)) ? Number(basename(path).slice(0, 20)) : undefined,
  size: lstatSync(path).size,
});

// lines yields the lines of a segment without their LF: {bytes, ended}. Of a line
// that is too long only so much is kept as shows that it is.
export function* lines(seg) {
  const fd = openSync(seg.path, 'r');
  try {
    const chunk = Buffer.allocUnsafe(1 << 16);
    let parts = [];
    let length = 0;
    const keep = (bytes) => {
      if (bytes.length && length <= MAX_LINE) parts.push(Buffer.from(bytes));
      length += bytes.length;
    };
    for (let at = 0; at < seg.size; ) {
      const n = readSync(fd, chunk, 0, Math.min(chunk.length, seg.size - at), at);
      if (n === 0) throw new Error(`${seg.path} became shorter while it was read`);
      at += n;
      let from = 0;
      for (let lf; (lf = chunk.subarray(0, n).indexOf(10, from)) >= 0; from = lf + 1) {
        keep(chunk.subarray(from, lf));
        yield { bytes: Buffer.concat(parts), ended: true };
        parts = [];
        length = 0;
      }
      keep(chunk.subarray(from, n));
    }
    if (length > 0) yield { bytes: Buffer.concat(parts), ended: false };
  } finally {
    closeSync(fd);
  }
}

// wasBeingWritten says whether a last line without an end has one by now.
export function wasBeingWritten(seg) {
  const fd = openSync(seg.path, 'r');
  try {
    const rest = Buffer.alloc(Math.min(fstatSync(fd).size - seg.size, MAX_LINE + 1));
    return rest.subarray(0, readSync(fd, rest, 0, rest.length, seg.size)).includes(10);
  } finally {
    closeSync(fd);
  }
}
