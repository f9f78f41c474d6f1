// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// RFC 3161 time stamps over the text of a checkpoint (section 7).

import { X509Certificate, createHash, verify } from 'node:crypto';
import { BOOLEAN, INTEGER, OCTETS, SEQUENCE, SET, children, expect, oid, read, time } from './der.mjs';

const TST_INFO = '1.2.840.113549.1.9.16.1.4';
const SIGNED_DATA = '1.2.840.113549.1.7.2';
const CONTENT_TYPE = '1.2.840.113549.1.9.3';
const MESSAGE_DIGEST = '1.2.840.113549.1.9.4';
const SIGNING_CERTIFICATE = '1.2.840.113549.1.9.16.2.12';
const SIGNING_CERTIFICATE_V2 = '1.2.840.113549.1.9.16.2.47';
const EXTENDED_KEY_USAGE = '2.5.29.37';
const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';
const SHA256 = '2.16.840.1.101.3.4.2.1';
const HASHES = {
  [SHA256]: 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};
const MAX_CHAIN = 8;

// parseRoots reads the policy's certificates in PEM, or throws.
export const parseRoots = (texts) => texts.map((t) => new X509Certificate(t));

// timestampedAt returns the time of a token over the text, or null if the token
// proves nothing.
export function timestampedAt(token, text, roots) {
  try {
    return roots.length ? stampedAt(token, createHash('sha256').update(text).digest(), roots) : null;
  } catch {
    return null;
  }
}

function stampedAt(token, imprint, roots) {
  const [status, info] = children(read(token), SEQUENCE);
  const granted = expect(children(status, SEQUENCE)[0], INTEGER);
  if (granted.length !== 1 || granted[0] > 1) return null;
  const [type, wrapped] = children(info, SEQUENCE);
  if (oid(type) !== SIGNED_DATA) return null;
  const parts = children(children(wrapped, 0xa0)[0], SEQUENCE);
  const [contentType, content] = children(parts[2], SEQUENCE);
  if (oid(contentType) !== TST_INFO) return null;
  const tst = expect(children(content, 0xa0)[0], OCTETS);

  const [, , message, , stamped] = children(read(tst), SEQUENCE);
  const [algorithm, hashed] = children(message, SEQUENCE);
  if (oid(children(algorithm, SEQUENCE)[0]) !== SHA256 || !expect(hashed, OCTETS).equals(imprint)) return null;
  const at = time(stamped);

  const carried = parts.filter((p) => p.tag === 0xa0).flatMap((p) => children(p, 0xa0));
  const certificates = carried.map((c) => new X509Certificate(c.raw));
  const signers = children(parts.at(-1), SET);
  if (signers.length !== 1) return null;
  const certificate = signer(signers[0], tst, certificates);
  const millis = Date.parse(`${at.slice(0, 19)}Z`);
  return certificate && isForTimeStamping(certificate) && leadsToRoot(certificate, certificates, roots, millis, 0) ? at : null;
}

// signer returns the certificate that the one signer names and that verifies its
// signature over the content, or null.
function signer(value, content, certificates) {
  const [, , digest, signedAttributes, , signature] = children(value, SEQUENCE);
  const hash = HASHES[oid(children(digest, SEQUENCE)[0])];
  if (!hash) return null;
  const attributes = new Map();
  for (const a of children(signedAttributes, 0xa0)) {
    const [type, values] = children(a, SEQUENCE);
    const all = children(values, SET);
    if (attributes.has(oid(type)) || all.length !== 1) return null;
    attributes.set(oid(type), all[0]);
  }
  if (oid(attributes.get(CONTENT_TYPE)) !== TST_INFO) return null;
  const named = createHash(hash).update(content).digest();
  if (!expect(attributes.get(MESSAGE_DIGEST), OCTETS).equals(named)) return null;

  const certificate = certificates.find((c) => isNamed(c, attributes));
  if (!certificate) return null;
  // What is signed has the tag of a SET in place of its own.
  const signed = Buffer.from(signedAttributes.raw);
  signed[0] = SET;
  const algorithm = certificate.publicKey.asymmetricKeyType === 'ed25519' ? null : hash;
  return verify(algorithm, signed, certificate.publicKey, expect(signature, OCTETS)) ? certificate : null;
}

function isNamed(certificate, attributes) {
  const v2 = attributes.get(SIGNING_CERTIFICATE_V2);
  const value = v2 ?? attributes.get(SIGNING_CERTIFICATE);
  if (!value) return false;
  const id = children(children(children(value, SEQUENCE)[0], SEQUENCE)[0], SEQUENCE);
  const explicit = v2 && id[0].tag === SEQUENCE;
  const hash = !v2 ? 'sha1' : explicit ? HASHES[oid(children(id[0], SEQUENCE)[0])] : 'sha256';
  if (!hash) return false;
  return expect(id[explicit ? 1 : 0], OCTETS).equals(createHash(hash).update(certificate.raw).digest());
}

function isForTimeStamping(certificate) {
  const [tbs] = children(read(certificate.raw), SEQUENCE);
  const extensions = children(tbs, SEQUENCE).find((f) => f.tag === 0xa3);
  if (!extensions) return false;
  for (const e of children(children(extensions, 0xa3)[0], SEQUENCE)) {
    const [type, critical, value] = children(e, SEQUENCE);
    if (oid(type) !== EXTENDED_KEY_USAGE) continue;
    if (critical.tag !== BOOLEAN || critical.content[0] !== 0xff) return false;
    const usages = children(read(expect(value, OCTETS)), SEQUENCE);
    return usages.length === 1 && oid(usages[0]) === TIME_STAMPING;
  }
  return false;
}

function leadsToRoot(certificate, carried, roots, at, depth) {
  if (depth > MAX_CHAIN || at < Date.parse(certificate.validFrom) || at > Date.parse(certificate.validTo)) return false;
  if (roots.some((r) => r.raw.equals(certificate.raw))) return true;
  const issuers = [...roots, ...carried].filter(
    (c) => c.ca && !c.raw.equals(certificate.raw) && certificate.checkIssued(c) && certificate.verify(c.publicKey),
  );
  return issuers.some((c) => leadsToRoot(c, carried, roots, at, depth + 1));
}
