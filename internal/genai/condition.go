// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// condition is a marker by which a row knows an item.
type condition func(*item) bool

// all holds if every condition does.
func all(conditions ...condition) condition {
	return func(it *item) bool {
		for _, c := range conditions {
			if !c(it) {
				return false
			}
		}
		return true
	}
}

// either holds if one condition does.
func either(conditions ...condition) condition {
	return func(it *item) bool {
		for _, c := range conditions {
			if c(it) {
				return true
			}
		}
		return false
	}
}

// scope holds for an instrumentation scope of one of the names.
func scope(names ...string) condition {
	return func(it *item) bool { return slices.Contains(names, it.scope.Name()) }
}

// has holds if one of the attributes has a value, of any type. An empty string
// says as little as no attribute at all.
func has(keys ...string) condition {
	return func(it *item) bool {
		return slices.ContainsFunc(keys, func(key string) bool {
			v, ok := it.get(key)
			return ok && (v.Type() != pcommon.ValueTypeStr || v.Str() != "")
		})
	}
}

// lacks holds if none of the attributes has a value.
func lacks(keys ...string) condition {
	some := has(keys...)
	return func(it *item) bool { return !some(it) }
}

// is holds if the attribute has one of the values.
func is(key string, values ...string) condition {
	return func(it *item) bool {
		s := it.text(key)
		return s != "" && slices.Contains(values, s)
	}
}

// isAnyCase is is for values that libraries spell in either case.
func isAnyCase(key string, values ...string) condition {
	return func(it *item) bool {
		s := it.text(key)
		return s != "" && slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, s) })
	}
}

// begins holds if the attribute's value begins with one of the prefixes.
func begins(key string, prefixes ...string) condition {
	return func(it *item) bool { return hasAnyPrefix(it.text(key), prefixes) }
}

// named holds for a span name or a log record's event name.
func named(names ...string) condition {
	return func(it *item) bool { return slices.Contains(names, it.name) }
}

// kind holds for spans of one of the kinds.
func kind(kinds ...ptrace.SpanKind) condition {
	return func(it *item) bool { return slices.Contains(kinds, it.kind) }
}

func hasAnyPrefix(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}
