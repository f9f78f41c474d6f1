// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package repeat

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"
)

// loadRuns learns which runs the file has, and their filters. It reads no marks.
func (s *store) loadRuns() error {
	var runs []*run
	s.merged = nil
	err := s.view(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			if bytes.Equal(name, bucketHead) {
				return nil
			}
			var found []*run
			if err := b.ForEach(func(id, text []byte) error {
				r, err := loadRun(string(name), id, text)
				found = append(found, r)
				return err
			}); err != nil {
				return err
			}
			runs = append(runs, s.withoutMerged(found)...)
			return nil
		})
	})
	s.setRuns(runs)
	return err
}

func loadRun(part string, id, text []byte) (*run, error) {
	r, _, err := decodeRun(text)
	if err != nil {
		return nil, err
	}
	if len(id) != 8 {
		return nil, fmt.Errorf("%w: run has no number", ErrDamaged)
	}
	r.part, r.id = part, binary.BigEndian.Uint64(id)
	r.filter = bytes.Clone(r.filter)
	return &r, nil
}

// withoutMerged leaves out runs of a part, which are in the order of their
// numbers, that a later one contains.
func (s *store) withoutMerged(runs []*run) (kept []*run) {
	for i, r := range runs {
		if slices.ContainsFunc(runs[i+1:], func(later *run) bool { return later.since <= r.id }) {
			s.merged = append(s.merged, r)
		} else {
			kept = append(kept, r)
		}
	}
	return kept
}

// setRuns has look-ups see these runs: ids that were given first, then the newest
// generation, and of each the newest run.
func (s *store) setRuns(runs []*run) {
	slices.SortFunc(runs, func(a, b *run) int {
		if order := strings.Compare(b.part, a.part); order != 0 {
			return order
		}
		if a.id > b.id {
			return -1
		}
		return 1
	})
	s.runs.Store(&runs)
}

// findOne looks up a key, in the newest runs first. It reads the file only if a
// filter does not rule the key out.
func (s *store) findOne(k *Key) (Seen, bool, error) {
	for _, r := range *s.runs.Load() {
		if !r.filter.mayHave(k) {
			continue
		}
		if seen, found, err := s.findIn(r, k); found || err != nil {
			return seen, found, err
		}
	}
	return Seen{}, false, nil
}

func (s *store) findIn(r *run, k *Key) (seen Seen, found bool, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		marks, err := s.marksOf(tx, r)
		if err == nil {
			seen, found, err = marks.find(k)
		}
		return err
	})
	return seen, found, err
}

func (s *store) marksOf(tx *bbolt.Tx, r *run) (sortedMarks, error) {
	b := tx.Bucket([]byte(r.part))
	if b == nil {
		return nil, fmt.Errorf("%w: part is gone", ErrDamaged)
	}
	return r.marksOfRun(b.Get(runKey(r.id)))
}

func runKey(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }

// write adds a batch as runs of its own, merged with the runs before them that
// are not much larger, and drops one generation that passed its horizon.
func (s *store) write(b *batch) error {
	return s.guarded(func() error {
		runs := slices.Clone(*s.runs.Load())
		var merged []*run
		err := s.db.Update(func(tx *bbolt.Tx) (err error) {
			if err := s.removeMerged(tx); err != nil {
				return err
			}
			for part, marks := range b.parts(s.window) {
				var gone []*run
				if runs, gone, err = s.add(tx, runs, part, marks); err != nil {
					return err
				}
				merged = append(merged, gone...)
			}
			if runs, err = s.dropExpired(tx, runs, b.now); err != nil {
				return err
			}
			return s.writeHead(tx, b.upTo, b.standing)
		})
		if err == nil {
			s.merged = merged
			s.setRuns(runs)
		}
		return err
	})
}

// sorting is a mark and the beginning of its key as a number, which nearly always
// says what comes first.
type sorting struct {
	order uint64
	at    int32
}

// parts returns the marks of a batch, sorted, by the bucket that they belong to.
func (b *batch) parts(window time.Duration) map[string]sortedMarks {
	marks := b.marks.marks
	sorted := make([]sorting, len(marks))
	for i := range marks {
		sorted[i] = sorting{binary.BigEndian.Uint64(marks[i].key[:]), int32(i)}
	}
	slices.SortFunc(sorted, func(x, y sorting) int {
		if x.order != y.order {
			return cmp.Compare(x.order, y.order)
		}
		return bytes.Compare(marks[x.at].key[:], marks[y.at].key[:])
	})
	parts := map[generation]sortedMarks{}
	part, encoded := generation{}, sortedMarks(nil) // the one of the mark before
	for _, s := range sorted {
		m := &marks[s.at]
		var in generation
		if !m.given {
			in = generationOf(m.recorded, window)
		}
		if in != part {
			parts[part] = encoded
			part, encoded = in, parts[in]
		}
		if encoded == nil {
			encoded = make(sortedMarks, 0, len(marks)*markBytes) // most batches have one part
		}
		encoded = appendMark(encoded, &m.key, &m.seen)
	}
	parts[part] = encoded
	named := make(map[string]sortedMarks, len(parts))
	for g, marks := range parts {
		if marks.len() > 0 {
			named[g.name()] = marks
		}
	}
	return named
}

// add puts marks into a part of the file, and returns the runs that there are
// now, and those that were merged.
func (s *store) add(tx *bbolt.Tx, runs []*run, part string, marks sortedMarks) (now, merged []*run, err error) {
	b, err := tx.CreateBucketIfNotExists([]byte(part))
	if err != nil {
		return nil, nil, err
	}
	id := uint64(1)
	if last, _ := b.Cursor().Last(); len(last) == 8 {
		id = binary.BigEndian.Uint64(last) + 1
	}
	since := id
	// The newest run of a part comes first. Each is merged with one about as large,
	// so that a mark is moved a few times only and there are a few runs only.
	for _, r := range runs {
		if r.part != part {
			continue
		}
		if r.marks > 2*marks.len() || r.marks+marks.len() > maxRunMarks {
			break
		}
		older, err := s.marksOf(tx, r)
		if err != nil {
			return nil, nil, err
		}
		marks, since = merge(older, marks), r.since
		merged = append(merged, r)
	}
	text, f := encodeRun(since, marks)
	now = []*run{{part: part, id: id, since: since, marks: marks.len(), filter: f}}
	for _, r := range runs {
		if !slices.Contains(merged, r) {
			now = append(now, r)
		}
	}
	return now, merged, b.Put(runKey(id), text)
}

func (s *store) removeMerged(tx *bbolt.Tx) error {
	for _, r := range s.merged {
		if b := tx.Bucket([]byte(r.part)); b != nil {
			if err := b.Delete(runKey(r.id)); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropExpired drops one generation that passed its horizon, and returns the runs
// that are left. Its runs go first, and the marks with the next write: a look-up
// beside this one may still ask them.
func (s *store) dropExpired(tx *bbolt.Tx, runs []*run, now time.Time) ([]*run, error) {
	horizon := now.Add(-s.window)
	parts := tx.Cursor()
	for name, _ := parts.First(); name != nil; name, _ = parts.Next() {
		if end, ok := generationEnd(name); ok && !end.After(horizon) {
			part := string(name)
			left := slices.DeleteFunc(slices.Clone(runs), func(r *run) bool { return r.part == part })
			if len(left) < len(runs) {
				return left, nil
			}
			return runs, tx.DeleteBucket([]byte(part))
		}
	}
	return runs, nil
}
