// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Trust in the entries: steps 6 and 7 of section 6, groups, changes of key.

import { checkSignature, isUnknown } from './entry.mjs';
import { beginsAt, judgePlace, judgeTime } from './keys.mjs';

// judgeEntries sets trusted of every entry. timeOf says when the key of an entry
// is to be judged; allowed are the key ids of the policy, undefined for any.
export function judgeEntries(chain, keys, allowed, timeOf, findings) {
  let neighbor; // the entry before
  let current; // the key of the last trusted entry
  let open = false; // whether it was said that signatures are not checked
  for (const entry of chain.entries) {
    const { line, sequence } = entry;
    const key = keys?.get(entry.signature.key_id);
    const state = key ? checkSignature(entry, key) : 'not_performed';
    const before = entry.follows ? neighbor : undefined;
    let code;
    if (state === 'invalid') code = 'signature_invalid';
    else if (keys) code = judgeKey(entry, key, allowed, chain.id, timeOf) ?? judgeChange(entry, key, current, before, chain.id);
    if (!code && state === 'valid' && breaksGroup(before, entry)) code = 'signature_invalid';
    if (state === 'not_performed' && (isUnknown(entry) || (!keys && !open))) {
      findings.add('signature_not_performed', sequence, { line });
      open = true;
    }
    if (code) findings.add(code, sequence, { line });
    entry.key = key;
    entry.trusted = !code && state === 'valid';
    if (entry.schemaInvalid) findings.add('schema_invalid', sequence, { line });
    if (entry.unsupported) findings.add('unsupported_schema_version', sequence, { line });
    if (entry.repeats) continue;
    neighbor = entry;
    if (entry.trusted) current = key.id;
  }
}

function judgeKey(entry, key, allowed, journal, timeOf) {
  if (!key || (allowed && !allowed.includes(key.id))) return 'key_unknown';
  return judgePlace(key, entry.journalID ?? journal, entry.sequence) ?? judgeTime(key, timeOf(entry));
}

// judgeChange says whether the key changes otherwise than it was announced, or not
// as it was.
function judgeChange(entry, key, current, before, journal) {
  if (entry.repeats) return null;
  const changes = current !== undefined && key.id !== current;
  if (key.id !== current && beginsAt(key, entry.journalID ?? journal, entry.sequence)) return null;
  const announced = before?.trusted && before.event === 'journal.key_rotated' ? before.detail.incoming_key_id : undefined;
  const accepts = entry.event === 'journal.key_accepted';
  if (accepts && announced === key.id) return null;
  return changes || announced !== undefined || (accepts && before) ? 'key_unknown' : null;
}

// breaksGroup says whether an entry does not continue the group of its neighbor,
// nor begin one.
function breaksGroup(before, entry) {
  const group = entry.signature.group;
  if (!group || !before?.trusted) return false;
  const former = before.signature;
  if (former.bytes.equals(entry.signature.bytes)) {
    return !former.group || former.group.size !== group.size || former.group.index + 1 !== group.index;
  }
  return group.index !== 0;
}
