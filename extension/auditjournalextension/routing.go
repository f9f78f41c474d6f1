// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/record"
)

// router chooses the scope of a record among those that the configuration
// names. Telemetry can choose, never create.
type router struct {
	base   record.Scope
	routes []route
	// kinds are those of the journals that each scope has.
	kinds []string
}

type route struct {
	attribute, value string
	scope            record.Scope
}

func newRouter(c *ScopeConfig, withActions bool) router {
	r := router{base: c.base(), kinds: []string{reads}}
	if withActions {
		r.kinds = append(r.kinds, actions)
	}
	for i := range c.Routes {
		r.routes = append(r.routes, route{
			attribute: c.Routes[i].Attribute,
			value:     c.Routes[i].Value,
			scope:     c.Routes[i].over(r.base),
		})
	}
	return r
}

// scopes returns the scope of each journal, one for each name.
func (r *router) scopes() map[journalName]record.Scope {
	out := map[journalName]record.Scope{}
	for _, kind := range r.kinds {
		out[nameOf(r.base, kind)] = r.base
		for _, route := range r.routes {
			out[nameOf(route.scope, kind)] = route.scope
		}
	}
	return out
}

// named returns the scope of an organization and a retention class, if the
// configuration names them; "" stands for those of the base.
func (r *router) named(organization, class string) (record.Scope, bool) {
	if organization == "" {
		organization = r.base.OrganizationRef
	}
	if class == "" {
		class = r.base.RetentionClass
	}
	scope, found := r.scopes()[journalName{organization, class, reads}]
	return scope, found
}

// scopeOf returns the scope of an item.
func (r *router) scopeOf(item *carrier.Item) record.Scope {
	if item.Scope != nil {
		return *item.Scope
	}
	return r.scopeFor(item.Resource)
}

// scopeFor returns the scope of the first route that matches, or the base.
func (r *router) scopeFor(resource carrier.Resource) record.Scope {
	for _, route := range r.routes {
		if value, found := resource[route.attribute]; found && value == route.value {
			return route.scope
		}
	}
	return r.base
}

// share is what one journal gets of some items: their indices, in their order.
type share struct {
	name    journalName
	indices []int
}

// group sorts the indices of items by journal.
func (r *router) group(items []carrier.Item) []share {
	var shares []share
	places := make(map[journalName]int, 1)
	latest := -1 // the share of the item before, which most items go to too
	for i := range items {
		name := nameOf(r.scopeOf(&items[i]), kindOf(items[i].Draft))
		if latest < 0 || shares[latest].name != name {
			place, found := places[name]
			if !found {
				place = len(shares)
				places[name] = place
				shares = append(shares, share{name, make([]int, 0, len(items)-i)})
			}
			latest = place
		}
		shares[latest].indices = append(shares[latest].indices, i)
	}
	return shares
}
