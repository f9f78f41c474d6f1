// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"encoding/json/v2"
	"fmt"
)

// Refusal is the journal's no: nothing of the batch was written, and the same batch
// will be refused again.
type Refusal struct {
	// Status is that of HTTP: 409 if the rules of actions are against it.
	Status int
	// Code is the problem's code, such as approval_not_bound (docs/api.md).
	Code string
	// Pointer is the JSON Pointer into the batch to what is wrong, "" if the journal
	// named none.
	Pointer string
	// EventID is the entry that is in the way, "" if the journal named none.
	EventID string
}

func (r *Refusal) Error() string {
	text := fmt.Sprintf("boundary: the journal refused: %s (status %d)", r.Code, r.Status)
	if r.Pointer != "" {
		text += " at " + r.Pointer
	}
	return text
}

// refusalOf reads problem details (RFC 9457). What is not in the shape of a code, a
// pointer or an id is left out: somebody else may have answered.
func refusalOf(status int, answer []byte) *Refusal {
	var problem struct {
		Code    string `json:"code"`
		Pointer string `json:"pointer"`
		EventID string `json:"event_id"`
	}
	r := &Refusal{Status: status, Code: fmt.Sprintf("status_%d", status)}
	if json.Unmarshal(answer, &problem) != nil {
		return r
	}
	if isToken(problem.Code) {
		r.Code = problem.Code
	}
	if isPointer(problem.Pointer) {
		r.Pointer = problem.Pointer
	}
	if isGivenID(problem.EventID) {
		r.EventID = problem.EventID
	}
	return r
}

// isToken reports whether s is a short word of lowercase letters, digits and _.
func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// isPointer reports whether s is a JSON Pointer, bare or as a URI fragment, of plain
// characters.
func isPointer(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '/' && c != '-' && c != '~' && (c != '#' || i > 0) {
			return false
		}
	}
	return s != "" && len(s) <= 512
}
