// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/readtrail/readtrail/internal/durable"
)

// The parts of a journal's place in a bucket.
const (
	segmentsPart    = "segments"
	checkpointsPart = "checkpoints"
	tilesPart       = "tiles"
)

// Place is which journal it is, and so where its objects are.
type Place struct {
	Organization, RetentionClass, Kind, JournalID string
}

var (
	// escapedName is what durable.PathElement makes of a name.
	escapedName = regexp.MustCompile(`^(?:[A-Za-z0-9_-]|%[0-9A-F]{2})(?:[A-Za-z0-9_.-]|%[0-9A-F]{2})*$`)
	plainName   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$`)
	// The objects of each part. Nothing else below a place is read.
	segmentObject    = regexp.MustCompile(`^[0-9]{20}\.events(?:\.[0-9]{1,19}(?:\.[0-9]{1,4})?\.torn)?$`)
	checkpointObject = regexp.MustCompile(`^[0-9]{20}\.(?:checkpoint|(?:[A-Za-z0-9_-]|%[0-9A-F]{2})(?:[A-Za-z0-9_.-]|%[0-9A-F]{2})*\.tsr)$`)
	// Full tiles in the layout of C2SP tlog-tiles.
	tileObject = regexp.MustCompile(`^tile/[0-9]{1,2}(?:/x[0-9]{3}){0,6}/[0-9]{3}$`)
)

const maxEscapedName = 3 * durable.MaxName

// key returns the key of an object.
func (b *Bucket) key(p Place, part, name string) string {
	return path.Join(b.prefix, p.dir(), part, name)
}

// Address returns where the archive has the objects of a journal.
func (b *Bucket) Address(p Place) string { return b.url(b.key(p, "", "")) }

// dir returns where the objects of the journal are below the prefix.
func (p Place) dir() string {
	return path.Join(durable.PathElement(p.Organization), durable.PathElement(p.RetentionClass), p.Kind, p.JournalID)
}

// String spells the journal as logs and reports do.
func (p Place) String() string { return p.dir() }

// check refuses what would not be found again.
func (p Place) check() error {
	if !plainName.MatchString(p.Kind) || !plainName.MatchString(p.JournalID) {
		return fmt.Errorf("journal %s: its kind or id cannot be part of a key", p)
	}
	for _, name := range []string{p.Organization, p.RetentionClass} {
		if name == "" || len(name) > durable.MaxName {
			return errors.New("journal has no organization or retention class, or one that is too long for a key")
		}
	}
	return nil
}

// located is an object whose key is one that an archive gives.
type located struct {
	Place
	part, name string
}

// locate reads a key. What an archive did not write has none of its keys, and a
// key leads nowhere but below a directory when it is restored.
func (b *Bucket) locate(key string) (located, bool) {
	rest, below := strings.CutPrefix(key, b.prefix)
	if b.prefix != "" {
		rest, below = strings.CutPrefix(rest, "/")
	}
	elements := strings.SplitN(rest, "/", 6)
	if !below || len(elements) != 6 {
		return located{}, false
	}
	l := located{part: elements[4], name: elements[5]}
	for i, into := range []*string{&l.Organization, &l.RetentionClass} {
		name, ok := unescape(elements[i])
		if !ok {
			return located{}, false
		}
		*into = name
	}
	l.Kind, l.JournalID = elements[2], elements[3]
	if l.check() != nil || l.dir() != strings.Join(elements[:4], "/") {
		return located{}, false
	}
	switch l.part {
	case segmentsPart:
		return l, segmentObject.MatchString(l.name)
	case checkpointsPart:
		return l, checkpointObject.MatchString(l.name)
	case tilesPart:
		return l, tileObject.MatchString(l.name)
	}
	return located{}, false
}

// unescape undoes durable.PathElement, and takes nothing else.
func unescape(element string) (string, bool) {
	if len(element) > maxEscapedName || !escapedName.MatchString(element) {
		return "", false
	}
	var name strings.Builder
	for i := 0; i < len(element); i++ {
		if element[i] != '%' {
			name.WriteByte(element[i])
			continue
		}
		name.WriteByte(nibble(element[i+1])<<4 | nibble(element[i+2]))
		i += 2
	}
	return name.String(), durable.PathElement(name.String()) == element
}

func nibble(c byte) byte {
	if c >= 'A' {
		return c - 'A' + 10
	}
	return c - '0'
}

func comparePlaces(a, b Place) int {
	return cmp.Or(
		cmp.Compare(a.Organization, b.Organization), cmp.Compare(a.RetentionClass, b.RetentionClass),
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.JournalID, b.JournalID),
	)
}
