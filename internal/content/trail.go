// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

// Trail finds rules as Policy.Rule does, and sooner where keys come in the order
// in which they came before, as those of the spans of one instrumentation do. It
// belongs to one goroutine, to one policy, and is bounded.
type Trail struct {
	steps []step
	next  int
}

type step struct {
	key  string
	gate Gate
	rule *Rule
}

// maxTrail is how many keys of one item are remembered.
const maxTrail = 64

// Begin says that the keys of another item follow.
func (t *Trail) Begin() { t.next = 0 }

// Rule returns what a policy knows of the next key.
func (t *Trail) Rule(p *Policy, key string, gate Gate) *Rule {
	i := t.next
	t.next++
	if i < len(t.steps) && t.steps[i].key == key && t.steps[i].gate == gate {
		return t.steps[i].rule
	}
	rule := p.Rule(key, gate)
	switch {
	case i >= maxTrail || len(key) > maxMemoKey:
	case i < len(t.steps):
		t.steps[i] = step{key, gate, rule}
	case i == len(t.steps):
		if t.steps == nil {
			t.steps = make([]step, 0, maxTrail)
		}
		t.steps = append(t.steps, step{key, gate, rule})
	}
	return rule
}
