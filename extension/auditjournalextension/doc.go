// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:generate go tool mdatagen metadata.yaml

// Package auditjournalextension owns the journals of a collector: it completes,
// chains, signs and syncs the records that exporters and receivers give it.
package auditjournalextension
