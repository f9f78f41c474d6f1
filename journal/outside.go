// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/readtrail/readtrail/record"
)

// attestation is a checkpoint on its way to the entry that it ends at.
type attestation struct {
	outside
	// known says that nobody has to sign it: the policy or the caller names it.
	known bool
	// demanded says that the policy names it.
	demanded bool
	// distrusted says that its key may not have signed it then: it says when entries
	// existed, and nothing else.
	distrusted bool
	// earliest is the checkpoint from here on that was attested first, nil if none was:
	// what covers more entries covers these too.
	earliest *attestation
	// used says that a key was judged at the time of this one.
	used bool
}

// attestations are what the outside says of one journal, while it is read.
type attestations struct {
	policy JournalPolicy
	all    []attestation // by size
	// said are findings about checkpoints alone: they come behind those about entries.
	said []Finding
	// next is the first of all that was not reached.
	next int

	tree treeHead
	// grows says that tree holds all entries up to the one before.
	grows bool

	// verified counts the checkpoints whose roots the journal gives, and unchecked
	// those whose roots cannot be computed.
	verified, unchecked uint64
	// given counts the checkpoints of the journal that are kept outside; uncompared those
	// of them that were not held against the entries, and largest is the size of the
	// largest of these.
	given, uncompared, largest uint64
	// tailTo and timeTo are the sizes of the largest of them that speaks for the tail
	// and for time; tailAt is recorded_at of the entry at tailTo.
	tailTo, timeTo uint64
	tailAt         record.Time
	attestedAt     time.Time
	// confirmed says that the journal gives the root of Options.Since.
	confirmed bool
}

// prepare looks up what the outside says of the journal with an id, before anything
// in it is judged: entries that name no journal are judged by it too.
func (v *verifier) prepare(id string) {
	opt := &v.options
	v.report.JournalID = id
	var listed bool
	v.out.policy, listed = opt.Policy.Journal(id)
	v.unlisted = !listed
	for _, o := range opt.Checkpoints.of(id) {
		v.takeCheckpoint(id, o)
	}
	if oldest := v.out.policy.Oldest; oldest != nil {
		v.out.all = append(v.out.all, attestation{outside: outside{size: oldest.Size, root: oldest.Root, path: "the policy"}, known: true, demanded: true})
	}
	if s := opt.Since; s != nil && s.Origin == id {
		v.out.all = append(v.out.all, attestation{outside: outside{size: s.Size, root: s.Root, path: "since"}, known: true})
	}
	slices.SortStableFunc(v.out.all, func(a, b attestation) int {
		switch {
		case a.size < b.size:
			return -1
		case a.size > b.size:
			return 1
		default:
			return 0
		}
	})
	v.findForks()
	var earliest *attestation
	for i := len(v.out.all) - 1; i >= 0; i-- {
		a := &v.out.all[i]
		if !a.at.IsZero() && v.source.reaches(a.size) && (earliest == nil || a.at.Before(earliest.at)) {
			earliest = a
		}
		a.earliest = earliest
	}
}

// takeCheckpoint takes a checkpoint that a trusted key signed, and says of another
// one what is wrong with it.
func (v *verifier) takeCheckpoint(id string, o outside) {
	v.out.given++
	code, detail, distrusted := Code(""), "", false
	switch key, found := v.registryKey(o.keyID); {
	case v.options.Registry == nil:
		code, detail = CodeCheckpointNotPerformed, o.untrusted
	case !found:
		code, detail = CodeCheckpointSignatureInvalid, o.untrusted
	default:
		// Without an attestation only what the registry says of sequences can be judged
		// before the entry is there.
		if problem := key.judgeCheckpoint(id, o.size, o.at); problem != "" {
			code, detail = CodeCheckpointSignatureInvalid, fmt.Sprintf("%s: key %s", problem, key.ID)
			distrusted = true
		}
	}
	if code == "" || distrusted && !o.at.IsZero() {
		v.out.all = append(v.out.all, attestation{outside: o, distrusted: distrusted})
	}
	if code == "" {
		return
	}
	f := Finding{Code: code, Detail: fmt.Sprintf("%s; checkpoint %s of %d entries", detail, o.path, o.size)}
	if code == CodeCheckpointNotPerformed {
		f.Sequence = o.size
	}
	v.out.said = append(v.out.said, f)
}

func (v *verifier) registryKey(id string) (Key, bool) {
	if v.options.Registry == nil {
		return Key{}, false
	}
	return v.options.Registry.Key(id)
}

// judgeCheckpoint says whether the key may have signed a checkpoint; at is zero if
// nobody says when.
func (k *Key) judgeCheckpoint(journalID string, size uint64, at time.Time) Code {
	if at.IsZero() {
		at = k.ValidFrom.Std()
	}
	return k.judge(journalID, size, record.NewTime(at))
}

// JudgeCheckpoint says whether the key may have signed a checkpoint when somebody
// outside attested it; at is zero if nobody did, and then only what the registry says of
// sequences is judged. "" means that it may.
func (k *Key) JudgeCheckpoint(c *SignedCheckpoint, at time.Time) Code {
	return k.judgeCheckpoint(c.Origin, c.Size, at)
}

// findForks says where two checkpoints of one size have two roots.
func (v *verifier) findForks() {
	for i := 1; i < len(v.out.all); i++ {
		a, b := &v.out.all[i-1], &v.out.all[i]
		if a.size != b.size || a.root == b.root || a.distrusted || b.distrusted {
			continue
		}
		code := CodeFork
		if a.known || b.known {
			code = CodeCheckpointInconsistent
		}
		v.chainBroken = true
		v.out.said = append(v.out.said, Finding{Code: code, Sequence: a.size, Detail: fmt.Sprintf("two roots for %d entries: checkpoints %s and %s", a.size, a.path, b.path)})
	}
}

// timeOf is when the key of an entry is judged (contract 4): at the first
// attestation of a checkpoint that covers it, else at recorded_at. Only checkpoints
// whose roots are computed from the entry count: others say nothing of it.
func (v *verifier) timeOf(c *checked) record.Time {
	all := v.out.all
	i := sort.Search(len(all), func(i int) bool { return all[i].size >= c.sequence })
	if i == len(all) || all[i].earliest == nil || !v.joinsTree(c) {
		return c.recordedAt
	}
	all[i].earliest.used = true
	return record.NewTime(all[i].earliest.at)
}

// joinsTree reports whether an entry that is judged will be the next leaf of the tree.
func (v *verifier) joinsTree(c *checked) bool {
	switch a := v.pruned; {
	case v.proven:
		return true
	case v.out.grows:
		return c.sequence == v.out.tree.size+1
	case a != nil && a.FirstSequence == c.sequence:
		return a.anchor == c.previous
	default:
		return v.head.start && c.sequence == 1 && !c.previous.set
	}
}

// grow adds an entry that stands in its place to the tree and compares the
// checkpoints that end there. Of an altered entry the hash counts that it names.
func (v *verifier) grow(c *checked) {
	out := &v.out
	if out.next == len(out.all) {
		return // nobody asks for a root
	}
	if !out.grows || c.sequence != out.tree.size+1 {
		out.grows = false
		return
	}
	out.tree.add(LeafHash(c.recordHash.hash))
	v.compare(c)
}

// compare holds the checkpoints that end at the tree as it is against its root.
func (v *verifier) compare(c *checked) {
	out := &v.out
	for ; out.next < len(out.all) && out.all[out.next].size <= out.tree.size; out.next++ {
		a := &out.all[out.next]
		switch {
		case a.distrusted:
		case a.size < out.tree.size:
			v.passOver(a)
		case a.root != out.tree.root():
			v.contradicted(a)
		default:
			v.confirmed(a, c)
		}
	}
}

// passOver counts a checkpoint whose root the entries that are here do not give. What
// the policy demands is more than a number: it was not checked.
func (v *verifier) passOver(a *attestation) {
	v.out.unchecked++
	if !a.known {
		v.out.uncompared++
		v.out.largest = max(v.out.largest, a.size)
	}
	if a.used && !v.chainBroken {
		// Nobody says that the entries are those which were attested then.
		v.signatureOpen, v.keysOpen = true, true
		v.note(Finding{
			Code: CodeSignatureNotPerformed, Sequence: a.size,
			Detail: fmt.Sprintf("keys were judged at the time of a checkpoint whose root the entries that are here do not give: checkpoint %s", a.path),
		})
	}
	if a.demanded {
		v.note(Finding{
			Code: CodeCheckpointNotPerformed, Sequence: a.size,
			Detail: fmt.Sprintf("the entries that are here do not give the root of the first %d: checkpoint %s", a.size, a.path),
		})
	}
}

func (v *verifier) contradicted(a *attestation) {
	code := CodeFork
	if a.known || v.damaged || v.options.Registry == nil {
		code = CodeCheckpointInconsistent
	}
	v.chainBroken = true
	v.note(Finding{
		Code: code, Sequence: a.size,
		Detail: fmt.Sprintf("the first %d entries have the root %s, and the checkpoint has %s: checkpoint %s", a.size, rootText(v.out.tree.root()), rootText(a.root), a.path),
	})
}

func rootText(root [sha256.Size]byte) string { return SpellHash(root) }

func (v *verifier) confirmed(a *attestation, c *checked) {
	out := &v.out
	if a.known {
		out.confirmed = out.confirmed || v.options.Since != nil && a.size == v.options.Since.Size && a.root == v.options.Since.Root
		return
	}
	if key, found := v.registryKey(a.keyID); a.at.IsZero() && found {
		if problem := key.judge(c.journalIDOr(v), a.size, c.recordedAt); problem != "" {
			v.note(Finding{Code: CodeCheckpointSignatureInvalid, Detail: fmt.Sprintf("%s: key %s; checkpoint %s of %d entries", problem, key.ID, a.path, a.size)})
			return
		}
	}
	out.verified++
	if p := v.options.Policy; p == nil || p.Quorum == 0 || a.cosigned {
		out.tailTo, out.tailAt = a.size, c.recordedAt
	}
	if a.at.IsZero() {
		return
	}
	out.timeTo = a.size
	if gap := out.policy.LargestGap; gap > 0 && !out.attestedAt.IsZero() && a.at.Sub(out.attestedAt) > gap {
		v.note(Finding{
			Code: CodeTimeUnattested, Class: ClassUnchecked, Sequence: a.size,
			Detail: fmt.Sprintf("%s passed between two attestations, and the policy allows %s", a.at.Sub(out.attestedAt), gap),
		})
	}
	if a.at.After(out.attestedAt) {
		out.attestedAt = a.at
	}
}

// checkSilence finds entries further apart than the policy allows: a journal that
// writes heartbeats proves that nothing was left out.
func (v *verifier) checkSilence(c *checked) {
	gap := v.out.policy.LargestGap
	if gap == 0 || v.head.start || v.head.skipped > 0 {
		return
	}
	if silent := c.recordedAt.Std().Sub(v.head.recordedAt.Std()); silent > gap {
		f := v.placed(c, CodeTimeUnattested)
		f.Class, f.Detail = ClassUnchecked, fmt.Sprintf("nothing was written for %s, and the policy allows %s", silent, gap)
		v.find(c, f)
	}
}
