// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// The JSON Schemas of the bodies, by name and version.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';
import { instant } from './values.mjs';

// FILES says in which directories the schemas of a body are, one for each version.
const FILES = {
  read_record: ['read-record/1.0.0'],
  lineage_record: ['lineage-record/1.0.0'],
  journal_record: ['journal-record/1.0.0'],
  decision_record: ['decision-record/1.0.0'],
  action_record: ['action-record/1.0.0'],
  approval_record: ['approval-record/1.0.0'],
  context_record: ['context-record/1.0.0'],
  audit_event: ['audit-event/1.0.0', 'audit-event/1.1.0'],
};

export class Schemas {
  constructor(directory) {
    const ajv = new Ajv2020({ strict: false, ownProperties: true });
    ajv.addFormat('date-time', (text) => instant(text) !== null);
    this.known = new Map(
      Object.entries(FILES).flatMap(([body, files]) =>
        files.map((file) => [
          `${body} ${file.split('/')[1]}`,
          ajv.compile(JSON.parse(readFileSync(join(directory, file, 'schema.json'), 'utf8'))),
        ]),
      ),
    );
  }

  of(body, version) {
    return this.known.get(`${body} ${version}`);
  }
}
