// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// One line of a journal: steps 2 to 6 and 8 of section 6.

import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { base64, base64Of, base64url, digestBytes, entryTime, isDigest, isSequence } from './values.mjs';
import { isObject, parse } from './json.mjs';
import { leafHash, rootFromPath } from './tree.mjs';
import { isSignature } from './keys.mjs';

export const MAX_LINE = 1048576;
const MAX_DEPTH = 64;
const VERSION = /^((0|[1-9][0-9]{0,8})\.){2}(0|[1-9][0-9]{0,8})$/;
const MEMBERS = ['canonicalization', 'hash_algorithm', 'previous_event_hash', 'record_hash', 'signature', 'verification'];
const SIGNATURE_MEMBERS = ['algorithm', 'key_id', 'public_key', 'value'];
const GROUP = Buffer.from('readtrail/group/v1\n');
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

// readEntry judges the bytes of a line, without its LF. In the result, code is
// the failure of steps 2 to 5 if there is one; named and computed are the two
// hashes of step 4 where there are such.
export function readEntry(bytes, schemas) {
  let entry;
  const spans = new Map();
  let text;
  try {
    if (bytes.length > MAX_LINE) return { code: 'not_canonical' };
    text = utf8.decode(bytes);
    entry = parse(text, MAX_DEPTH, spans);
    if (canonicalize(entry) !== text) return { code: 'not_canonical' };
  } catch {
    return { code: 'not_canonical' };
  }
  const kind = kindOf(entry);
  if (!kind || !hasShape(entry.integrity)) return { code: 'schema_invalid' };
  const { integrity, [kind]: body } = entry;
  const spelled = spelling(integrity);
  if (!spelled) return { code: 'not_canonical' };

  const computed = payloadHash(text, spans);
  const named = integrity.record_hash;
  if (`sha256:${computed.toString('hex')}` !== named) {
    const says = isObject(body) ? body.sequence : undefined;
    return { code: 'record_hash_mismatch', named: digestBytes(named), computed, says };
  }
  const hashes = { named: computed, computed };
  if (!hasFrame(kind, body)) return { code: 'schema_invalid', ...hashes };

  const schema = schemas.of(kind, entry.schema_version);
  const previous = integrity.previous_event_hash || undefined;
  const valid =
    isUnverified(integrity.verification) &&
    (previous !== undefined || !Object.hasOwn(integrity, 'previous_event_hash')) &&
    !(kind === 'audit_event' && entry.schema_version === '1.0.0' && spelled.group) &&
    (!schema || schema(entry));
  return {
    ...hashes,
    sequence: body.sequence,
    journalID: body.journal_id,
    recordedAt: entryTime(body.recorded_at),
    previous,
    signature: { ...integrity.signature, ...spelled },
    schemaInvalid: !valid,
    unsupported: valid && !schema,
    ...(schema ? interpret(kind, body) : {}),
  };
}

// interpret keeps of a known body what later steps ask for.
function interpret(kind, body) {
  const detail = isObject(body.detail) ? body.detail : {};
  if (kind === 'journal_record') return { event: body.event_type, detail };
  if (kind === 'audit_event') return { audited: true };
  if (kind === 'read_record') return { readID: body.read_id };
  if (kind !== 'lineage_record') return {};
  const spans = Array.isArray(body.spans) ? body.spans : [];
  return { resolves: spans.filter(isObject).map((s) => s.read_id).filter((id) => typeof id === 'string') };
}

// spelling decodes what integrity holds in base64 and hex, or returns null if
// something is not in its one spelling. No predecessor, null or empty, is for the
// form of the entry to say.
function spelling(integrity) {
  const { record_hash: hash, previous_event_hash: previous, signature: s } = integrity;
  if (!isDigest(hash) || (previous && !isDigest(previous))) return null;
  if (!base64Of(s.public_key, 32) || base64url(s.key_id)?.length !== 32) return null;
  const bytes = base64(s.value);
  if (!bytes) return null;
  if (s.algorithm === 'Ed25519') return bytes.length === 64 ? { bytes } : null;
  if (s.algorithm !== 'Ed25519-RFC6962') return { bytes };
  const group = groupOf(bytes);
  return group && { bytes: group.signature, group };
}

function groupOf(bytes) {
  if (bytes.length < 72 || (bytes.length - 72) % 32 !== 0) return null;
  const index = bytes.readUInt32BE(0);
  const size = bytes.readUInt32BE(4);
  const path = [];
  for (let at = 8; at < bytes.length - 64; at += 32) path.push(bytes.subarray(at, at + 32));
  if (rootFromPath(Buffer.alloc(32), index, size, path) === null) return null;
  return { index, size, path, signature: Buffer.from(bytes.subarray(-64)) };
}

// kindOf returns the name of the body, or undefined if the line is no entry.
function kindOf(entry) {
  if (!isObject(entry) || Object.keys(entry).length !== 3 || !Object.hasOwn(entry, 'integrity')) return undefined;
  if (typeof entry.schema_version !== 'string' || !VERSION.test(entry.schema_version)) return undefined;
  const kind = Object.keys(entry).find((k) => k !== 'integrity' && k !== 'schema_version');
  return /^[a-z][a-z0-9_]{0,63}$/.test(kind) ? kind : undefined;
}

function hasShape(integrity) {
  if (!isObject(integrity) || Object.keys(integrity).some((k) => !MEMBERS.includes(k))) return false;
  const { canonicalization, hash_algorithm: algorithm, previous_event_hash: previous, record_hash: hash, signature } = integrity;
  if (canonicalization !== 'RFC8785' || algorithm !== 'SHA-256') return false;
  if (previous !== undefined && previous !== null && typeof previous !== 'string') return false;
  if (typeof hash !== 'string' || !isObject(signature)) return false;
  return (
    Object.keys(signature).length === SIGNATURE_MEMBERS.length &&
    SIGNATURE_MEMBERS.every((k) => typeof signature[k] === 'string')
  );
}

// payloadHash hashes the line as it stands, with the two members cut out.
function payloadHash(text, spans) {
  const hash = spans.get('["integrity","record_hash"]');
  const value = spans.get('["integrity","signature","value"]');
  return createHash('sha256')
    .update(text.slice(0, hash.start))
    .update(text.slice(hash.end + 1, value.start - 1))
    .update(text.slice(value.end))
    .digest();
}

function hasFrame(kind, body) {
  if (!isObject(body) || !isSequence(body.sequence) || !entryTime(body.recorded_at)) return false;
  if (kind === 'audit_event' && !Object.hasOwn(body, 'journal_id')) return true;
  return typeof body.journal_id === 'string' && body.journal_id !== '';
}

function isUnverified(v) {
  return (
    isObject(v) &&
    Object.keys(v).length === 3 &&
    Array.isArray(v.failure_codes) &&
    v.failure_codes.length === 0 &&
    v.status === 'not_performed' &&
    typeof v.verifier_version === 'string' &&
    v.verifier_version !== ''
  );
}

// isUnknown says whether this version does not know the algorithm of a signature.
export const isUnknown = ({ signature }) => signature.algorithm !== 'Ed25519' && !signature.group;

// checkSignature is step 6 under a key of the registry: valid, invalid, or
// not_performed for an algorithm that this version does not know.
export function checkSignature(entry, key) {
  const { signature } = entry;
  if (isUnknown(entry)) return 'not_performed';
  if (!base64(signature.public_key).equals(key.raw)) return 'invalid';
  let message = entry.computed;
  if (signature.group) {
    const { index, size, path } = signature.group;
    message = Buffer.concat([GROUP, rootFromPath(leafHash(entry.computed), index, size, path)]);
  }
  return isSignature(key.key, message, signature.bytes) ? 'valid' : 'invalid';
}
