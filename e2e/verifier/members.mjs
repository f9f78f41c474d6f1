// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Takes the members of a document away, one at a time, and says what Ajv misses:
//
//   node members.mjs SCHEMA DOCUMENT
//
// prints {"whole": true, "members": {"/audit_event/policy": ["/audit_event/policy"], ...}}: for each member,
// named by its JSON Pointer, the pointers of the members that Ajv calls missing without it.

import { readFileSync } from 'node:fs';
import Ajv2020 from 'ajv/dist/2020.js';
import { instant } from './values.mjs';

const [schema, document] = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')));
const ajv = new Ajv2020({ strict: false, ownProperties: true, allErrors: true });
ajv.addFormat('date-time', (text) => instant(text) !== null);
const validate = ajv.compile(schema);

const missing = () =>
  validate(document) ? [] : validate.errors.filter((e) => e.keyword === 'required').map((e) => `${e.instancePath}/${e.params.missingProperty}`);

const members = {};
function walk(value, at) {
  if (Array.isArray(value)) value.forEach((element, i) => walk(element, `${at}/${i}`));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  for (const [name, member] of Object.entries(value)) {
    const pointer = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    delete value[name];
    members[pointer] = missing();
    value[name] = member;
    walk(member, pointer);
  }
}

const whole = validate(document);
walk(document, '');
console.log(JSON.stringify({ whole, members }));
