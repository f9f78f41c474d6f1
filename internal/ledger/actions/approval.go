// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package actions

import "github.com/readtrail/readtrail/record"

// approval allows a decision and a revocation of what was requested, for the same.
func (j *judge) approval(p *record.Approval) *Refusal {
	if p.Kind == record.ApprovalRequested {
		return nil
	}
	request := j.permit(requestOf(p.ApprovalID))
	if request == nil {
		return refuse(CodeNotBound, "/approval_id", nil)
	}
	if pointer := request.Facts.approval.Binds.Differs(&p.Binds); pointer != "" {
		return refuse(CodeNotBound, "/binds"+pointer, request)
	}
	return nil
}

// approved allows a sending if it needs no approval, or has one that is about this
// action and nothing else, was given, was not revoked, and did not expire by the
// journal's clock (requirement D7). The approval that a sending names comes before
// that of the plan: after an expiry a new decision is asked for. Without either, the
// newest that was requested for the action counts.
func (j *judge) approved(a, plan *record.Action) *Refusal {
	const pointer = "/approval_id"
	id := a.ApprovalID
	if id == "" {
		id = plan.ApprovalID
	}
	if id == "" {
		asked := j.named(approvalFor(a.ActionID))
		if asked == nil {
			return nil
		}
		id = asked.Facts.approval.ApprovalID
	}
	request := j.permit(requestOf(id))
	if request == nil {
		return refuse(CodeNotBound, pointer, nil)
	}
	if r := j.named(withdrawalOf(id)); r != nil {
		return refuse(CodeWithdrawn, pointer, r)
	}
	if differing := isNotBoundBy(a, request.Facts.approval); differing != "" {
		return refuse(CodeNotBound, differing, request)
	}
	decision := j.permit(decisionOf(id))
	if decision == nil {
		return refuse(CodeNotBound, pointer, request)
	}
	if decision.Facts.approval.Decision != record.Approved {
		return refuse(CodeNotBound, pointer, decision)
	}
	if differing := isNotBoundBy(a, decision.Facts.approval); differing != "" {
		return refuse(CodeNotBound, differing, decision)
	}
	for _, k := range []*Known{request, decision} {
		if end := k.Facts.approval.ExpiresAt; !end.IsZero() && !j.now.Before(end.Std()) {
			r := refuse(CodeNotBound, pointer, k)
			r.Reason = ReasonExpired
			return r
		}
	}
	return nil
}
