// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package lineage joins what journals tell of one read: the observations of a
// framework, an MCP client, an MCP server and a log, and what the read touched
// in databases and elsewhere (contract 3 and 13, requirement D4).
//
// It joins by keys and by parentage, never by count or time, and where both
// leave a doubt it keeps apart: a read too many is seen, a read too few is not.
// Entries may come in any order. Parents are claims of whoever sent them: what
// contradicts itself or runs in a circle leads nowhere.
package lineage
