// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package genai turns telemetry into records: it recognizes what a span or a
// log record tells (an executed tool, a retrieval, a memory access, a model
// call, an effect) and lifts reads into read records (contract 9) and spans
// into lineage skeletons (contract 13).
//
// Everything that is known about a convention stands in one table, in rows that
// are tried top-down: the first that matches wins, and what says by a key of its
// own that something was read comes first. A further dialect is further rows. Field
// sources, documents and harmless span names are data of a row, the code that
// reads them is shared by all.
//
// A string enters a record in clear only if it has the shape of an identifier,
// a name or a label. A value that has not is left out: never cut, never
// repaired. Arguments, results and documents enter as digests only.
package genai
