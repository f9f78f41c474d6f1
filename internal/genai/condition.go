// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/telemetry"
)

// condition is a marker by which a row knows an item.
type condition struct {
	holds func(*item) bool
	// on says what an item has at least one of if the condition holds for it, so
	// that a row is only looked at for items that may be its own. If it is empty,
	// nothing is known.
	on triggers
}

// triggers are attribute keys with any value or with one, names of scopes, names
// of spans or log events, and names of span events. Prefixes of scopes and names
// end with an asterisk.
type triggers struct {
	keys, scopes, names, events []string
	values                      []keyValue
}

// keyValue is an attribute that has the value as its text.
type keyValue struct{ key, value string }

func (t triggers) empty() bool {
	return len(t.keys)+len(t.values)+len(t.scopes)+len(t.names)+len(t.events) == 0
}

// all holds if every condition does. The first one with triggers gives those of
// the whole, so the rarest marker stands first.
func all(conditions ...condition) condition {
	c := condition{holds: func(it *item) bool {
		for i := range conditions {
			if !conditions[i].holds(it) {
				return false
			}
		}
		return true
	}}
	if i := slices.IndexFunc(conditions, func(c condition) bool { return !c.on.empty() }); i >= 0 {
		c.on = conditions[i].on
	}
	return c
}

// either holds if one condition does.
func either(conditions ...condition) condition {
	c := condition{holds: func(it *item) bool {
		for i := range conditions {
			if conditions[i].holds(it) {
				return true
			}
		}
		return false
	}}
	for _, one := range conditions {
		if one.on.empty() {
			c.on = triggers{}
			break
		}
		c.on.keys = append(c.on.keys, one.on.keys...)
		c.on.values = append(c.on.values, one.on.values...)
		c.on.scopes = append(c.on.scopes, one.on.scopes...)
		c.on.names = append(c.on.names, one.on.names...)
		c.on.events = append(c.on.events, one.on.events...)
	}
	return c
}

// not holds if the condition does not, and has no triggers.
func not(c condition) condition {
	return condition{holds: func(it *item) bool { return !c.holds(it) }}
}

// scope holds for an instrumentation scope of one of the names. A name that
// ends with an asterisk stands for all that begin so.
func scope(names ...string) condition {
	return condition{
		holds: func(it *item) bool { return matchesAny(it.scope.Name(), names) },
		on:    triggers{scopes: names},
	}
}

// has holds if one of the attributes has a value, of any type. An empty string
// says as little as no attribute at all.
func has(keys ...string) condition {
	return condition{
		holds: func(it *item) bool { return hasAny(it, keys...) },
		on:    triggers{keys: keys},
	}
}

func hasAny(it *item, keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		v, ok := it.get(key)
		return ok && (v.Type() != pcommon.ValueTypeStr || v.Str() != "")
	})
}

// lacks holds if none of the attributes has a value.
func lacks(keys ...string) condition {
	return condition{holds: func(it *item) bool { return !hasAny(it, keys...) }}
}

// is holds if the attribute has one of the values.
func is(key string, values ...string) condition {
	c := condition{holds: func(it *item) bool { return it.isOneOf(key, values) }}
	for _, v := range values {
		c.on.values = append(c.on.values, keyValue{key, v})
	}
	return c
}

// isAnyCase is is for values that libraries spell in either case.
func isAnyCase(key string, values ...string) condition {
	return condition{
		holds: func(it *item) bool {
			s := it.text(key)
			return s != "" && slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, s) })
		},
		on: triggers{keys: []string{key}},
	}
}

// begins holds if the attribute's value begins with one of the prefixes.
func begins(key string, prefixes ...string) condition {
	return condition{
		holds: func(it *item) bool { return hasAnyPrefix(it.text(key), prefixes) },
		on:    triggers{keys: []string{key}},
	}
}

// ends holds if the attribute's value ends with one of the suffixes.
func ends(key string, suffixes ...string) condition {
	return condition{
		holds: func(it *item) bool {
			s := it.text(key)
			return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(s, suffix) })
		},
		on: triggers{keys: []string{key}},
	}
}

// named holds for a span name or a log record's event name. A name that ends
// with an asterisk stands for all that begin so.
func named(names ...string) condition {
	return condition{
		holds: func(it *item) bool { return matchesAny(it.name, names) },
		on:    triggers{names: names},
	}
}

// besides holds for what a library writes besides the conventions: spans of
// which a row knows nothing but whose they are. What says of itself which of the
// conventions' operations or of MCP's methods it is stays for the rows of those.
func besides(library condition) condition { return all(library, lacks(operation, "mcp.method.name")) }

// nameEnds holds for a name that ends with one of the suffixes. It has no
// triggers: a name is found by how it begins.
func nameEnds(suffixes ...string) condition {
	return condition{holds: func(it *item) bool {
		return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(it.name, suffix) })
	}}
}

// carries holds for a span with an event of one of the names.
func carries(events ...string) condition {
	return condition{
		holds: func(it *item) bool {
			return slices.ContainsFunc(it.events, func(e ptrace.SpanEvent) bool { return slices.Contains(events, e.Name()) })
		},
		on: triggers{events: events},
	}
}

// namedBy holds for a span whose name is the value of one of its attributes.
func namedBy(key string) condition {
	return condition{
		holds: func(it *item) bool { return it.name != "" && it.text(key) == it.name },
		on:    triggers{keys: []string{key}},
	}
}

// bodyHoldsMessages holds for log records whose body has the form of messages
// that were moved out of a span.
func bodyHoldsMessages() condition {
	return condition{holds: func(it *item) bool { return it.body.ok && telemetry.HoldsMessages(it.body.data) }}
}

// kind holds for spans of one of the kinds.
func kind(kinds ...ptrace.SpanKind) condition {
	return condition{holds: func(it *item) bool { return slices.Contains(kinds, it.kind) }}
}

func hasAnyPrefix(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

func matchesAny(s string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if prefix, ok := strings.CutSuffix(name, "*"); ok {
			return strings.HasPrefix(s, prefix)
		}
		return s == name
	})
}
