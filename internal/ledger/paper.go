// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

const (
	// sheetBytes is the size of a sheet.
	sheetBytes = 256 << 10
	// maxNewEntries is how many entries are made at once in a large group.
	maxNewEntries = 64
)

// paper is what the lines of a group are written on, so that an entry needs no
// memory of its own. A sheet goes back to the drawer when the group that it
// belongs to is durable; of a group that failed, workers may still be signing.
type paper struct {
	sheets  [][]byte
	used    int // of the last sheet
	entries []entry
	made    int
}

// space returns room for a line of about size bytes: without a length, and with
// at least that capacity.
func (p *paper) space(d *drawer, size int) []byte {
	if size > sheetBytes {
		return make([]byte, 0, size)
	}
	if len(p.sheets) == 0 || sheetBytes-p.used < size {
		p.sheets, p.used = append(p.sheets, d.take()), 0
	}
	return p.sheets[len(p.sheets)-1][p.used:p.used:sheetBytes]
}

// written notes that a line of so many bytes stands in the space that was asked
// for last, unless it was too long for it.
func (p *paper) written(size, length int) {
	if size <= sheetBytes && length <= sheetBytes-p.used {
		p.used += length
	}
}

// entry returns a new entry.
func (p *paper) entry() *entry {
	if len(p.entries) == 0 {
		p.entries = make([]entry, min(max(p.made, 1), maxNewEntries))
		p.made += len(p.entries)
	}
	e := &p.entries[0]
	p.entries = p.entries[1:]
	return e
}

// drawer keeps sheets that are written on no more, as many as two groups need.
type drawer [][]byte

const drawerSheets = 2 * (4 << 20) / sheetBytes

func (d *drawer) take() []byte {
	if n := len(*d); n > 0 {
		sheet := (*d)[n-1]
		*d = (*d)[:n-1]
		return sheet
	}
	return make([]byte, sheetBytes)
}

// giveBack takes the sheets of a group whose lines nobody reads any more.
func (d *drawer) giveBack(p *paper) {
	*d = append(*d, p.sheets[:min(len(p.sheets), drawerSheets-len(*d))]...)
	p.sheets = nil
}
