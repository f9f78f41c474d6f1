// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"errors"
	"fmt"
	"time"
)

// Set says who can open what is stored for a retention class from a time on.
// One set for a class makes the class erasable, one for each period the period.
type Set struct {
	// Organization is whose copies they are; "" takes those of every
	// organization that has no set of its own in force.
	Organization string
	// Class is the retention class of the records.
	Class string
	// Name tells the sets of a class apart.
	Name string
	// From is when the set comes into force; the zero time is always.
	From       time.Time
	Recipients Recipients
}

// CheckSets refuses sets of which nobody could say which one is used, or which
// would share a directory. Names are those of a configuration.
func CheckSets(sets []Set) error {
	var errs []error
	for i, a := range sets {
		for k, b := range sets[:i] {
			sameClass := a.Class == b.Class
			switch {
			case sameClass && a.Name == b.Name && (a.Organization == b.Organization || a.Organization == "" || b.Organization == ""):
				errs = append(errs, fmt.Errorf("recipients::%d and recipients::%d are both the set %q of the retention class %q: "+
					"a set has one list of keys; give one of them another name", k, i, a.Name, a.Class))
			case sameClass && a.Organization == b.Organization && a.From.Equal(b.From):
				errs = append(errs, fmt.Errorf("recipients::%d and recipients::%d both begin at the same time for the retention class %q: "+
					"give the later one a later from, or put all keys into one set", k, i, a.Class))
			}
		}
	}
	return errors.Join(errs...)
}

// inForce returns the set that a copy is encrypted to now: of those for the
// organization, else of those for every organization, the one that began last.
func inForce(sets []Set, organization, class string, now time.Time) (*Set, error) {
	var found, next *Set
	for i := range sets {
		s := &sets[i]
		switch {
		case s.Class != class || s.Organization != "" && s.Organization != organization:
		case s.From.After(now):
			if next == nil || s.From.Before(next.From) {
				next = s
			}
		case found == nil, found.Organization == "" && s.Organization != "",
			found.Organization == s.Organization && s.From.After(found.From):
			found = s
		}
	}
	switch {
	case found != nil:
		return found, nil
	case next != nil:
		return nil, fmt.Errorf("no recipients are in force for the retention class %q of %q before %s: "+
			"add a set to recipients that begins earlier", class, organization, next.From.Format(time.RFC3339))
	}
	return nil, fmt.Errorf("there are no recipients for the retention class %q of %q: add a set to recipients", class, organization)
}
