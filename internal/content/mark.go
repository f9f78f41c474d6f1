// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

// mark is a set of kinds of bytes. By those that a text is made of, most texts
// are known not to have a shape, or to hold no credential.
type mark uint16

const (
	// markAlnum is of letters and digits.
	markAlnum mark = 1 << iota
	// markJoin is of what joins the parts of an id.
	markJoin
	// markPoint is of . and :.
	markPoint
	// markSlash is of what URLs can't do without, and markAt of what user info can't.
	markSlash
	markAt
	// markEquals is of what parameters can't do without.
	markEquals
	markPlus
	markTilde
	// markBar is of # and |.
	markBar
	markBlank
	// markEscape is of what percent-encoding can't do without.
	markEscape
	// markBreak is of blanks that are none of a name's.
	markBreak
	// markOther is of all other bytes.
	markOther
	// markBearer is of what the name of the scheme begins with.
	markBearer
	// markOpaque is of what tokens can't do without: digits or capitals.
	markOpaque

	markWord = markAlnum | markBearer | markOpaque | markJoin | markPoint
	// markGap is of what stands between a scheme and its credential.
	markGap = markBlank | markBreak | markEscape | markPlus

	anyBytes = ^mark(0)
)

var marks = func() (marks [256]mark) {
	for i := range len(alnum) {
		marks[alnum[i]] |= markAlnum
		if !isLower(alnum[i]) {
			marks[alnum[i]] |= markOpaque
		}
	}
	for characters, m := range map[string]mark{
		"_-": markJoin, ".:": markPoint, "/": markSlash, "@": markAt, "=": markEquals, "+": markPlus, "~": markTilde, "#|": markBar,
		" ": markBlank, "%": markEscape, "\t\r\n": markBreak, "bB": markBearer,
	} {
		for i := range len(characters) {
			marks[characters[i]] |= m
		}
	}
	for c := range marks {
		if marks[c] == 0 {
			marks[c] = markOther
		}
	}
	return marks
}()

// marksOf returns the marks of the bytes of a text.
func marksOf(s string) (seen mark) {
	for i := range len(s) {
		seen |= marks[s[i]]
	}
	return seen
}
