// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json/v2"
	"net"
	"strconv"
	"strings"

	"github.com/readtrail/readtrail/internal/action"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// observeAction says what an entry tells of an action, or of an approval of one.
func (o *observation) observeAction(e *journal.Entry) error {
	about, err := action.Read(e)
	if err != nil {
		return err
	}
	var more struct {
		ConflictsWith string `json:"conflicts_with"`
	}
	if err := json.Unmarshal(e.Body, &more); err != nil {
		return err
	}
	o.about = about
	o.actionIDs = []string{about.ActionID()}
	if about.Approval != nil {
		o.describeApproval(about.Approval)
	} else {
		o.describeAction(about.Action)
	}
	o.what += conflict(more.ConflictsWith)
	return nil
}

// conflict says that another entry had the id first.
func conflict(with string) string {
	if with == "" {
		return ""
	}
	return " (conflicts with " + with + ")"
}

func (o *observation) describeAction(a *record.Action) {
	t := &a.Target
	what := []string{a.ActionID}
	switch {
	case a.State == record.ActionPlanned:
		what = append(what, whatIsDone(a), "credential "+t.CredentialRef)
	case a.AttemptID != "":
		what = append(what, "attempt "+strconv.FormatInt(a.Attempt, 10)+" "+a.AttemptID)
	}
	if a.ApprovalID != "" {
		what = append(what, "approval "+a.ApprovalID)
		o.approvalIDs = []string{a.ApprovalID}
	}
	if r := a.Outcome; r != nil && r.BytesSent != nil {
		what = append(what, count(int(*r.BytesSent), "byte")+" sent")
	}
	o.what = strings.Join(what, ", ")
	if a.State.IsOutcome() || a.State == record.ActionRevoked {
		o.status = whatCame(a)
	}
	o.host = t.Host
	o.system = systemOf(t.Protocol, t.Host, t.Port, t.Account)
	o.request = shortDigest(a.Requested.ArgumentsDigest)
	o.capture = t.Redaction
	o.seenBy = toldFrom(a.Actor.Kind+" "+a.Actor.Identity, &a.ObservedBy)
}

// whatIsDone says what was asked for and what that was resolved to (requirement D6).
func whatIsDone(a *record.Action) string {
	t := &a.Target
	done := strings.TrimSpace(t.Method + " " + t.PathTemplate)
	if t.CommandTemplate != "" {
		done = t.CommandTemplate
	} else if t.CommandDigest != "" {
		done = "command " + shortDigest(t.CommandDigest)
	}
	if a.Requested.ToolID == "" {
		return done
	}
	return a.Requested.ToolID + " as " + done
}

// whatCame says how an attempt ended, and what of that is known of the other side.
func whatCame(a *record.Action) string {
	status := []string{string(a.State)}
	if r := a.Outcome; r != nil {
		if r.HTTPStatus != 0 {
			status = append(status, strconv.FormatInt(r.HTTPStatus, 10))
		}
		if r.ExitStatus != nil {
			status = append(status, "exit "+strconv.FormatInt(*r.ExitStatus, 10))
		}
		if r.Error != "" {
			status = append(status, r.Error)
		}
		status = append(status, "effect "+string(r.RemoteEffect))
	}
	return strings.Join(status, ", ")
}

func systemOf(protocol, host string, port int64, account string) string {
	at := net.JoinHostPort(host, strconv.FormatInt(port, 10))
	if account != "" {
		at = account + "@" + at
	}
	return strings.TrimSpace(protocol + " " + at)
}

// toldFrom says who did something and on whose word that stands, with what they
// claimed where the collector kept its own context (requirement D5).
func toldFrom(who string, by *record.ObservedBy) string {
	told := strings.TrimSpace(string(by.Signal) + " " + by.UpstreamContextSource)
	if c := by.ReceivedContext; c != nil && c.TraceID != "" {
		told += ", claimed trace " + c.TraceID
	}
	if who != "" {
		told += ", by " + who
	}
	return told
}

func (o *observation) describeApproval(p *record.Approval) {
	what := []string{p.ApprovalID + " for " + p.Binds.ActionID}
	if p.RequiredRole != "" && p.Reviewer == nil {
		what = append(what, "role "+p.RequiredRole)
	}
	if r := p.Reviewer; r != nil {
		what = append(what, "by "+r.Identity+" as "+r.Role)
	}
	if p.EffectSummary != "" {
		what = append(what, p.EffectSummary)
	}
	if !p.ExpiresAt.IsZero() {
		what = append(what, "until "+milliseconds(p.ExpiresAt))
	}
	o.what = strings.Join(what, ", ")
	o.approvalIDs = []string{p.ApprovalID}
	switch p.Kind {
	case record.ApprovalDecided:
		o.status = string(p.Decision)
	case record.ApprovalRevoked:
		o.status = string(p.Kind)
	}
	t := &p.Binds.Target
	o.host = t.Host
	o.system = systemOf(t.Protocol, t.Host, t.Port, t.Account)
	o.request = shortDigest(p.Binds.ArgumentsDigest)
	o.seenBy = toldFrom("", &p.ObservedBy)
}

// observeDecision says what was decided and what of it nobody could confirm.
func (o *observation) observeDecision(e *journal.Entry) error {
	var d struct {
		record.Decision `json:",inline"`
		ConflictsWith   string `json:"conflicts_with"`
	}
	if err := json.Unmarshal(e.Body, &d); err != nil {
		return err
	}
	o.decisionID, o.actionIDs = d.DecisionID, d.ActionIDs
	if d.ApprovalID != "" {
		o.approvalIDs = []string{d.ApprovalID}
	}
	what := []string{strings.TrimSpace(d.DecisionID + " " + d.Outcome.Name), count(len(d.Fields), "field")}
	if d.ApprovalID != "" {
		what = append(what, "approval "+d.ApprovalID)
	}
	if n := len(d.Unmet); n > 0 {
		what = append(what, strconv.Itoa(n)+" unmet")
		o.status = d.Unmet[0].Code
		if n > 1 {
			o.status += ", ..."
		}
	}
	o.what = strings.Join(what, ", ") + conflict(d.ConflictsWith)
	o.seenBy = toldFrom("", &d.ObservedBy)
	return nil
}

// observeContext says what went into a call of a model.
func (o *observation) observeContext(e *journal.Entry) error {
	var c struct {
		record.Context `json:",inline"`
		ConflictsWith  string `json:"conflicts_with"`
	}
	if err := json.Unmarshal(e.Body, &c); err != nil {
		return err
	}
	o.what = c.ContextID + ", " + count(len(c.Entries), "entry") + conflict(c.ConflictsWith)
	o.system = strings.TrimSpace(c.Model.Provider + " " + c.Model.Request)
	o.request = shortDigest(c.ContextDigest)
	o.seenBy = toldFrom("", &c.ObservedBy)
	return nil
}

// observeAuditEvent says what was asked for and what policy, reviewer and execution
// made of it.
func (o *observation) observeAuditEvent(e *journal.Entry) error {
	var a record.AuditEvent
	if err := json.Unmarshal(e.Body, &a); err != nil {
		return err
	}
	o.decisionID, o.actionIDs = a.Policy.DecisionID, a.ActionIDs
	o.what = strings.TrimSpace(a.Requested.Action+" on "+a.Requested.Resource) + ", decision " + a.Policy.DecisionID
	status := []string{string(a.Policy.Decision)}
	if a.Approval != nil {
		o.approvalIDs = []string{a.Approval.RequestID}
		status = append(status, string(a.Approval.Decision))
	}
	o.status = strings.Join(append(status, string(a.Execution.Status)), ", ")
	o.agent = a.Actors.Agent
	return nil
}
