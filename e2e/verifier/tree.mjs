// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Trees of RFC 6962 over record hashes (sections 4 and 7).

import { createHash } from 'node:crypto';

const sha256 = (...parts) => {
  const h = createHash('sha256');
  for (const p of parts) h.update(p);
  return h.digest();
};
const LEAF = Buffer.from([0]);
const NODE = Buffer.from([1]);

export const leafHash = (data) => sha256(LEAF, data);
export const nodeHash = (left, right) => sha256(NODE, left, right);

// Tree is a tree that grows at its right edge. It keeps the roots of the largest
// complete subtrees, from the left: all that later roots need.
export class Tree {
  constructor(size = 0, hashes = []) {
    this.size = size;
    this.hashes = [...hashes];
  }

  append(data) {
    let hash = leafHash(data);
    for (let n = this.size; n % 2 === 1; n = (n - 1) / 2) hash = nodeHash(this.hashes.pop(), hash);
    this.hashes.push(hash);
    this.size++;
  }

  root() {
    return this.hashes.reduceRight((right, left) => (right ? nodeHash(left, right) : left), null) ?? sha256();
  }
}

// subtrees is how many hashes a Tree of that size has.
export const subtrees = (size) => BigInt(size).toString(2).replaceAll('0', '').length;

// rootFromPath returns the root to which an inclusion path leads from a leaf, or
// null if the path has not the length that index and size demand.
export function rootFromPath(leaf, index, size, path) {
  if (index >= size) return null;
  let hash = leaf;
  let used = 0;
  let last = size - 1;
  for (let i = index; last > 0; i = Math.floor(i / 2), last = Math.floor(last / 2)) {
    if (i % 2 === 1) {
      if (used === path.length) return null;
      hash = nodeHash(path[used++], hash);
    } else if (i < last) {
      if (used === path.length) return null;
      hash = nodeHash(hash, path[used++]);
    }
  }
  return used === path.length ? hash : null;
}

// isConsistent says whether a proof of RFC 6962 section 2.1.2 shows that the
// newer tree begins with the older one. Sizes from 1 on.
export function isConsistent(oldSize, oldRoot, newSize, newRoot, proof) {
  if (oldSize > newSize) return false;
  if (oldSize === newSize) return proof.length === 0 && oldRoot.equals(newRoot);
  let node = oldSize - 1;
  let last = newSize - 1;
  while (node % 2 === 1) {
    node = (node - 1) / 2;
    last = Math.floor(last / 2);
  }
  const rest = [...proof];
  if (node === 0) rest.unshift(oldRoot);
  if (rest.length === 0) return false;
  let older = rest.shift();
  let newer = older;
  while (last > 0) {
    if (node % 2 === 1 || node === last) {
      if (node > 0) {
        const h = rest.shift();
        if (!h) return false;
        older = nodeHash(h, older);
        newer = nodeHash(h, newer);
        while (node % 2 === 0 && node > 0) {
          node /= 2;
          last = Math.floor(last / 2);
        }
      }
    } else {
      const h = rest.shift();
      if (!h) return false;
      newer = nodeHash(newer, h);
    }
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  }
  return rest.length === 0 && older.equals(oldRoot) && newer.equals(newRoot);
}
