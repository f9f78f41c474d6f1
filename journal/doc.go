// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package journal defines the entry of a journal: its canonical bytes, hash and
// signature (contract 1, 2, 4), the registry of trusted keys (contract 7), how
// journals are found and read, and how they are verified (contract 6).
//
// It imports nothing of OpenTelemetry: an auditor links it without a collector.
// docs/format.md says the same for readers in other languages.
package journal
