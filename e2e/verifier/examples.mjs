// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Judges the examples beside the schemas with another JSON Schema validator, another
// RFC 8785 and another SHA-256 than Readtrail's.
//
// usage: node examples.mjs DIR
//
// It prints one JSON object: of each file below DIR/*/*/examples/{valid,invalid}
// whether the schema takes it and what readEntry finds, and of each member of a valid
// one whether the schema takes it without, and if not, which members the errors name.

import { readFileSync, readdirSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import { readEntry } from './entry.mjs';
import { Schemas } from './schemas.mjs';

const root = process.argv[2];
const schemas = new Schemas(root);

function* files() {
  for (const kind of readdirSync(root)) {
    if (!existsSync(join(root, kind, '1.0.0', 'examples', 'valid'))) continue;
    for (const sort of ['valid', 'invalid']) {
      const directory = join(kind, '1.0.0', 'examples', sort);
      for (const name of readdirSync(join(root, directory)).sort()) {
        yield { file: join(directory, name), body: kind.replaceAll('-', '_'), good: sort === 'valid' };
      }
    }
  }
}

// named are the members that the errors of a schema are about, as JSON Pointers.
function named(errors) {
  return errors.map((e) => (e.params.missingProperty ? `${e.instancePath}/${e.params.missingProperty}` : e.instancePath));
}

function* withoutEach(value, at, entry, validate) {
  for (const [name, member] of Object.entries(value)) {
    const pointer = `${at}/${name}`;
    if (!Array.isArray(value)) {
      delete value[name];
      yield [pointer, validate(entry) ? null : named(validate.errors)];
      value[name] = member;
    }
    if (typeof member === 'object') yield* withoutEach(member, pointer, entry, validate);
  }
}

const result = {};
for (const { file, body, good } of files()) {
  const entry = JSON.parse(readFileSync(join(root, file), 'utf8'));
  const validate = schemas.of(body, entry.schema_version);
  const { code } = readEntry(Buffer.from(canonicalize(entry)), schemas);
  result[file] = { valid: validate(entry), code };
  if (good) result[file].without = Object.fromEntries(withoutEach(entry[body], `/${body}`, entry, validate));
}
console.log(JSON.stringify(result));
