// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// The JSON Schemas of the bodies, by name and version.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';
import { instant } from './values.mjs';

const FILES = {
  read_record: 'read-record',
  lineage_record: 'lineage-record',
  journal_record: 'journal-record',
  decision_record: 'decision-record',
  action_record: 'action-record',
  approval_record: 'approval-record',
  context_record: 'context-record',
};

export class Schemas {
  constructor(directory) {
    const ajv = new Ajv2020({ strict: false, ownProperties: true });
    ajv.addFormat('date-time', (text) => instant(text) !== null);
    this.known = new Map(
      Object.entries(FILES).map(([body, file]) => [
        body,
        ajv.compile(JSON.parse(readFileSync(join(directory, file, '1.0.0', 'schema.json'), 'utf8'))),
      ]),
    );
  }

  of(body, version) {
    return version === '1.0.0' ? this.known.get(body) : undefined;
  }
}
