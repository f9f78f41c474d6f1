// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package actions

import (
	"slices"
	"strconv"
	"strings"

	"github.com/readtrail/readtrail/record"
)

// differsFromPlan returns the pointer to what of an attempt is not as planned, "" if
// all is. Who executes it is for an approval to bind: a worker may do what another
// process planned (requirement D4). Nothing may be sent that the plan does not have, and
// what was approved is the plan (requirement D7); a header may be left out.
func differsFromPlan(a, plan *record.Action) string {
	if pointer := differsFromSent(a, plan); pointer != "" {
		return pointer
	}
	switch is, was := &a.Target, &plan.Target; {
	case is.BodyDigest != was.BodyDigest:
		return "/action/body_digest"
	case is.Redaction != was.Redaction:
		return "/action/redaction"
	}
	for i, name := range a.Target.HeaderNames {
		if !slices.ContainsFunc(plan.Target.HeaderNames, func(planned string) bool { return strings.EqualFold(name, planned) }) {
			return "/action/header_names/" + strconv.Itoa(i)
		}
	}
	return ""
}

// differsFromSent returns the pointer to what of an outcome is not as sent, "" if it is
// about the same target, credential and arguments. Another process may write it.
func differsFromSent(a, sent *record.Action) string {
	is, was := record.BindsOf(a), record.BindsOf(sent)
	was.ActorIdentity = is.ActorIdentity
	return ofAction(was.Differs(&is))
}

// isNotBoundBy returns the pointer to what of an attempt an approval is not about, ""
// if it is about all of it.
func isNotBoundBy(a *record.Action, p *record.Approval) string {
	is := record.BindsOf(a)
	return ofAction(p.Binds.Differs(&is))
}

// ofAction returns where in an action that stands which has a pointer in what an
// approval binds.
func ofAction(pointer string) string {
	switch pointer {
	case "/credential_ref":
		return "/action/credential_ref"
	case "/arguments_digest":
		return "/requested/arguments_digest"
	case "/actor_identity":
		return "/actor/identity"
	}
	if member, found := strings.CutPrefix(pointer, "/target"); found {
		return "/action" + member
	}
	return pointer
}
