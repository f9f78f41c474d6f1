// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package actions

import (
	"strings"

	"github.com/readtrail/readtrail/record"
)

// differsFromPlan returns the pointer to what of an attempt is not as planned, "" if
// all is. Who executes it is for an approval to bind: a worker may do what another
// process planned (requirement D4). The digest of a body may be known later than the
// plan; once planned, it is fixed.
func differsFromPlan(a, plan *record.Action) string {
	is, was := record.BindsOf(a), record.BindsOf(plan)
	was.ActorIdentity = is.ActorIdentity
	pointer := was.Differs(&is)
	if pointer == "" {
		pointer = is.Differs(&was) // what only one of them names
	}
	if pointer == "" && plan.Target.BodyDigest != "" && plan.Target.BodyDigest != a.Target.BodyDigest {
		return "/action/body_digest"
	}
	return ofAction(pointer)
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
