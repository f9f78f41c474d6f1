// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

// Trail finds rules as Policy.Rule does, and sooner where keys come in the order
// in which they came before, as those of the spans of one instrumentation do. It
// belongs to one goroutine, to one policy, and is bounded.
type Trail struct {
	steps []Step
	next  int
	// beyond stands for a step that is not remembered.
	beyond Step
}

// Step is what is known of a key in its place, and what was found of the text
// that stood there last: names of agents, tools and models come again and again.
// It is good until the next is asked for.
type Step struct {
	Rule *Rule

	key     string
	gate    Gate
	text    string
	verdict Verdict
}

const (
	// maxTrail is how many keys of one item are remembered.
	maxTrail = 64
	// maxJudged is the longest text that is remembered, in bytes.
	maxJudged = 256
)

// Begin says that the keys of another item follow.
func (t *Trail) Begin() { t.next = 0 }

// Next returns what a policy knows of the next key.
func (t *Trail) Next(p *Policy, key string, gate Gate) *Step {
	i := t.next
	t.next++
	if i < len(t.steps) && t.steps[i].key == key && t.steps[i].gate == gate {
		return &t.steps[i]
	}
	step := &t.beyond
	switch {
	case i >= maxTrail || len(key) > maxMemoKey:
	case i < len(t.steps):
		step = &t.steps[i]
	case i == len(t.steps):
		if t.steps == nil {
			t.steps = make([]Step, 0, maxTrail)
		}
		t.steps = t.steps[:i+1]
		step = &t.steps[i]
	}
	*step = Step{Rule: p.Rule(key, gate), key: key, gate: gate}
	return step
}

// Verdict says whether a value may stay in clear as that of its key.
type Verdict uint8

// The verdicts.
const (
	unjudged Verdict = iota
	// Fits: the key is harmless and the value has its shape, or says that there
	// is none.
	Fits
	// Betrays: the value would give away a credential.
	Betrays
	// Tells: it may tell anything else.
	Tells
)

// Judge returns the verdict on a text, as the rule's does.
func (s *Step) Judge(text string) Verdict {
	if s.verdict != unjudged && s.text == text {
		return s.verdict
	}
	verdict := s.Rule.Judge(text)
	if len(text) <= maxJudged {
		s.text, s.verdict = text, verdict
	}
	return verdict
}

// Judge returns the verdict on a text.
func (r *Rule) Judge(text string) Verdict {
	switch {
	case r.Class == Harmless && (r.Shape.Matches(text) || IsPlaceholder(text)):
		return Fits
	case GivesAwayCredential(text):
		return Betrays
	default:
		return Tells
	}
}
