// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"fmt"
	"strings"
)

// Class is what a key says about its value.
type Class uint8

// The classes of keys.
const (
	// Unknown keys may hold anything.
	Unknown Class = iota
	// Harmless keys hold a value that may stay if it has its shape.
	Harmless
	// Content keys hold content.
	Content
	// Address keys hold a URL or a command line: content that may contain a
	// credential.
	Address
	// Secret keys hold a credential, or headers among which one is.
	Secret
)

// Rule is what the tables say about a key.
type Rule struct {
	Class Class
	// Shape is that of a harmless value.
	Shape Shape
	// Free says that the key itself contains text of somebody's choosing.
	Free bool
}

// Keep names a key that an operator knows to be harmless.
type Keep struct {
	// Key is a whole key, or ends with ".*" and stands for every key with that
	// prefix and a rest of letters, digits and ._-, at most 128 bytes.
	Key   string
	Shape Shape
}

// TableVersion counts the changes of the tables that change what leaves. It
// stands in every record's retention.redaction_profile.
const TableVersion = 2

// Policy decides by key. It is immutable and safe for concurrent use.
type Policy struct {
	// places are the keys that hold content besides those of the tables.
	places     patterns
	keepExact  map[string]Shape
	keepPrefix []Keep // Key is the prefix with its dot; the first match counts
	rules      *memo
}

// NewPolicy returns the tables extended by further places of content, which are
// keys or patterns (places.go), and by what an operator keeps. A key that is
// known to hold content or a credential can't be kept.
func NewPolicy(places []string, keep []Keep) (*Policy, error) {
	p := &Policy{places: unknownPlaces(places), keepExact: make(map[string]Shape), rules: &memo{}}
	for i, k := range keep {
		if err := p.add(k); err != nil {
			return nil, fmt.Errorf("keep[%d]: %w", i, err)
		}
	}
	return p, nil
}

// unknownPlaces are those of the places of which the tables know nothing. One
// that is content under a gate only stays so.
func unknownPlaces(places []string) patterns {
	var out []string
	for _, place := range places {
		if hasWildcard(place) || tableRule(place, GateGeneric).Class == Unknown {
			out = append(out, place)
		}
	}
	return patternSet(strings.Join(out, " "))
}

func (p *Policy) add(k Keep) error {
	if k.Shape.match == nil {
		return fmt.Errorf("key %q has no shape; give one of %s", k.Key, strings.Join(ShapeNames(), ", "))
	}
	prefix, isPrefix := strings.CutSuffix(k.Key, ".*")
	rule := p.known(k.Key, 0)
	switch {
	case prefix == "" || strings.ContainsAny(prefix, "* ") || len(prefix) > maxKeptKey:
		return fmt.Errorf("key %q must be an attribute key of at most %d bytes, or a prefix that ends with .*", k.Key, maxKeptKey)
	case NamesSecret(prefix) || !isPrefix && rule.Class == Secret:
		return fmt.Errorf("key %q is the name of a credential and can't be kept", k.Key)
	case isPrefix:
		p.keepPrefix = append(p.keepPrefix, Keep{prefix + ".", k.Shape})
	case rule.Class != Harmless && (!rule.open() || hasPIISegment(k.Key)):
		return fmt.Errorf("key %q is known to hold content and can't be kept", k.Key)
	default:
		p.keepExact[k.Key] = k.Shape
	}
	return nil
}

// maxKeptKey bounds a kept key and what stands for the star of a kept prefix,
// in bytes.
const maxKeptKey = 128

// open says that the tables do not know what a key holds: an operator may.
func (r Rule) open() bool { return r.Class == Unknown || r.Class == Content && r.Free }

// Rule returns what is known of a key under a gate. What an operator keeps
// counts where the tables know nothing, and for the shape of a harmless key. The
// rule is shared and must not be changed.
func (p *Policy) Rule(key string, gate Gate) *Rule {
	hash := memoHash(key, gate)
	if known := p.rules.get(hash, key, gate); known != nil {
		return known
	}
	rule := nothingKnown
	if found := p.find(key, gate); found.Class != Unknown {
		rule = &found
	}
	p.rules.missed(hash, key, gate, rule)
	return rule
}

var nothingKnown = &Rule{}

func (p *Policy) find(key string, gate Gate) Rule {
	rule := p.known(key, gate)
	if rule.Class != Harmless && !rule.open() {
		return rule
	}
	if shape, ok := p.keepExact[key]; ok {
		return Rule{Class: Harmless, Shape: shape}
	}
	if rule.Class == Harmless || len(p.keepPrefix) == 0 || hasPIISegment(key) {
		return rule
	}
	for _, k := range p.keepPrefix {
		if rest, ok := strings.CutPrefix(key, k.Key); ok && isKeptRest(rest) {
			return Rule{Class: Harmless, Shape: k.Shape}
		}
	}
	return rule
}

// known returns what the tables and the further places say of a key.
func (p *Policy) known(key string, gate Gate) Rule {
	rule := tableRule(key, gate)
	if rule.Class == Unknown {
		if ok, free := p.places.find(key); ok {
			return Rule{Class: Content, Free: free}
		}
	}
	return rule
}

// tableRule returns what the tables know of a key under a gate.
func tableRule(key string, gate Gate) Rule {
	if rule, ok := exactRules[key]; ok {
		return rule
	}
	if NamesSecret(key) {
		return Rule{Class: Secret, Free: true}
	}
	if rule, ok := patternRule(key); ok {
		return rule
	}
	if gate&GateGeneric != 0 {
		if ok, free := genericSet.find(key); ok {
			return Rule{Class: Content, Free: free}
		}
	}
	if gate&GateWhole != 0 {
		return Rule{Class: Content, Free: !allKnown(key)}
	}
	return Rule{}
}

var isKeptText = allOf(alnum + "._-")

func isKeptRest(s string) bool { return s != "" && len(s) <= maxKeptKey && isKeptText(s) }
