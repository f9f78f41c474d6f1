// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"
)

// Repeat is what tells whether a record is one that the journal already has.
type Repeat struct {
	// ID is the id of the record, "" if it is never a repeat.
	ID string
	// Given says that the application gave the id: it has no horizon.
	Given bool
	// EventID is the event id if the application gave it, which has no horizon
	// either.
	EventID string
	// Digest identifies the body apart from what the writer adds.
	Digest [sha256.Size]byte
	// Parts are the repeat keys of the spans of a lineage record.
	Parts [][sha256.Size]byte
}

// RepeatOf reads from the canonical body of a stored entry what its draft said
// when it was appended, so that repeats are known across restarts.
func RepeatOf(kind Kind, body []byte) (Repeat, error) {
	members, err := split(body)
	if err != nil {
		return Repeat{}, err
	}
	r := Repeat{Digest: sourceDigest(kind, members)}
	if r.EventID, err = givenEventID(members); err != nil {
		return Repeat{}, err
	}
	switch kind {
	case KindRead:
		var read struct {
			ReadID string           `json:"read_id"`
			Basis  map[string]Basis `json:"basis"`
		}
		if err := json.Unmarshal(body, &read); err != nil {
			return Repeat{}, err
		}
		r.ID, r.Given = read.ReadID, read.Basis["read_id"] == BasisAttribute
	case KindJournal:
		var journal struct {
			Detail struct {
				ItemID string `json:"item_id"`
			} `json:"detail"`
		}
		if err := json.Unmarshal(body, &journal); err != nil {
			return Repeat{}, err
		}
		r.ID = journal.Detail.ItemID
	case KindLineage:
		var lineage struct {
			Correlation Correlation      `json:"correlation"`
			Spans       []jsontext.Value `json:"spans"`
		}
		if err := json.Unmarshal(body, &lineage); err != nil {
			return Repeat{}, err
		}
		for _, raw := range lineage.Spans {
			r.Parts = append(r.Parts, newPart(lineage.Correlation.TraceID, raw).Key)
		}
	}
	return r, nil
}

// givenEventID returns the event id of a stored body unless the writer minted
// it: a minted one holds the time of recorded_at.
func givenEventID(members []member) (string, error) {
	var header struct {
		EventID    string `json:"event_id"`
		RecordedAt Time   `json:"recorded_at"`
	}
	if err := json.Unmarshal(object(members), &header); err != nil {
		return "", err
	}
	minted, isOurs := strings.CutPrefix(header.EventID, prefixEvent)
	if id, err := ulid.ParseStrict(minted); isOurs && err == nil && id.Time() == ulid.Timestamp(header.RecordedAt.Std()) {
		return "", nil
	}
	return header.EventID, nil
}

func newPart(traceID string, raw []byte) Part {
	return Part{Key: sha256.Sum256(append([]byte(traceID+"\n"), raw...)), Raw: raw}
}

// sourceDigest hashes what the source of a record said, leaving out what the
// writer adds. An event_id does not count: a retry may come with a new one.
func sourceDigest(kind Kind, members []member) [sha256.Size]byte {
	var usual [2 << 10]byte
	source := append(usual[:0], '{')
	for _, m := range members {
		raw := m.raw
		switch m.name {
		case "conflicts_with", "event_id", "journal_id", "recorded_at", "scope", "sequence", partsMember:
			continue
		case "occurred_at":
			if kind == KindJournal {
				continue
			}
		case "observed_by":
			if raw = withoutCollector(raw); raw == nil {
				continue
			}
		}
		source = appendMember(source, m.name, raw)
	}
	return sha256.Sum256(append(source, '}'))
}

// withoutCollector removes collector_id from a canonical observed_by; nil means
// that nothing else was in it.
func withoutCollector(observedBy []byte) []byte {
	if !bytes.Contains(observedBy, []byte(`"`+collectorMember+`"`)) && len(observedBy) > len(`{}`) {
		return observedBy // as before it is completed
	}
	members, err := split(observedBy)
	if err != nil {
		return observedBy
	}
	members = slices.DeleteFunc(members, func(m member) bool { return m.name == collectorMember })
	if len(members) == 0 {
		return nil
	}
	return object(members)
}
