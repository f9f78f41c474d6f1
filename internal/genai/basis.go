// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "github.com/readtrail/readtrail/record"

// note says where a member's value came from.
type note struct {
	member string
	basis  record.Basis
}

// from notes where a member's value came from.
func (l *lifting) from(member string, b record.Basis) {
	if b != "" {
		l.noted = append(l.noted, note{member, b})
	}
}

// basis returns what was noted; of two notes of a member the later counts.
func (l *lifting) basis() map[string]record.Basis {
	if len(l.noted) == 0 {
		return nil
	}
	if l.paper.basis == nil {
		l.paper.basis = make(map[string]record.Basis, len(l.noted))
	}
	for _, n := range l.noted {
		l.paper.basis[n.member] = n.basis
	}
	return l.paper.basis
}
