// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"slices"
	"strconv"
)

// A Rule holds between members of a body and is none that a JSON Schema can say.
// What a schema can say stands there.
type Rule struct {
	// ID is stable and public.
	ID string
	// Kinds are the bodies that the rule is for.
	Kinds []Kind
	// Says is the rule in one line.
	Says string
}

// RuleError says which rule a body breaks and where. It holds names of members,
// never values.
type RuleError struct {
	Rule string
	// Pointer is a JSON Pointer into the body. Names that an application gives
	// stand in it as "?", unless they look like those of members.
	Pointer string
}

func (e *RuleError) Error() string { return fmt.Sprintf("%q breaks the rule %q", e.Pointer, e.Rule) }

// A rule finds where a body breaks it, "" if nowhere.
type rule[B any] struct {
	id, says string
	broken   func(*B) (pointer string)
}

var headerRules = []rule[Header]{
	{
		"own_parent", "A span is not its own parent.",
		func(h *Header) string {
			return pointerIf(h.Correlation.SpanID != "" && h.Correlation.ParentSpanID == h.Correlation.SpanID, "/correlation/parent_span_id")
		},
	},
	{
		"own_parent_event", "An event is not its own parent.",
		func(h *Header) string {
			return pointerIf(h.EventID != "" && h.Correlation.ParentEventID == h.EventID, "/correlation/parent_event_id")
		},
	},
}

var actionRules = []rule[Action]{
	{
		"action_id_of_span", "The id of an action or attempt is not that of a span or trace, which do not outlive a retry.",
		func(a *Action) string {
			switch {
			case a.isOfTrace(a.ActionID):
				return "/action_id"
			case a.isOfTrace(a.AttemptID):
				return "/attempt_id"
			default:
				return ""
			}
		},
	},
	{
		"idempotency_token_not_derived", "The idempotency token is the one that is derived from the action id.",
		func(a *Action) string {
			return pointerIf(a.IdempotencyToken != IdempotencyToken(a.ActionID), "/idempotency_token")
		},
	},
	{
		"attempt_ids_incomplete", "The ids of all attempts stand in the order of the attempts, this one's at its number.",
		func(a *Action) string {
			own := int(a.Attempt) - 1
			return pointerIf(a.AttemptIDs != nil && a.Attempt > 0 && (own >= len(a.AttemptIDs) || a.AttemptIDs[own] != a.AttemptID), "/attempt_ids")
		},
	},
	{
		"linked_to_itself", "A delegated job has a span of its own, other than the one that planned it.",
		func(a *Action) string {
			return pointerIf(a.LinkedSpan != nil && a.LinkedSpan.SpanID == a.Correlation.SpanID, "/linked_span/span_id")
		},
	},
}

// isOfTrace reports whether an id is one of those that tracing gave.
func (a *Action) isOfTrace(id string) bool {
	c := &a.Correlation
	return id != "" && (id == c.SpanID || id == c.ParentSpanID || id == c.TraceID || a.LinkedSpan != nil && id == a.LinkedSpan.SpanID)
}

var approvalRules = []rule[Approval]{
	{
		"expired_when_requested", "An approval expires after it is requested or decided.",
		func(a *Approval) string {
			return pointerIf(!a.ExpiresAt.IsZero() && !a.ExpiresAt.Std().After(a.OccurredAt.Std()), "/expires_at")
		},
	},
}

var decisionRules = []rule[Decision]{
	{
		"source_without_field", "What has a source is one of the fields.",
		func(d *Decision) string {
			var strangers []string
			for name := range d.FieldProvenance {
				if _, found := d.Fields[name]; !found {
					strangers = append(strangers, name)
				}
			}
			if strangers == nil {
				return ""
			}
			return "/field_provenance/" + shownName(slices.Min(strangers))
		},
	},
}

var contextRules = []rule[Context]{
	{
		"entry_id_twice", "An entry id names one entry of a context.",
		func(c *Context) string {
			i := secondOf(c.Entries, func(e *ContextEntry) string { return e.EntryID })
			return pointerIf(i >= 0, "/entries/"+strconv.Itoa(i)+"/entry_id")
		},
	},
	{
		"derived_from_itself", "An entry is not derived from itself.",
		func(c *Context) string {
			i := slices.IndexFunc(c.Entries, func(e ContextEntry) bool { return slices.Contains(e.DerivedFrom, e.EntryID) })
			return pointerIf(i >= 0, "/entries/"+strconv.Itoa(i)+"/derived_from")
		},
	},
	{
		"claim_id_twice", "A claim id names one claim of a context.",
		func(c *Context) string {
			i := secondOf(c.Claims, func(c *Claim) string { return c.ClaimID })
			return pointerIf(i >= 0, "/claims/"+strconv.Itoa(i)+"/claim_id")
		},
	},
}

// Check returns a *RuleError if the body breaks one of Rules.
func (a *Action) Check() error { return check(a, &a.Header, actionRules) }

// Check returns a *RuleError if the body breaks one of Rules.
func (a *Approval) Check() error { return check(a, &a.Header, approvalRules) }

// Check returns a *RuleError if the body breaks one of Rules.
func (d *Decision) Check() error { return check(d, &d.Header, decisionRules) }

// Check returns a *RuleError if the body breaks one of Rules.
func (c *Context) Check() error { return check(c, &c.Header, contextRules) }

func check[B any](body *B, h *Header, rules []rule[B]) error {
	if err := firstBroken(h, headerRules); err != nil {
		return err
	}
	return firstBroken(body, rules)
}

func firstBroken[B any](body *B, rules []rule[B]) error {
	for _, r := range rules {
		if pointer := r.broken(body); pointer != "" {
			return &RuleError{r.id, pointer}
		}
	}
	return nil
}

// Rules returns the rules that the Check methods of bodies hold, in their order.
func Rules() []Rule {
	return slices.Concat(
		published(headerRules, KindAction, KindApproval, KindDecision, KindContext),
		published(actionRules, KindAction), published(approvalRules, KindApproval),
		published(decisionRules, KindDecision), published(contextRules, KindContext),
		published(auditEventRules, KindAuditEvent),
	)
}

func published[B any](rules []rule[B], kinds ...Kind) (all []Rule) {
	for _, r := range rules {
		all = append(all, Rule{r.id, kinds, r.says})
	}
	return all
}

func pointerIf(broken bool, pointer string) string {
	if !broken {
		return ""
	}
	return pointer
}

// secondOf returns the index of the first element whose id an earlier one has, or
// -1.
func secondOf[E any](elements []E, id func(*E) string) int {
	seen := make(map[string]bool, len(elements))
	for i := range elements {
		if own := id(&elements[i]); seen[own] {
			return i
		} else {
			seen[own] = true
		}
	}
	return -1
}

// shownName returns a name that an application gave if it looks like that of a
// member; any other may be content.
func shownName(name string) string {
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '.' && c != '[' && c != ']' {
			return "?"
		}
	}
	const longest = 64
	if len(name) > longest {
		return "?"
	}
	return name
}
