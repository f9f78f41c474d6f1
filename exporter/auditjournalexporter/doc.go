// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:generate go tool mdatagen metadata.yaml

// Package auditjournalexporter hands the records that travel with telemetry to
// the journal and answers when they are on disk.
package auditjournalexporter
