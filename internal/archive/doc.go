// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package archive keeps a second copy of a journal where its operator cannot
// delete it: sealed segments, checkpoints and tiles as objects of an S3 bucket
// with Object Lock, each with its own retention.
//
// An object is created once (If-None-Match: *) and never written again. What
// counts is not that a PUT was answered but what the server says afterwards about
// the oldest version of the key: its digest, its mode and until when it is locked.
// So the state of an archive is always read from the bucket, an interrupted upload
// is resumed by looking, and upload and resumption are one path (Bucket.ensure).
// Readers read the oldest version by its id: a later PUT or a delete marker, which
// Object Lock allows, hides nothing.
//
//	<prefix>/<organization_ref>/<retention_class>/<kind>/<journal_id>/
//	    segments/00000000000000000001.events          and what a crash tore off it
//	    checkpoints/00000000000000001000.checkpoint   and its time stamps
//	    tiles/...                                     full tiles only
//
// Names of organizations and classes are percent-escaped as in a journal's
// directory (contract 7). docs/archive.md is for operators and auditors,
// docs/durability.md says what is assumed of S3.
package archive
