// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package assembly composes the audit event of an action out of what others said about
// it one by one: parts that producers gave, approvals, attempts, decisions and reads
// (requirement E, ADR 0027).
//
// It knows nothing but durable entries, and states nothing that none of them says: what
// is missing, or said in two ways, is named in an audit_event.incomplete when the
// deadline is over, and no audit event is invented.
package assembly
