// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package bundle makes and verifies evidence bundles (requirement E7): entries of
// journals with all that is needed to judge them without the journals, in one file.
//
// A bundle is a POSIX ustar archive in the only spelling that this package writes:
// regular files with mode 0644, no owner and no time, in the byte order of their
// names, two blocks of zeros at the end and nothing behind them. So the same
// artifacts make the same bytes, and nothing can hide in a header. Its files are
//
//	artifacts/…    what is handed over, see Name
//	index.jsonl    one line of JSON for each artifact: its digest, name and size
//	manifest.json  what was asked for, what was looked at, and the RFC 6962 root over the index
//	manifest.sig   the signature over the manifest, by a key that signs no journal
//
// docs/bundle.md is the format's documentation.
package bundle
