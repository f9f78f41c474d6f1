// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:generate go tool mdatagen metadata.yaml

// Package readrecordprocessor makes records of the reads that telemetry tells
// of, sends them along in the context, and strips the telemetry of content.
package readrecordprocessor
