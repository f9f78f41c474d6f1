// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package auditlog takes records of the OpenTelemetry audit-logging draft (OTEP
// 0267: an OTLP LogRecord with audit.* attributes) into the journal of actions, and
// answers as the draft says.
//
// The draft moves. What it names stands in table.go, what its canonical form is in
// form.go, its answers in answer.go; MappingVersion is written into every record.
// docs/audit-draft.md says what is followed and what is not, ADR 0029 why.
//
// The package imports nothing of OpenTelemetry: the request is read by its own
// reader, internal/auditlog/otlp.
package auditlog

// MappingVersion names the draft and the version of what is made of it.
const MappingVersion = "otep-0267/1"

// Dialect is what observed_by says of these records.
const Dialect = "otel-audit"
