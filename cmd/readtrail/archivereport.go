// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"time"

	"github.com/readtrail/readtrail/internal/archive"
)

// archivedJournal is how one journal stands, as push and status print it.
type archivedJournal struct {
	JournalID string `json:"journal_id"`
	Path      string `json:"path"`
	Archive   string `json:"archive"`
	Archived  int    `json:"segments_archived"`
	Waiting   int    `json:"segments_waiting"`
	// OldestWaiting is the first sequence of the oldest segment that waits.
	OldestWaiting uint64 `json:"oldest_waiting,omitzero"`
	// LockedUntil is the earliest date of all archived segments.
	LockedUntil string         `json:"locked_until,omitzero"`
	Stored      int            `json:"objects_stored"`
	Files       []archivedFile `json:"files"`
}

type archivedFile struct {
	Name        string        `json:"name"`
	Size        int64         `json:"size"`
	State       archive.State `json:"state"`
	Object      string        `json:"object,omitzero"`
	Digest      string        `json:"digest,omitzero"`
	Mode        archive.Mode  `json:"mode,omitzero"`
	LockedUntil string        `json:"locked_until,omitzero"`
	LegalHold   bool          `json:"legal_hold,omitzero"`
	Later       int           `json:"later_versions,omitzero"`
	Error       string        `json:"error,omitzero"`
}

func newArchivedJournal(b *archive.Bucket, path string, s *archive.Status) *archivedJournal {
	r := &archivedJournal{JournalID: s.JournalID, Path: path, Archive: b.Address(s.Place), Stored: s.Stored, Files: []archivedFile{}}
	r.Archived, r.Waiting, r.OldestWaiting = s.Counts()
	var earliest time.Time
	for _, f := range s.Files {
		file := archivedFile{Name: f.Name, Size: f.Size, State: f.State}
		if f.Err != nil {
			file.Error = f.Err.Error()
		}
		if l := f.Locked; l != nil {
			file.Object, file.Digest, file.Mode, file.LegalHold, file.Later = l.String(), l.SpelledDigest(), l.Mode, l.LegalHold, l.Later
			if !l.Until.IsZero() {
				file.LockedUntil = l.Until.UTC().Format(time.RFC3339)
			}
			if f.State == archive.Archived && (earliest.IsZero() || l.Until.Before(earliest)) {
				earliest, r.LockedUntil = l.Until, file.LockedUntil
			}
		}
		r.Files = append(r.Files, file)
	}
	return r
}

func (a *archiveRun) writeJSON(code int) error {
	return writeJSON(a.con.out, struct {
		Target   string             `json:"target"`
		ExitCode int                `json:"exit_code"`
		Journals []*archivedJournal `json:"journals"`
		Errors   []string           `json:"errors,omitempty"`
	}{a.target, code, a.results, a.errors})
}
