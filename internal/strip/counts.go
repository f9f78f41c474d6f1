// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package strip

// Place is where in an item something was taken out. Places are a closed set,
// so that they can label metrics.
type Place uint8

// The places of an OTLP item.
const (
	PlaceResource Place = iota
	PlaceScope
	PlaceAttribute
	PlaceEvent
	PlaceLink
	PlaceBody
	PlaceName
	PlaceStatus
	PlaceTraceState
	PlaceSchemaURL
	places
)

var placeNames = [places]string{"resource", "scope", "attribute", "event", "link", "body", "name", "status", "trace_state", "schema_url"}

// String returns the place as metrics spell it.
func (p Place) String() string { return placeNames[p] }

// Action is what was done to a value. Actions are a closed set.
type Action uint8

// The actions.
const (
	// Digested: the value was replaced by its digest, or by a placeholder if it
	// is one among names of somebody's choosing.
	Digested Action = iota
	// Removed: it was removed, or a name was replaced by "redacted".
	Removed
	// Credential: it was removed because it is or may contain a credential.
	Credential
	actions
)

var actionNames = [actions]string{"digested", "removed", "credential"}

// String returns the action as metrics spell it.
func (a Action) String() string { return actionNames[a] }

// Counts counts what was done. It belongs to one goroutine.
type Counts [places][actions]int64

func (c *Counts) add(p Place, a Action) { c[p][a]++ }

// took counts an outcome, unless the value stayed.
func (c *Counts) took(p Place, o Outcome) {
	if a, acted := o.action(); acted {
		c.add(p, a)
	}
}

// Each calls f with every count that is not zero.
func (c *Counts) Each(f func(Place, Action, int64)) {
	for p := range places {
		for a := range actions {
			if n := c[p][a]; n > 0 {
				f(p, a, n)
			}
		}
	}
}
