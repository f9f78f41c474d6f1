// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import "fmt"

// enter goes on to a segment, past those without a line.
func (v *verifier) enter(segment int) {
	for v.segment < segment {
		v.tellName()
		v.segment++
		v.checkName()
	}
}

// checkName judges the name of a segment behind the first one, which must be the
// sequence that comes next: without that, segments whose entries are gone would
// not be missed where they are the last. If the first entry of the segment is out
// of sequence itself, that finding says more.
func (v *verifier) checkName() {
	segment := v.source.Segments[v.segment]
	name, next := segment.FirstSequence, v.head.next()
	if name == 0 || next == 0 || name > v.head.sequence && name <= next {
		return
	}
	code := CodeSequenceGap
	if name < next {
		code = CodeSequenceDuplicate
	}
	v.misnamed = &Finding{
		Code: code, Sequence: next, Segment: segment.Path,
		Detail: fmt.Sprintf("the name of the segment says %d where %d was expected", name, next),
	}
}

// tellName reports the name of the segment if nothing else did.
func (v *verifier) tellName() {
	if v.misnamed != nil {
		v.chainBroken, v.damaged = true, true
		v.report.add(*v.misnamed)
		v.misnamed = nil
	}
}
