// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package cost has the spans by which the cost of the read_record processor is
// measured. bench, a module of its own so that nobody else needs contrib's
// processors, compares it with baselines that work on the same spans in the same
// run; docs/operate.md has the figures.
package cost
