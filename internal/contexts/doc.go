// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package contexts knows what a context_record claims (contract 12): over which
// bytes its digest stands, so that it can be computed again from the source
// (requirement G5); which claims its entries support (G3); and from which entries
// a summary comes (G4). It sees values for as long as a digest takes and keeps
// none.
package contexts
