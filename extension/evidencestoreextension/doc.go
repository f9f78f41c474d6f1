// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:generate go tool mdatagen metadata.yaml

// Package evidencestoreextension keeps copies of content, encrypted to public
// keys, in the place that its configuration names.
package evidencestoreextension
