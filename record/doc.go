// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package record defines the bodies of journal entries: what a read, a span of
// lineage and an event of the journal itself look like (contract 1, 9, 13, 15),
// how their ids are derived (contract 3) and how a body becomes canonical bytes
// that a journal only has to complete (contract 4).
//
// It imports nothing of OpenTelemetry: an auditor links it without a collector.
// Absent is absent: a zero member is never written, and no member is ever null.
package record
